"""The main job: real text through a real model on a simulated Trainium2, with every claim checked against the CPU."""

import argparse
import sys
from pathlib import Path

import embed
import generate
import torch
import torch.nn.functional as F
import train
import trnsim

FLOOR = {torch.float32: 0.99999, torch.bfloat16: 0.999}
failures: list[str] = []


def claim(holds: bool, text: str) -> None:
    print(f"  {'ok  ' if holds else 'FAIL'} {text}")
    if not holds:
        failures.append(text)


def report_counters(before: dict) -> None:
    now = trnsim.counters()
    seen = {name: now[name] - before[name] for name in now}
    print(
        f"  aten calls {seen['aten_calls']:,}, Programs compiled {seen['programs_compiled']:,}, "
        f"cache hits {seen['memory_hits']:,} in memory and {seen['disk_hits']:,} on disk, "
        f"host fallbacks {seen['fallbacks']:,}"
    )
    claim(seen["fallbacks"] == 0, "no host fallback")


def show_time(run, batches: int) -> None:
    device_us, duration_us = run.device_us, run.duration_us
    print(
        f"  predicted on {run.machine}: {duration_us / batches / 1e3:.2f} ms a batch; "
        f"the device computes {100 * device_us / duration_us:.0f} % of it"
    )
    active = ", ".join(
        f"{name} {us / batches:,.0f} us ({100 * us / device_us:.0f} %)" for name, us in run.active_us.items()
    )
    print(f"  a batch on the device, {device_us / batches:,.0f} us: {active}")
    print(
        f"  launch gaps {run.launch_gap_us / batches:,.0f} us, "
        f"Program preambles {run.program_overhead_us / batches:,.0f} us a batch"
    )
    for w in run.top_waits(3):
        who = f"{w['engine']}: {w['waiter']}" + (f" for {w['blocker']}" if w["blocker"] else "")
        print(f"  waits: {w['reason']:12s} {who:45s} {w['us'] / batches:9,.0f} us a batch")


def embeddings(out: Path) -> None:
    for dtype in (torch.float32, torch.bfloat16):
        before = trnsim.counters()
        label = str(dtype).removeprefix("torch.")
        print(f"\nMiniLM-L6, {len(embed.SENTENCES)} sentences, {label}, eager")
        cpu, _ = embed.run("cpu", dtype)
        device, run = embed.run("neuron", dtype, trnsim.profile)
        cosine = F.cosine_similarity(cpu.vectors, device.vectors).min().item()
        for similarity, a, b in embed.nearest_pairs(device.vectors):
            print(f"  {similarity:.3f}  {a[:58]:58s} | {b[:58]}")
        claim(cosine >= FLOOR[dtype], f"smallest cosine between neuron and CPU {cosine:.7f} (floor {FLOOR[dtype]})")
        show_time(run, len(embed.batches()[1]))
        print(f"  wall time here: neuron {device.wall_s:.3f} s, CPU {cpu.wall_s:.3f} s")
        report_counters(before)
        if dtype is torch.float32:
            run.write_perfetto(out / "demo.pftrace")
            run.write_html(out / "demo.html", title="MiniLM-L6, float32, eager")
            print(f"  wrote {out / 'demo.pftrace'} (https://ui.perfetto.dev) and {out / 'demo.html'}")


def generation() -> None:
    for name in generate.MODELS:
        before = trnsim.counters()
        print(f"\nTiny {name}, 16 greedy tokens")
        want, got = generate.run(name, "cpu"), generate.run(name, "neuron")
        claim(got == want, f"tokens equal the CPU's: {got}")
        report_counters(before)


def training() -> None:
    before = trnsim.counters()
    print("\nMLP, 20 AdamW steps")
    want, got = train.run("cpu"), train.run("neuron")
    worst = max(abs(a - b) / abs(b) for a, b in zip(got, want))
    claim(worst <= 1e-5, f"losses {got[0]:.6f} .. {got[-1]:.6f}, within {worst:.1e} of the CPU's (bound 1e-5)")
    report_counters(before)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the traces (default: out)")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    print(
        f"{torch.neuron.get_device_name()} is a simulated {torch.neuron.get_device_properties(0).name}; "
        f"{torch.neuron.device_count()} logical cores"
    )
    embeddings(args.out)
    generation()
    training()
    print(f"\n{'Everything held.' if not failures else f'{len(failures)} claims failed.'}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
