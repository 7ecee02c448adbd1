"""The command `trnsim`. Exit codes: 0 done (or legal), 1 the Program is not legal, 2 it could not be done."""

import argparse
import json
import sys
from pathlib import Path

from trnsim import _C
from trnsim import replay as replay_profile


def isa(args: argparse.Namespace) -> int:
    if args.name is not None:
        page = {"text": _C.card_text, "markdown": _C.card_markdown, "json": _C.card_json}[args.format]
        text = page(args.name, args.target)
    elif args.format == "text":
        text = _C.isa_text(args.target)
    else:
        text = _C.isa_markdown() if args.format == "markdown" else _C.isa_json()
    print(text, end="")
    return 0


def read_program(path: Path) -> bytes:
    """The bytes of an executable: the file itself, or its assembly text assembled."""
    data = path.read_bytes()
    if path.suffix == ".neff":
        return data
    try:
        return _C.assemble(data.decode())
    except UnicodeDecodeError:
        return data  # an executable by another name: its reader says what is wrong with it


def asm(args: argparse.Namespace) -> int:
    executable = _C.assemble(args.file.read_text(encoding="utf-8"))
    complaint = None if args.unchecked else _C.check(executable)
    if complaint:
        print(f"{args.file}: {complaint}", file=sys.stderr)
        return 1
    args.out.write_bytes(executable)
    return 0


def disasm(args: argparse.Namespace) -> int:
    text = _C.disassemble(args.file.read_bytes())
    if args.out is None:
        print(text, end="")
    else:
        args.out.write_text(text, encoding="utf-8")
    return 0


def check(args: argparse.Namespace) -> int:
    worst, all_findings = 0, []
    for path in args.files:
        try:
            findings = _C.check(read_program(path))
        except (_C.Error, OSError) as error:
            print(f"trnsim: {path}: {error}", file=sys.stderr)
            worst = 2
            continue
        all_findings += [{"file": str(path)} | finding for finding in findings]
        if not args.json:
            print("".join(f["text"] for f in findings) or f"{path}: legal\n", end="")
        worst = max(worst, int(any(not f["advice"] for f in findings)))
    if args.json:
        print(json.dumps(all_findings, indent=2))
    return worst


def time(args: argparse.Namespace) -> int:
    result = _C.time_program(read_program(args.file), "" if args.trace is None else str(args.trace))
    if args.json:
        print(json.dumps(result, indent=2))
        return 0
    duration = result["duration_us"]
    print(f"{result['program']} on {result['machine']}: {duration:.3f} us, {result['instructions']} instructions")
    for engine, active in result["active_us"].items():
        print(f"  {engine:8} {active:12.3f} us active, {active / duration if duration else 0:6.1%}")
    return 0


def replay(args: argparse.Namespace) -> int:
    result = replay_profile(args.table, unknown_phase=args.phase == "unknown")
    print(result.summary())
    if args.instructions:
        print("\n" + result.instructions())
    if args.json:
        result.write_json(args.json)
    if args.html:
        result.write_html(args.html)
    return 0


def ops(args: argparse.Namespace) -> int:
    from torch_neuronx import _operators

    rows = [
        row
        for row in _operators.table()
        if (not args.name or row["op"].partition(".")[0] == args.name or row["op"] == args.name)
        and args.status in (None, row["status"])
    ]
    if not rows:
        print(f"trnsim: PyTorch has no such operator: {args.name or args.status}", file=sys.stderr)
        return 2
    if args.format == "json":
        print(json.dumps(rows, indent=2))
        return 0
    markdown = args.format == "markdown"
    if markdown:
        print("| operator | status | lowered as | notes |\n|---|---|---|---|")
    for row in rows:
        cells = (row["op"], row["status"], row["lowering"], row["notes"])
        print("| {} | {} | {} | {} |".format(*cells) if markdown else "{:58} {:10} {:40} {}".format(*cells).rstrip())
    if not markdown:
        count = {status: sum(row["status"] == status for row in rows) for status in _operators.STATUS}
        print("\n" + "\n".join(f"{n:5} {status}: {_operators.STATUS[status]}" for status, n in count.items() if n))
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="trnsim", description="Tools of the Trainium2 simulator.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("isa", help="the instruction table, or one instruction, operator or function")
    command.add_argument("name", nargs="?", help="such as nc_matmul, add or gelu; absent: the table")
    command.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    command.add_argument("--target", default="", help="trn1, inf2, trn2 or trn3; default: the machine (TRNSIM_SPEC)")
    command.set_defaults(run=isa)

    command = commands.add_parser("ops", help="PyTorch's operators: which have a lowering, which fall back to the host")
    command.add_argument("name", nargs="?", help="such as add or add.Tensor; absent: all")
    command.add_argument("--status", choices=("device", "composite", "host", "none"))
    command.add_argument("--format", choices=("text", "markdown", "json"), default="text")
    command.set_defaults(run=ops)

    command = commands.add_parser("asm", help="assembly text to an executable (NEFF container)")
    command.add_argument("file", type=Path)
    command.add_argument("-o", "--out", type=Path, required=True)
    command.add_argument("--unchecked", action="store_true", help="write it even if it is not legal for its target")
    command.set_defaults(run=asm)

    command = commands.add_parser("disasm", help="an executable as assembly text")
    command.add_argument("file", type=Path)
    command.add_argument("-o", "--out", type=Path, help="absent: standard output")
    command.set_defaults(run=disasm)

    command = commands.add_parser("check", help="what is wrong with executables (.neff) or assembly texts?")
    command.add_argument("files", type=Path, nargs="+", metavar="file")
    command.add_argument("--json", action="store_true", help="findings as a list")
    command.set_defaults(run=check)

    command = commands.add_parser("time", help="how long would an executable or an assembly text take?")
    command.add_argument("file", type=Path)
    command.add_argument("--trace", type=Path, help="write the timeline for Perfetto while it is simulated")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=time)

    command = commands.add_parser("replay", help="time a hardware profile again and compare")
    command.add_argument("table", type=Path, help="NAME.instructions.csv[.gz], or the profiler's JSON export")
    command.add_argument(
        "--phase",
        choices=("profile", "unknown"),
        default="profile",
        help="the tensor engine's throttle: as the profile says, or an interval over its phases",
    )
    command.add_argument("--json", type=Path, help="predicted starts and ends, in the profile's own order")
    command.add_argument("--html", type=Path, help="a page with both timelines")
    command.add_argument("--instructions", action="store_true", help="print a line for each instruction")
    command.set_defaults(run=replay)

    args = parser.parse_args(argv)
    try:
        return args.run(args)
    except BrokenPipeError:
        return 0
    except (_C.Error, OSError, UnicodeDecodeError) as error:
        where = "" if isinstance(error, OSError) or "file" not in args else f"{args.file}: "
        print(f"trnsim: {where}{error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
