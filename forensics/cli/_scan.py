"""``forensics scan``: only checkpoints."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.cli._command import reading_progress
from forensics.errors import ForensicsError

if TYPE_CHECKING:
    from forensics.scan import SeriesScan
    from forensics.tensor_stats import TensorStats


class Scan:
    """Read only checkpoints: values that are not finite, and statistics of every tensor."""

    name = "scan"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="+",
            help="a checkpoint, a folder that holds some, or an address (s3://, gs://, hf://)",
        )
        parser.add_argument(
            "--scan",
            choices=("all", "bisect"),
            default="all",
            help="of several, all, or those that show where the damage began (default all)",
        )
        parser.add_argument("--all", action="store_true", help="print every tensor")
        parser.add_argument("--csv", metavar="FILE", help="write one row a tensor")
        parser.add_argument(
            "--dask", metavar="SCHEDULER", help="let the workers of a Dask cluster do it"
        )
        parser.add_argument(
            "--exit-code", action="store_true", help="exit 1 when a checkpoint is poisoned"
        )
        parser.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")

    def run(self, args: argparse.Namespace) -> int:
        """Do it and return the exit status."""
        import sys

        tensors: list[TensorStats] = []
        failures: list[ForensicsError] = []
        for path in args.paths:
            try:
                scan = _scanned(path, args)
            except ForensicsError as error:
                failures.append(error)
                continue
            tensors += scan.tensors
            for note in scan.notes:
                print(f"forensics: {note}", file=sys.stderr)
            if not args.quiet:
                _show(scan, all_rows=args.all)
        if args.csv and tensors:
            _write_csv(tensors, Path(args.csv))
        for failure in failures[1:]:
            print(f"forensics: {failure}", file=sys.stderr)
        if failures:
            raise failures[0]
        return 1 if args.exit_code and any(t.is_poisoned for t in tensors) else 0


def _scanned(path: str, args: argparse.Namespace) -> "SeriesScan":
    from forensics.scan import ScanMode
    from forensics.scan.paths import scan_path

    with reading_progress(quiet=args.quiet) as progress:
        return scan_path(path, ScanMode(args.scan), dask=args.dask, progress=progress)


def _show(scan: "SeriesScan", *, all_rows: bool) -> None:
    from forensics.cli._tensor_lines import checkpoint_lines

    by_checkpoint: dict[str, list[TensorStats]] = {}
    for tensor in scan.tensors:
        by_checkpoint.setdefault(tensor.checkpoint, []).append(tensor)
    for tensors in by_checkpoint.values():
        print("\n".join(checkpoint_lines(tensors, all_rows=all_rows)))


def _write_csv(tensors: "list[TensorStats]", path: Path) -> None:
    import csv
    from dataclasses import fields

    names = [field.name for field in fields(tensors[0])]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for tensor in tensors:
            row = vars(tensor) | {"shape": "x".join(map(str, tensor.shape))}
            writer.writerow(["" if row[name] is None else row[name] for name in names])


COMMAND = Scan()
