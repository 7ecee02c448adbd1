"""What becomes of each aten operator on the device: the documentation's table, and `trnsim ops`."""

import torch

from torch_neuronx import _C

STATUS = {
    "device": "a lowering of its own, or bookkeeping of the device",
    "composite": "made of others by PyTorch, which the table lists too",
    "host": "falls back to the host's kernel, with a warning (TRNSIM_FALLBACK=error refuses)",
    "none": "refused: the host has no kernel for it either",
}
COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def table() -> list[dict[str, str]]:
    """A row for each overload that PyTorch has: op ("add.Tensor"), status (of STATUS), lowering (the name of the
    device's row, which variants share), notes, schema."""
    rows = _C.registered_ops()
    names = sorted(name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    schemas = {_full_name(schema): str(schema) for schema in torch._C._jit_get_all_schemas()}
    out = []
    for name in names:
        lowering, notes = rows.get(name, ("", ""))
        schema = schemas.get(name, "")
        op = name.removeprefix("aten::")
        out.append({"op": op, "status": status(name), "lowering": lowering, "notes": notes, "schema": schema})
    return out


def status(name: str) -> str:
    """`name` with its namespace, such as "aten::add.Tensor"."""

    def has(key: str) -> bool:
        return torch._C._dispatch_has_kernel_for_dispatch_key(name, key)

    if has("PrivateUse1"):
        return "device"
    if any(has(key) for key in COMPOSITE):
        return "composite"
    return "host" if has("CPU") else "none"


def _full_name(schema) -> str:
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
