"""An ATen graph of torch.compile becomes steps: Programs of the device, and between them what has to run by itself."""

import operator
from dataclasses import dataclass, field

import torch
from torch import Tensor, fx

from . import _C
from ._steps import Alias, Alone, Function, Launch

# FX nodes in one Program: bounds what one compilation takes. Longer graphs become several Programs.
NODES_IN_A_PROGRAM = 4000


def is_lowered(op) -> bool:
    """Whether a Program can hold this operator."""
    return isinstance(op, torch._ops.OpOverload) and _C.is_lowered(op._schema.name, op._schema.overload_name)


def is_neuron(value) -> bool:
    return isinstance(value, Tensor) and value.device.type == "neuron"


def is_host_number(value) -> bool:
    return isinstance(value, Tensor) and value.device.type == "cpu" and value.dim() == 0


def is_nothing(value) -> bool:
    """None, or what PyTorch's shape functions say of results that only other devices have."""
    return value is None or (isinstance(value, Tensor) and value.device.type == "meta")


def tensors(value) -> list:
    """The tensors of a node's result, None included and numbers left out: as an ATen schema counts its results."""
    items = value if isinstance(value, (tuple, list)) else [value]
    return [item for item in items if item is None or isinstance(item, Tensor)]


def owner(node: fx.Node) -> fx.Node:
    """The node that computes what `node` takes an item of."""
    while node.target is operator.getitem:
        node = node.args[0]
    return node


@dataclass
class Part:
    """Nodes that become one Program, and the aten.copy_ into placeholders that end it."""

    nodes: list[fx.Node] = field(default_factory=list)
    writes: list[fx.Node] = field(default_factory=list)


class NotLoweredAfterAll(Exception):
    """A node has no lowering for its arguments: the graph is cut at it."""


