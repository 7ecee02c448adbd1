"""torch.compile(backend="neuron"): Dynamo -> AOTAutograd -> one walk over the graph (_graph.py) -> Programs."""

import functools
import itertools
import sys
import time
import warnings

import torch

from . import _graph

_OPTIONS = ("model_name", "fallback_execution")
_graphs = itertools.count()
_metrics: list[dict] = []


def neuron(gm: torch.fx.GraphModule, example_inputs, *, mode: str | None = None, options: dict | None = None):
    """The Dynamo backend."""
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    if mode not in (None, "default"):
        warnings.warn(f"torch.compile: backend 'neuron' has only the mode 'default'; {mode!r} is ignored", stacklevel=2)
    options = dict(options or {})
    for unknown in sorted(set(options) - set(_OPTIONS)):
        warnings.warn(f"torch.compile: backend 'neuron' does not know the option {unknown!r}", stacklevel=2)
    number, model = next(_graphs), options.get("model_name", "")

    def compiler(kind: str):
        return functools.partial(_compile, number=number, kind=kind, model=model)

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions=_decompositions(),
        keep_inference_input_mutations=True,
    )
    return backend(gm, example_inputs)


def neuron_or_inductor(gm: torch.fx.GraphModule, example_inputs, *, mode=None, options=None):
    """The backend of a torch.compile that names none: that of the device that the graph's tensors are on."""
    if _is_on_neuron(gm, example_inputs):
        return neuron(gm, example_inputs, mode=mode, options=options)
    return torch._TorchCompileInductorWrapper(mode, options, None)(gm, example_inputs)


def _is_on_neuron(gm: torch.fx.GraphModule, example_inputs) -> bool:
    tensors = itertools.chain(example_inputs, gm.parameters(), gm.buffers())
    if any(isinstance(t, torch.Tensor) and t.device.type == "neuron" for t in tensors):
        return True
    values = (node.meta.get("example_value") for node in gm.graph.nodes)
    return any(isinstance(v, torch.Tensor) and v.device.type == "neuron" for v in values)


def make_default(registry) -> None:
    """`registry` is torch._dynamo.backends.registry. What the user has chosen stays."""
    if registry.get_default_backend() == "inductor":
        registry.set_default_backend(neuron_or_inductor)


def _compile(gm: torch.fx.GraphModule, example_inputs, *, number: int, kind: str, model: str):
    started = time.perf_counter()
    name = f"{model or 'graph'}_{number}_{kind}"
    if _is_symbolic(gm):
        return _graph.Specialised(gm, name)
    compiler = _graph.Compiler(gm, name)
    function = compiler.compile()
    _note(gm, kind, len(compiler.programs))
    _metrics.append(
        {
            "graph_id": number,
            "graph_name": name,
            "model_name": model,
            "has_collectives": False,
            "graph_node_count": len(gm.graph.nodes),
            "programs": len(compiler.programs),
            "run_apart": sorted({str(node.target) for node in compiler.apart}),
            "timestamp": time.time(),
            "compile_us": (time.perf_counter() - started) * 1e6,
        }
    )
    return function


def _note(gm: torch.fx.GraphModule, kind: str, programs: int) -> None:
    """For trnsim.recompiles(): graphs of the same Python function are the same place."""
    from torch._guards import CompileContext

    from . import _C

    compile_id = CompileContext.current_compile_id()
    where = f"compiled function {compile_id.frame_id}" if compile_id else "compiled function"
    inputs = [node for node in gm.graph.nodes if node.op == "placeholder"]
    arguments = [f"{node.name} {_described(node.meta.get('val'))}" for node in inputs]
    operators = sum(node.op == "call_function" for node in gm.graph.nodes)
    if programs:
        _C.note_program(f"{where} ({kind})", _users_line(), arguments, operators)


def _users_line() -> str:
    frame = sys._getframe()
    while frame and any(part in frame.f_code.co_filename for part in ("/torch/", "/torch_neuronx/")):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


def _described(value) -> str:
    if not isinstance(value, torch.Tensor):
        return str(value)
    return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"


def _is_symbolic(gm: torch.fx.GraphModule) -> bool:
    for node in gm.graph.nodes:
        if node.op != "placeholder":
            break
        value = node.meta.get("val")
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return True
        if isinstance(value, torch.Tensor) and any(isinstance(s, torch.SymInt) for s in value.shape):
            return True
    return False


@functools.cache
def _decompositions() -> dict:
    """PyTorch's own decompositions of what has no lowering, and the random factories in terms of the ops that eager
    calls for them, so that the numbers are the same."""
    from torch._decomp import core_aten_decompositions

    table = {op: rule for op, rule in core_aten_decompositions().items() if not _graph.is_lowered(op)}
    return table | _random_factories()


def _random_factories() -> dict:
    aten = torch.ops.aten

    def like(x, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
        return torch.empty_like(x, dtype=dtype, device=device, memory_format=memory_format or torch.preserve_format)

    def rand(size, **kwargs):
        return aten.uniform(torch.empty(size, **kwargs), 0.0, 1.0)

    def randn(size, **kwargs):
        return aten.normal_functional(torch.empty(size, **kwargs), 0.0, 1.0)

    def randint(high, size, dtype=torch.int64, **kwargs):
        return aten.random(torch.empty(size, dtype=dtype, **kwargs), 0, high)

    def randint_low(low, high, size, dtype=torch.int64, **kwargs):
        return aten.random(torch.empty(size, dtype=dtype, **kwargs), low, high)

    return {
        aten.rand.default: rand,
        aten.randn.default: randn,
        aten.rand_like.default: lambda x, **kwargs: aten.uniform(like(x, **kwargs), 0.0, 1.0),
        aten.randn_like.default: lambda x, **kwargs: aten.normal_functional(like(x, **kwargs), 0.0, 1.0),
        aten.randint.default: randint,
        aten.randint.low: randint_low,
        aten.randint_like.default: lambda x, high, **kwargs: aten.random(like(x, **kwargs), 0, high),
        aten.randint_like.low_dtype: lambda x, low, high, **kwargs: aten.random(like(x, **kwargs), low, high),
        aten.bernoulli.default: lambda p, generator=None: aten.bernoulli.Tensor(torch.empty_like(p), p),
    }


def metrics() -> list[dict]:
    return list(_metrics)


def reset_metrics() -> None:
    _metrics.clear()
