"""What the device costs the host: import, first tensor, small cached operators; CPU PyTorch in the same run."""

import os
import subprocess
import sys
import time

import torch

FIRST_TENSOR = """
import resource, time
start = time.perf_counter()
import torch
torch.empty(1, device={device!r})
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def first_tensor(device: str, autoload: str) -> tuple[float, float]:
    """Seconds and MiB of a fresh interpreter, the best of five."""
    environment = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    runs = []
    for _ in range(5):
        command = [sys.executable, "-c", FIRST_TENSOR.format(device=device)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append([float(word) for word in result.stdout.split()])
    return min(run[0] for run in runs), min(run[1] for run in runs)


def microseconds(call, repeat: int = 5, number: int = 2000) -> float:
    """The best of `repeat` runs of `number` calls, ended by a wait for the device."""
    best = float("inf")
    for _ in range(100):
        call()
    for _ in range(repeat):
        torch.neuron.synchronize()
        start = time.perf_counter()
        for _ in range(number):
            call()
        torch.neuron.synchronize()
        best = min(best, time.perf_counter() - start)
    return best / number * 1e6


def row(name: str, device: float, host: float, unit: str, reach: str) -> None:
    print(f"{name:<44} {device:10.3f} {host:10.3f} {device - host:10.3f} {unit:<4} {reach}")


def main() -> None:
    torch.set_num_threads(2)
    print(f"{'':<44} {'neuron':>10} {'cpu':>10} {'difference':>10}")
    device, plain = first_tensor("neuron", "1"), first_tensor("cpu", "0")
    row("import torch, first tensor", device[0], plain[0], "s", "difference <= 0.5")
    row("the same, resident memory", device[1], plain[1], "MiB", "difference <= 150")

    host = torch.ones(64, 64)
    there = host.neuron()
    row(
        "empty 64x64",
        microseconds(lambda: torch.empty(64, 64, device="neuron")),
        microseconds(lambda: torch.empty(64, 64)),
        "us",
        "",
    )
    row(
        "add 64x64, cached",
        microseconds(lambda: there + there),
        microseconds(lambda: host + host),
        "us",
        "difference <= 20",
    )
    row("clone 64x64", microseconds(there.clone), microseconds(host.clone), "us", "")
    row("item", microseconds(lambda: there[0, 0].item()), microseconds(lambda: host[0, 0].item()), "us", "")
    big = torch.ones(16 << 20)
    row("64 MiB to the device", microseconds(lambda: big.to("neuron"), 3, 3), microseconds(big.clone, 3, 3), "us", "")


if __name__ == "__main__":
    main()
