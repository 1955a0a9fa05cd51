"""What a command is, and what several of them share."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Command(Protocol):
    """One sub-command; its docstring is its help."""

    name: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit status."""


def add_replay_options(parser: argparse.ArgumentParser, default: str | None) -> None:
    """Declare what a replay needs to know.

    Args:
        parser: Of the sub-command.
        default: What is replayed without ``--replay``; None: nothing is.
    """
    parser.add_argument(
        "--replay",
        metavar="FILE",
        default=default,
        help="Python file with build_model, load_batch and compute_loss, which is run; or auto: "
        f"model and batches as the run left them (default: {default or 'nothing is replayed'})",
    )
    parser.add_argument(
        "--device",
        default="auto",
        metavar="auto|cpu|cuda[:N]",
        help="where the replay runs (default: CUDA where torch sees it)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="what the replay may take (default 60)",
    )


def announce_replay(args: argparse.Namespace) -> None:
    """Tell who waits at a terminal how long a replay may take."""
    if args.replay is not None and not args.quiet and sys.stderr.isatty():
        print(f"replaying: up to {args.budget:g} s (--budget)", file=sys.stderr)


def speaks() -> bool:
    """False on all ranks but the first of a replay under torchrun: one report is enough."""
    return os.environ.get("RANK", "0") == "0" or os.environ.get("WORLD_SIZE", "1") == "1"


PATIENCE = 1.0
"""Seconds after which reading shows a progress bar."""


@contextmanager
def reading_progress(*, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar of the bytes read on standard error, once reading takes longer than a second."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import DownloadColumn, Progress, SpinnerColumn, TransferSpeedColumn

    columns = (SpinnerColumn(), "reading", DownloadColumn(), TransferSpeedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("reading", total=None)
    started = time.monotonic()
    shown = False

    def advance(count: int) -> None:
        nonlocal shown
        bar.advance(task, count)
        if not shown and time.monotonic() - started > PATIENCE:
            bar.start()
            shown = True

    try:
        yield advance
    finally:
        if shown:
            bar.stop()
