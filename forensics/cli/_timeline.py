"""``forensics timeline``: only the logs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.cli._command import reading_progress

if TYPE_CHECKING:
    from forensics.findings import Episode


class Timeline:
    """Read only the logs of RUN_DIR and print its episodes."""

    name = "timeline"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "run_dir",
            metavar="RUN_DIR",
            help="folder of the run, one log, or an address of one (s3://, gs://, hf://)",
        )
        parser.add_argument(
            "--csv", metavar="FILE", help="write the merged metrics, one row per step"
        )
        parser.add_argument(
            "--run", metavar="NAME", help="one run of a folder or file that holds several"
        )

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit status."""
        from forensics.analysis import open_run
        from forensics.detectors import detect_all
        from forensics.timeline import build

        with reading_progress(quiet=False) as progress:
            run = open_run(args.run_dir, run=args.run, progress=progress)
        timeline = build(run)
        episodes, _ = detect_all(timeline, run.config)
        if args.csv:
            timeline.write_csv(Path(args.csv))
        _show(episodes)
        return 0


def _show(episodes: "tuple[Episode, ...]") -> None:
    from rich.console import Console
    from rich.table import Table

    if not episodes:
        print("no episodes: nothing that was logged left its band")
        return
    table = Table(box=None, pad_edge=False)
    for title in ("kind", "quantity", "onset", "peak", "value", "recovery", "severity", "ending"):
        table.add_column(title, justify="right" if title in _NUMBERS else "left")
    for e in episodes:
        peak = "" if e.peak_value is None else f"{e.peak_value:.4g}"
        table.add_row(
            e.kind,
            e.signal,
            str(e.onset_step),
            _step(e.peak_step),
            peak,
            _step(e.recovery_step),
            e.severity,
            e.ending,
        )
    Console().print(table)


_NUMBERS = frozenset({"onset", "peak", "value", "recovery"})


def _step(step: int | None) -> str:
    return "" if step is None else str(step)


COMMAND = Timeline()
