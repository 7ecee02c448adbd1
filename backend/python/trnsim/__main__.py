"""The command `trnsim`."""

import argparse
import sys
from pathlib import Path

from trnsim import _C


def isa(args: argparse.Namespace) -> int:
    print(_C.isa_markdown() if args.format == "markdown" else _C.isa_json())
    return 0


def asm(args: argparse.Namespace) -> int:
    args.out.write_bytes(_C.assemble(args.file.read_text(encoding="utf-8")))
    return 0


def disasm(args: argparse.Namespace) -> int:
    print(_C.disassemble(args.file.read_bytes()), end="")
    return 0


def check(args: argparse.Namespace) -> int:
    data = args.file.read_bytes()
    complaint = _C.check(data if args.file.suffix == ".neff" else _C.assemble(data.decode()))
    print(complaint or f"{args.file}: legal")
    return bool(complaint)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="trnsim", description="Tools of the Trainium2 simulator.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("isa", help="the instruction table")
    command.add_argument("--format", choices=("markdown", "json"), default="markdown")
    command.set_defaults(run=isa)

    command = commands.add_parser("asm", help="assembly text to an executable (NEFF container)")
    command.add_argument("file", type=Path)
    command.add_argument("-o", "--out", type=Path, required=True)
    command.set_defaults(run=asm)

    command = commands.add_parser("disasm", help="an executable as assembly text")
    command.add_argument("file", type=Path)
    command.set_defaults(run=disasm)

    command = commands.add_parser("check", help="is an executable (.neff) or assembly text legal?")
    command.add_argument("file", type=Path)
    command.set_defaults(run=check)

    args = parser.parse_args(argv)
    try:
        return args.run(args)
    except (_C.Error, OSError, UnicodeDecodeError) as error:
        print(f"trnsim: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
