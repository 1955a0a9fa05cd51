"""Command line: ``main(argv) -> int``, one small command object each.

Exit status: 0 the analysis was done; 1 with ``--exit-code`` and a failed run; 2 nothing could be
analysed or the call was wrong. A user sees one line on standard error, never a traceback; set
``FORENSICS_DEBUG=1`` to see one.
"""

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from forensics.errors import ForensicsError

if TYPE_CHECKING:
    from forensics.cli._command import Command

COMMANDS = ("analyze", "timeline", "scan", "replay", "causes")
"""In the order of the help; each is the ``COMMAND`` of the module ``_<name>``."""
INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser with these commands; importing and building it loads no heavy package."""
    parser = _Parser(
        prog="forensics",
        description="Finds out why a training run died.",
        epilog="Start with: forensics analyze RUN_DIR",
    )
    parser.add_argument("--version", action="store_true", help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for command in map(_loaded, names):
        doc = (command.__doc__ or "").strip()
        sub = commands.add_parser(command.name, help=doc.splitlines()[0], description=doc)
        command.add_arguments(sub)
        sub.set_defaults(run_command=command.run)
    return parser


def _loaded(name: str) -> "Command":
    command: Command = importlib.import_module(f"{__name__}._{name}").COMMAND
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    chosen = [word for word in words[:1] if word in COMMANDS]  # the others need not be loaded
    parser = build_parser(chosen or COMMANDS)
    args = parser.parse_args(words)
    if args.version:
        from importlib.metadata import version

        print(f"forensics {version('run-forensics')}")
        return 0
    if args.command is None:
        parser.print_help()
        return 2
    try:
        status: int = args.run_command(args)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe went away (head, less): not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("FORENSICS_DEBUG"):
            raise
        print(f"forensics: {_line(error)}", file=sys.stderr)
        return 2
    return status


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ForensicsError):
        return text
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror or text}"
    return (
        f"internal error ({type(error).__name__}: {text}); please report it with the output of "
        "the same command under FORENSICS_DEBUG=1"
    )


def entry_point() -> NoReturn:
    """The ``forensics`` command."""
    gc.set_threshold(50_000)  # imports make many objects, all to stay: no garbage to look for
    sys.exit(main())
