"""PyTorch's own samples of every operator (op_db), on the device against the CPU. Slow: run as a script.

    python tests/python/opinfo.py                   # forward in four dtypes, gradients in float32
    python tests/python/opinfo.py --only cumsum nn.functional.glu --verbose
    python tests/python/opinfo.py --table           # only operators that have a kernel of the device under their name
    python tests/python/opinfo.py --shard 0/2 --json out.json

Every operator has a forked child, so that one that crashes or hangs is one line. A sample that the CPU refuses is left
out. `wrong`: values, shapes or dtypes differ; `error`: only the device refuses; `host`: right, but by host fallback;
`wide`: differs where whole numbers do not fit in the 32 bits that the device carries (README).
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import torch
from torch.testing._internal import common_utils
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map

NEURON = "neuron"
DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.bool]
# As PyTorch's own test_compare_cpu for float32; bfloat16 as assert_close, which may end one rounding apart.
TOLERANCE = {torch.float32: (1e-3, 1e-3), torch.bfloat16: (1.6e-2, 1e-2)}
RANDOM = ("rand", "dropout", "bernoulli", "multinomial", "normal", "uniform", "exponential", "cauchy", "geometric")
RANDOM_NAMES = ("nn.functional.rrelu", "nn.functional.fractional_max_pool", "svd_lowrank", "pca_lowrank")
TIED = ("topk", "kthvalue", "mode")  # any of equal elements may be named
WIDE_STATISTICS = ("native_layer_norm", "native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update")
ON_HOST = ("tensor_split",)  # takes a tensor only from the host, on every device
UNDEFINED = ("empty", "new_empty", "empty_like", "empty_strided", "empty_permuted", "new_empty_strided", "resize_")


def is_random(op, sample):
    if op.name in ("log_normal", *RANDOM_NAMES) or op.name.startswith(RANDOM_NAMES):
        return True
    if "dropout_p" in sample.kwargs:
        return sample.kwargs["dropout_p"] > 0
    if op.name == "nn.functional.multi_head_attention_forward":
        return sample.args[9] > 0 and sample.kwargs.get("training", True)
    return "norm." not in op.name and "_norm" not in op.name and "normalize" not in op.name and has_random_name(op)


def has_random_name(op):
    return op.name != "norm" and any(word in op.name for word in RANDOM)


def to(device, value):
    return tree_map(lambda v: to_tensor(device, v) if isinstance(v, torch.Tensor) else move_device(device, v), value)


def to_tensor(device, t):
    moved = t.detach().to(device)
    if t.layout == torch.strided and t.numel() and (t.stride() != moved.stride() or t.storage_offset()):
        # Strides and what lies around are part of a sample.
        whole = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()).to(device)
        moved = torch.as_strided(whole, t.shape, t.stride(), t.storage_offset())
    return moved.requires_grad_(t.requires_grad)


def move_device(device, v):
    return torch.device(device) if isinstance(v, torch.device) or v == "cpu" else v


def tolerance(op, dtype):
    rtol, atol = TOLERANCE.get(
        dtype, TOLERANCE[torch.float32] if dtype.is_floating_point or dtype.is_complex else (0, 0)
    )
    for decorator in op.decorators:
        for item in getattr(decorator, "decorators", [decorator]):
            if isinstance(item, toleranceOverride) and dtype in item.d:
                rtol, atol = max(rtol, item.d[dtype].rtol), max(atol, item.d[dtype].atol)
    return rtol, atol


def stable(op, sample):
    """The CPU orders ties of long vectors as its vector instructions do; the device keeps their order."""
    if op.name in ("sort", "argsort") and not sample.args:
        sample.kwargs = {"stable": True} | sample.kwargs
    return sample


def run(op, sample, device, gradients):
    """The results, and with `gradients` those of every input that takes one."""
    input, args, kwargs = to(device, (sample.input, sample.args, sample.kwargs))
    if op.name in ON_HOST:
        args, kwargs = sample.args, sample.kwargs
    with torch.device(device):
        result = op(input, *args, **kwargs)
    if not gradients:
        return result
    result = sample.output_process_fn_grad(result)
    outputs = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor) and t.requires_grad]
    inputs = [t for t in tree_leaves((input, args, kwargs)) if isinstance(t, torch.Tensor) and t.requires_grad]
    generator = torch.Generator().manual_seed(1)
    weights = [torch.randn(t.shape, generator=generator).to(t.dtype).to(device) for t in outputs]
    if not outputs or not inputs:
        return []
    return torch.autograd.grad(outputs, inputs, weights, allow_unused=True)


def exact(op, sample, gradients):
    """The CPU's results from the same sample in a wider dtype: what is near to these is right, too."""

    wider = {torch.bfloat16: torch.float32, torch.float32: torch.float64}

    def wide(v):
        if isinstance(v, torch.Tensor) and v.dtype in wider:
            return v.detach().to(wider[v.dtype]).requires_grad_(v.requires_grad)
        return wider.get(v, v) if isinstance(v, torch.dtype) else v

    sample.input, sample.args, sample.kwargs = tree_map(wide, (sample.input, sample.args, sample.kwargs))
    return run(op, sample, "cpu", gradients)


