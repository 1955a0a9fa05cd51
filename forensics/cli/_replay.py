"""``forensics replay``: only the replay experiments."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.cli._command import add_replay_options, announce_replay, reading_progress, speaks
from forensics.errors import NothingToAnalyse

if TYPE_CHECKING:
    from forensics.diagnosis import Diagnosis


class Replay:
    """Train the stretch around the failure again, changing one thing at a time."""

    name = "replay"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("run_dir", metavar="RUN_DIR", help="folder of the run, or one log")
        add_replay_options(parser, default="auto")
        parser.add_argument(
            "--step",
            type=int,
            metavar="N",
            help="step whose batch is suspect (default: the one at the onset)",
        )
        parser.add_argument(
            "--run", metavar="NAME", help="one run of a folder or file that holds several"
        )
        parser.add_argument(
            "--json", metavar="FILE", help="write what was found as JSON (- is standard output)"
        )
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit status."""
        from forensics.analysis import analyze

        args.quiet = args.quiet or not speaks()
        announce_replay(args)
        with reading_progress(quiet=args.quiet) as progress:
            diagnosis = analyze(
                args.run_dir,
                run=args.run,
                replay=args.replay,
                device=args.device,
                budget=args.budget,
                suspect_step=args.step,
                progress=progress,
            )
        if not speaks():
            return 0
        _refuse_nothing(diagnosis)
        if args.json and args.json != "-":
            Path(args.json).write_text(_as_json(diagnosis), encoding="utf-8")
        if args.json == "-":
            print(_as_json(diagnosis), end="")
        elif not args.quiet:
            _show(diagnosis)
        return 0


def _refuse_nothing(diagnosis: "Diagnosis") -> None:
    """Say in one line why not one experiment was done, where that is so."""
    facts = diagnosis.replay
    if facts is not None and facts.failures and not facts.seconds_of:
        raise NothingToAnalyse(facts.failures[0])


def _as_json(diagnosis: "Diagnosis") -> str:
    import json

    return json.dumps(diagnosis.to_dict()["replay"], indent=2, allow_nan=False) + "\n"


def _show(diagnosis: "Diagnosis") -> None:
    from rich.console import Console

    from forensics.report import terminal_replay

    terminal_replay.show(diagnosis.verdict, Console())


COMMAND = Replay()