class Compiler:
    """Makes the steps of one graph whose nodes say in meta["val"] what they compute."""

    def __init__(self, gm: fx.GraphModule, name: str):
        self.gm, self.name = gm, name
        self.values = {node: self._value(node) for node in gm.graph.nodes if node.op != "output"}
        self.apart: dict[fx.Node, str] = {}  # nodes that run by themselves, and why
        self.programs: list[_C.CompiledProgram] = []
        self.device = next(
            (t.device.index or 0 for v in self.values.values() for t in tensors(v) if is_neuron(t)),
            0,
        )
        self._metas: dict[fx.Node, object] = {}

    def compile(self) -> Function:
        while True:
            try:
                return self._compile(self.cut())
            except NotLoweredAfterAll:
                self.programs.clear()

    def _value(self, node: fx.Node):
        return operator.attrgetter(node.target)(self.gm) if node.op == "get_attr" else node.meta.get("val")

    # ---- cutting ----

    def cut(self) -> list[Part | fx.Node]:
        """Programs and nodes that run by themselves, in an order that can be executed. A Program waits only for what
        it needs: one operator without a lowering makes two Programs of a graph, not more."""
        level: dict[fx.Node, int] = {}
        parts: dict[int, Part] = {}
        apart: dict[int, list[fx.Node]] = {}
        writes, inside = [], set()
        for node in self.gm.graph.nodes:
            at = max((level[source] for source in node.all_input_nodes if source in level), default=0)
            if node.op == "call_function" and self.is_write(node):
                writes.append(node)
                continue
            if node.op == "call_function" and node.target is not operator.getitem and tensors(self.values[node]):
                if self._runs_apart(node):
                    at = max([at, *(level[s] + 1 for s in node.all_input_nodes if owner(s) in inside)])
                    apart.setdefault(at, []).append(node)
                else:
                    while len(parts.setdefault(at, Part()).nodes) >= NODES_IN_A_PROGRAM:
                        at += 1
                    parts[at].nodes.append(node)
                    inside.add(node)
            level[node] = at
        last = max(level.values(), default=0)
        if writes:
            parts.setdefault(last, Part()).writes = writes
        steps: list[Part | fx.Node] = []
        for at in range(last + 1):
            steps += apart.get(at, [])
            steps += [parts[at]] if at in parts else []
        return steps

    def is_write(self, node: fx.Node) -> bool:
        if node.target is not torch.ops.aten.copy_.default:
            return False
        target, value = node.args[:2]
        return target.op == "placeholder" and is_neuron(self.values[target]) and is_neuron(self.values[value])

    def _runs_apart(self, node: fx.Node) -> bool:
        if node not in self.apart and (why := self._reason_apart(node)):
            self.apart[node] = why
        return node in self.apart

    def _reason_apart(self, node: fx.Node) -> str:
        if not is_lowered(node.target):
            return "no lowering"
        results = tensors(self.values[node])
        if not any(map(is_neuron, results)) or not all(is_neuron(r) or is_nothing(r) for r in results):
            return "its results are on the host"
        operands = [t for source in node.all_input_nodes for t in tensors(self.values[source])]
        if not all(is_neuron(t) or is_host_number(t) or is_nothing(t) for t in operands):
            return "an operand is on the host"
        return ""

    # ---- building ----

    def _compile(self, steps: list[Part | fx.Node]) -> Function:
        place: dict[fx.Node, int] = {}
        for at, step in enumerate(steps):
            place.update(dict.fromkeys([*step.nodes, *step.writes] if isinstance(step, Part) else [step], at))
        count = sum(isinstance(step, Part) for step in steps)
        run = []
        for at, step in enumerate(steps):
            if not isinstance(step, Part):
                run.append(Alone(step))
                continue
            name = self.name if count == 1 else f"{self.name}.{len(self.programs)}"
            inside = set(step.nodes)
            outputs = [n for n in self.values if owner(n) in inside and self._leaves(n, at, place)]
            launch = ProgramBuilder(self, name, inside).build(step, outputs)
            self.programs.append(launch.program)
            run.append(launch)
        return Function(self.gm, self._constants(), run, self._written())

    def _leaves(self, node: fx.Node, at: int, place: dict[fx.Node, int]) -> bool:
        """Whether something after step `at` reads what the node computes."""
        if not isinstance(self.values[node], Tensor) or is_nothing(self.values[node]):
            return False
        return any(
            user.op == "output" or (user.target is not operator.getitem and place.get(user, at) != at)
            for user in node.users
        )

    def _constants(self) -> dict[fx.Node, object]:
        constants = {}
        for node, value in self.values.items():
            if node.op == "get_attr" or isinstance(value, (int, float, bool)):
                constants[node] = value
            elif isinstance(value, Tensor) and is_nothing(value):
                constants[node] = self.meta(node)
        return constants

    def _written(self) -> list[tuple[fx.Node, fx.Node]]:
        return [(n, n.args[0]) for n in self.values if n.op == "call_function" and self.is_write(n)]

    def meta(self, node: fx.Node):
        """The meta tensors that name a node's results in a GraphBuilder."""
        if node not in self._metas:
            if node.target is operator.getitem:
                self._metas[node] = self.meta(node.args[0])[node.args[1]]
            else:
                self._metas[node] = as_meta(self.values[node])
        return self._metas[node]


def as_meta(value):
    if isinstance(value, (tuple, list)):
        return [as_meta(item) for item in value]
    if not isinstance(value, Tensor):
        return value
    return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")


