"""What a command is, and what several of them share."""

import argparse
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
