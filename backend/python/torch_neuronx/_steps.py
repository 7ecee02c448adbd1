"""The steps of a compiled graph at run time."""

import operator

from torch import Tensor, empty, fx


class Alias:
    """A value that is a view of an input of its Program."""

    def __init__(self, node: fx.Node, source: fx.Node, view: Tensor, of: Tensor):
        self.node, self.source = node, source
        self.size, self.stride = view.size(), view.stride()
        self.offset = view.storage_offset() - of.storage_offset()

    def run(self, env: dict) -> None:
        source = env[self.source]
        env[self.node] = source.as_strided(self.size, self.stride, source.storage_offset() + self.offset)


class Launch:
    """One Program."""

    def __init__(self, program, inputs: list[fx.Node], outputs: list[fx.Node], aliases: list[Alias]):
        self.program, self.reads, self.outputs, self.aliases = program, inputs, outputs, aliases

    def run(self, env: dict) -> None:
        results = self.program.run([env[node] for node in self.reads])
        env.update(zip(self.outputs, results, strict=True))
        for alias in self.aliases:
            alias.run(env)


class Alone:
    """One operator that the Programs leave out, as eager PyTorch runs it."""

    def __init__(self, node: fx.Node):
        self.node, self.reads = node, node.all_input_nodes

    def run(self, env: dict) -> None:
        args = fx.map_arg(self.node.args, env.__getitem__)
        kwargs = fx.map_arg(self.node.kwargs, env.__getitem__)
        env[self.node] = self.node.target(*args, **kwargs)


class Item:
    """An item of what an operator that ran alone has returned."""

    def __init__(self, node: fx.Node):
        self.node, self.reads = node, node.all_input_nodes

    def run(self, env: dict) -> None:
        value, promised = env[self.node.args[0]][self.node.args[1]], self.node.meta["val"]
        if value is None and isinstance(promised, Tensor):  # undefined, and yet saved for a backward that ignores it
            value = empty(promised.shape, dtype=promised.dtype, device="neuron")
        env[self.node] = value


class Function:
    """Runs the steps. Takes a list, which it empties, as AOTAutograd's boxed functions do.

    `constants`: values that are known; `written`: aten.copy_ nodes with the placeholder that they write.
    """

    def __init__(self, gm: fx.GraphModule, constants: dict, steps: list, written: list[tuple[fx.Node, fx.Node]]):
        self._boxed_call = True
        nodes = list(gm.graph.nodes)
        self.placeholders = [n for n in nodes if n.op == "placeholder"]
        self.result = nodes[-1].args[0]
        self.constants, self.written = constants, written
        self.steps = []
        for step in steps:
            self.steps.append(step)
            if isinstance(step, Alone):
                self.steps += [Item(u) for u in step.node.users if u.target is operator.getitem]
        last = {node: at for at, step in enumerate(self.steps) for node in step.reads}
        kept = {*nodes[-1].all_input_nodes, *(target for _, target in written)}
        self.dead: list[list[fx.Node]] = [[] for _ in self.steps]
        for node, at in last.items():
            if node not in kept:
                self.dead[at].append(node)

    def __call__(self, inputs: list) -> list:
        env = dict(self.constants)
        env.update(zip(self.placeholders, inputs, strict=True))
        inputs.clear()
        for step, dead in zip(self.steps, self.dead, strict=True):
            step.run(env)
            for node in dead:
                env.pop(node, None)
        env.update((node, env[target]) for node, target in self.written)
        return list(fx.map_arg(self.result, env.__getitem__))
