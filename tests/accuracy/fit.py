"""Fits the DMA numbers of the Spec to hardware profiles: coordinate steps within each number's measured interval."""

import argparse
import random
from pathlib import Path

import trnsim

# What is fitted, from least to most. Everything else in the Spec is read directly off profiles or documentation.
NUMBERS = {
    "hbm_startup_ns": (500, 700),
    "hbm_startup_byte_ns": (0.044, 0.084),
    "hbm_restart_ns": (300, 900),
    "dma_completion_load_ns": (320, 380),
    "dma_completion_store_ns": (375, 435),
    "dma_stagger_hbm_ns": (4, 19),
    "dma_packet_ns": (4.5, 5.5),
    "dma_stall_byte_ns": (0.001, 0.0035),
    "throttle_raise_threshold": (0.380, 0.396),
}
# One profile's errors (makespan, transfers' median and 90th percentile, drift's median) count over these targets.
TARGETS = {"makespan": 0.006, "median": 0.07, "p90": 0.20, "drift": 0.01}


def profiles(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.instructions.csv*"))


def cost(numbers: dict[str, float], paths: list[Path]) -> float:
    total = 0.0
    for path in paths:
        r = trnsim.replay(path, numbers=numbers)
        # A window of the throttle that flips costs 3 % at once: capped, so that the rest still counts.
        total += min(abs(r.makespan_error) / TARGETS["makespan"], 6)
        total += r.transfer_error["median"] / TARGETS["median"] + r.transfer_error["p90"] / TARGETS["p90"]
        total += min(r.drift["median"] / TARGETS["drift"], 3)
    return total / len(paths)


def fit(paths: list[Path], steps: int, seed: int = 1) -> dict[str, float]:
    """The best numbers found in `steps` trials, starting from the middle of every interval."""
    rng = random.Random(seed)
    best = {name: (least + most) / 2 for name, (least, most) in NUMBERS.items()}
    reached = cost(best, paths)
    for _ in range(steps):
        trial = dict(best)
        for name in rng.sample(list(NUMBERS), rng.choice((1, 2, 3))):
            least, most = NUMBERS[name]
            trial[name] = min(max(trial[name] + rng.gauss(0, (most - least) / 6), least), most)
        if (tried := cost(trial, paths)) < reached:
            best, reached = trial, tried
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    for name, value in fit(profiles(args.folder), args.steps).items():
        print(f"{name:<28} {value:.4g}")


if __name__ == "__main__":
    main()
