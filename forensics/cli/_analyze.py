"""``forensics analyze``: the main job."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.cli._command import add_replay_options, announce_replay, reading_progress, speaks

if TYPE_CHECKING:
    from forensics.diagnosis import Diagnosis

REPORT_NAME = "forensics-report.html"


class Analyze:
    """Read everything in RUN_DIR, write the report and print a short diagnosis."""

    name = "analyze"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "run_dir",
            metavar="RUN_DIR",
            help="folder of the run, one log, or an address of one (s3://, gs://, hf://)",
        )
        parser.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            help=f"the report (default RUN_DIR/{REPORT_NAME}; of an address ./{REPORT_NAME})",
        )
        parser.add_argument(
            "--json", metavar="FILE", help="write the diagnosis as JSON (- is standard output)"
        )
        parser.add_argument("--markdown", metavar="FILE", help="write it for an issue tracker")
        parser.add_argument(
            "--run", metavar="NAME", help="one run of a folder or file that holds several"
        )
        parser.add_argument(
            "--scan",
            choices=("bisect", "all", "none"),
            default="bisect",
            help="which checkpoints are scanned (default: as few as show where the damage began)",
        )
        parser.add_argument(
            "--dask", metavar="SCHEDULER", help="address of a Dask cluster that does the scanning"
        )
        add_replay_options(parser, default=None)
        parser.add_argument(
            "--exit-code", action="store_true", help="exit 1 when the outcome is a failure"
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
                scan=args.scan,
                dask=args.dask,
                replay=args.replay,
                device=args.device,
                budget=args.budget,
                progress=progress,
            )
        if not speaks():
            return 0
        report = _write_report(diagnosis, args)
        if args.json and args.json != "-":
            Path(args.json).write_text(diagnosis.to_json() + "\n", encoding="utf-8")
        if args.markdown:
            Path(args.markdown).write_text(diagnosis.to_markdown(), encoding="utf-8")
        if args.json == "-":
            print(diagnosis.to_json())
        elif not args.quiet:
            _show(diagnosis, report)
        return 1 if args.exit_code and diagnosis.outcome.is_failure else 0


def _write_report(diagnosis: "Diagnosis", args: argparse.Namespace) -> Path:
    if args.output:
        return diagnosis.to_html(args.output)
    from forensics.remote import is_remote, locate

    where = locate(args.run_dir)
    if is_remote(where):
        if not args.quiet:
            print(
                f"forensics: nothing is written to {where}; the report goes to ./{REPORT_NAME}",
                file=sys.stderr,
            )
        return diagnosis.to_html(REPORT_NAME)
    folder = where if where.is_dir() else where.parent
    if not os.access(folder, os.W_OK):
        # A run on read-only storage is still worth a report.
        print(
            f"forensics: {folder} is read-only; the report goes to ./{REPORT_NAME}", file=sys.stderr
        )
        folder = Path()
    return diagnosis.to_html(folder / REPORT_NAME)


def _show(diagnosis: "Diagnosis", report: Path) -> None:
    from rich.console import Console

    from forensics.report import terminal_report

    console = Console()
    terminal_report.show(diagnosis.verdict, console)
    console.print(f"Report: {report}", soft_wrap=True, highlight=False, markup=False)


COMMAND = Analyze()