class ProgramBuilder:
    """One Program: its nodes in order, then what leaves it."""

    def __init__(self, compiler: Compiler, name: str, inside: set[fx.Node]):
        self.compiler, self.values = compiler, compiler.values
        self.inside = inside
        self.inputs: dict[fx.Node, None] = {}
        self.graph = _C.GraphBuilder(name, compiler.device)

    def build(self, part: Part, outputs: list[fx.Node]) -> Launch:
        for node in part.nodes:
            self._add(node)
        for write in part.writes:
            self._read(write.args[0])
            self._read(write.args[1])
        written = {write.args[0] for write in part.writes}
        stored, aliases = self._place_outputs(outputs, written)
        for write in part.writes:
            self.graph.write_input(self.compiler.meta(write.args[0]), self.compiler.meta(write.args[1]))
        return Launch(self.graph.compile(), list(self.inputs), stored, aliases)

    def _add(self, node: fx.Node) -> None:
        args = fx.map_arg(node.args, self._argument)
        kwargs = fx.map_arg(node.kwargs, self._argument)
        values, metas = self.values[node], self.compiler.meta(node)
        if not isinstance(metas, list):
            values, metas = [values], [metas]
        results = tensors([None if is_nothing(v) else m for v, m in zip(values, metas, strict=True)])
        schema = node.target._schema
        why = self.graph.call(schema.name, schema.overload_name, tuple(args), dict(kwargs), results)
        if why is not None:
            self.compiler.apart[node] = why
            raise NotLoweredAfterAll

    def _argument(self, node: fx.Node):
        value = self.values[node]
        if isinstance(value, (int, float, bool)):
            return value
        if is_nothing(value):
            return None
        self._read(node)
        return self.compiler.meta(node)

    def _read(self, node: fx.Node) -> None:
        if owner(node) in self.inside or node in self.inputs:
            return
        self.inputs[node] = None
        self.graph.input(self.compiler.meta(node), is_host_number(self.values[node]))

    def _place_outputs(self, outputs: list[fx.Node], written: set[fx.Node]) -> tuple[list[fx.Node], list[Alias]]:
        """Values that share memory in PyTorch share it here. What looks at an input's memory is a view of the input."""
        sources = {storage(self.values[n]): n for n in self.inputs if is_neuron(self.values[n]) and n not in written}
        groups: dict[int, list[fx.Node]] = {}
        aliases = []
        for node in outputs:
            value, source = self.values[node], sources.get(storage(self.values[node]))
            if source is not None and value.dtype == self.values[source].dtype:
                aliases.append(Alias(node, source, value, self.values[source]))
            else:
                groups.setdefault(storage(value), []).append(node)
        stored = []
        for nodes in groups.values():
            whole = next((n for n in nodes if is_whole(self.values[n])), None)
            memory = self.graph.storage(self.values[nodes[0]].untyped_storage().nbytes())
            for node in nodes:
                computed = whole is None or node is whole
                self.graph.output(self.compiler.meta(node), memory, self.values[node].storage_offset(), computed)
                stored.append(node)
        return stored, aliases


def storage(value: Tensor) -> int:
    return value.untyped_storage()._cdata


def is_whole(value: Tensor) -> bool:
    """Whether it has all elements of its storage."""
    size = value.numel() * value.element_size()
    dense = torch._prims_common.is_non_overlapping_and_dense_or_false(value)
    return dense and value.storage_offset() == 0 and size == value.untyped_storage().nbytes()


class Specialised:
    """A graph with symbolic sizes. The device has no such Programs: every set of sizes gets its own, when it comes."""

    def __init__(self, gm: fx.GraphModule, name: str):
        self._boxed_call = True
        self.gm, self.name = gm, name
        self._functions: dict[tuple, Function] = {}

    def __call__(self, inputs: list) -> list:
        key = tuple(_geometry(v) for v in inputs)
        if key not in self._functions:
            self._functions[key] = self._specialise(inputs, f"{self.name}_{len(self._functions)}")
        return self._functions[key](inputs)

    def _specialise(self, inputs: list, name: str) -> Function:
        from torch._subclasses.fake_tensor import FakeTensorMode

        class Shapes(fx.Interpreter):
            def run_node(self, node):
                value = super().run_node(node)
                node.meta["val"] = value
                return value

        gm = fx.GraphModule(self.gm, fx.Graph())
        gm.graph.output(gm.graph.graph_copy(self.gm.graph, {}))
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            Shapes(gm).run(*[mode.from_tensor(v) if isinstance(v, Tensor) else v for v in inputs])
        return Compiler(gm, name).compile()


def _geometry(value):
    return (value.size(), value.stride(), value.dtype, value.device) if isinstance(value, Tensor) else value