def difference(op, got, want, compare_values, second=None):
    got, want = tree_leaves(got), tree_leaves(want)
    if op.name in TIED:
        got, want = got[:1], want[:1]
    second = tree_leaves(second) if second is not None else [None] * len(want)
    if len(got) != len(want):
        return f"{len(got)} results instead of {len(want)}"
    for g, w, other in zip(got, want, second):
        if not isinstance(w, torch.Tensor):
            if type(g) is not type(w) or (compare_values and g != w and not isinstance(w, torch.device)):
                return f"{g} instead of {w}"
            continue
        if g.device.type != NEURON and w.dim() + g.dim() > 0:
            return f"a result on {g.device}"
        if op.name in WIDE_STATISTICS:  # which stay float32 beside bfloat16, as on other accelerators
            g = g.to(w.dtype)
        if g.dtype != w.dtype or g.shape != w.shape:
            return f"{g.dtype} {tuple(g.shape)} instead of {w.dtype} {tuple(w.shape)}"
        if not compare_values:
            g.cpu()
            continue
        reason = far(op, g, w)
        if reason and not (isinstance(other, torch.Tensor) and as_exact(op, g, w, other)):
            return reason
    return None


def as_exact(op, got, want, exact):
    """Within the tolerance of the exact result, or no further from it than twice what the CPU is."""
    if got.shape != exact.shape or not far(op, got, exact.to(want.dtype)):
        return got.shape == exact.shape
    apart = [(t.detach().cpu().double() - exact.detach()).abs().max() for t in (got, want)]
    return bool(apart[0] <= 2 * apart[1])


def is_wide(values):
    """Whether a whole number is past 32 bits."""
    whole = [v.detach().cpu() for v in tree_leaves(values) if isinstance(v, torch.Tensor) and v.dtype == torch.int64]
    numbers = [v for v in tree_leaves(values) if isinstance(v, int)]
    limits = torch.iinfo(torch.int32)
    return any(v.numel() and (v.min() < limits.min or v.max() > limits.max) for v in whole) or any(
        not limits.min <= v <= limits.max for v in numbers
    )


def far(op, got, want):
    rtol, atol = tolerance(op, want.dtype)
    try:
        torch.testing.assert_close(
            got.detach().cpu(), want.detach(), rtol=rtol, atol=atol, equal_nan=True, check_stride=False
        )
    except AssertionError as error:
        return " ".join(str(error).split())[:200]
    return None


def check(op, dtype, gradients, report, verbose):
    import torch_neuronx

    counts, first = Counter(), {}
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=gradients):
        torch_neuronx.clear_op_tracking()
        try:
            want = run(op, stable(op, sample), "cpu", gradients)
        except Exception:
            counts["refused by the CPU"] += 1
            continue
        kind, reason = "ok", None
        try:
            compare_values = not is_random(op, sample) and op.name not in UNDEFINED
            got = run(op, sample, NEURON, gradients)
            reason = difference(op, got, want, compare_values)
            if reason and dtype.is_floating_point:
                reason = difference(op, got, want, compare_values, exact(op, sample, gradients))
            torch.neuron.synchronize()
            wide = reason and is_wide((sample.input, sample.args, sample.kwargs, want))
            kind = "wide" if wide else "wrong" if reason else "ok"
        except Exception as error:
            kind, reason = "error", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            if verbose:
                traceback.print_exc()
        if kind == "ok" and torch_neuronx.get_fallback_ops():
            kind, reason = "host", ", ".join(sorted(torch_neuronx.get_fallback_ops()))
        counts[kind] += 1
        if kind != "ok" and (kind not in first or verbose):
            first[kind] = f"{reason}  [{describe(sample)}]"
            if verbose:
                print(kind, first[kind], flush=True)
    report({"dtype": str(dtype)[6:], "gradients": gradients, "counts": dict(counts), "first": first})


def in_table(op):
    """Whether an aten operator of this name, or of the name of its derived step, has a kernel of the device."""
    last = op.name.rpartition(".")[2]
    bases = {op.aten_name, last, op.name.replace(".", "_"), op.aten_backward_name or ""} - {""}
    names = {form.format(b) for b in bases for form in ("{}", "{}_", "_{}", "{}_forward", "native_{}")}
    return any(
        torch._C._dispatch_has_kernel_for_dispatch_key(full, "PrivateUse1")
        for full in torch._C._dispatch_get_all_op_names()
        if full.startswith("aten::") and full[len("aten::") :].partition(".")[0] in names
    )


def describe(sample):
    def text(v):
        return f"{str(v.dtype)[6:]}{list(v.shape)}" if isinstance(v, torch.Tensor) else repr(v)

    parts = [text(v) for v in (sample.input, *sample.args)] + [f"{k}={text(v)}" for k, v in sample.kwargs.items()]
    return ", ".join(parts)[:200]


def check_all(op, options, report):
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    for dtype in DTYPES:
        if "forward" in options.modes and dtype in op.supported_dtypes("cpu"):
            check(op, dtype, False, report, options.verbose)
    if "gradients" in options.modes and torch.float32 in op.supported_backward_dtypes("cpu"):
        check(op, torch.float32, True, report, options.verbose)


def in_child(op, options):
    """The records of one operator, and how its child died."""
    with tempfile.TemporaryFile("w+") as records:
        child = os.fork()
        if child == 0:
            signal.alarm(options.timeout)
            if not options.verbose:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
            try:
                check_all(op, options, lambda r: print(json.dumps(r), file=records, flush=True))
            except BaseException as error:
                print(json.dumps({"died": f"{type(error).__name__}: {error}"[:300]}), file=records, flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        records.seek(0)
        found = [json.loads(line) for line in records]
    if os.WIFSIGNALED(status):
        found.append({"died": signal.Signals(os.WTERMSIG(status)).name})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--modes", nargs="+", default=["forward", "gradients"], choices=["forward", "gradients"])
    parser.add_argument("--shard", default="0/1")
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    common_utils.TEST_WITH_SLOW = False
    index, count = map(int, options.shard.split("/"))
    ops = [op for op in op_db if not options.only or op.name in options.only or op.full_name in options.only]
    if options.table:
        ops = [op for op in ops if in_table(op)]
    tally, samples, everything = Counter(), Counter(), {}
    for op in ops[index::count]:
        start = time.monotonic()
        records = in_child(op, options)
        everything[op.full_name] = records
        total = Counter()
        for r in records:
            total.update(r.get("counts", {}))
        samples.update(total)
        died = [r["died"] for r in records if "died" in r]
        state = "died" if died else next((k for k in ("wrong", "error", "wide", "host") if total[k]), "ok")
        tally[state] += 1
        shown = " ".join(f"{k}={n}" for k, n in sorted(total.items()))
        print(f"{state:5} {op.full_name:45} {time.monotonic() - start:6.1f} s  {shown} {' '.join(died)}", flush=True)
        for r in records:
            for kind, reason in r.get("first", {}).items():
                mode = "gradient" if r["gradients"] else "forward"
                print(f"        {kind} {r['dtype']} {mode} x{r['counts'][kind]}: {reason}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1))
    print("operators:", ", ".join(f"{n} {k}" for k, n in tally.most_common()))
    print("samples:", ", ".join(f"{n} {k}" for k, n in samples.most_common()))
    return 1 if tally["wrong"] or tally["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
