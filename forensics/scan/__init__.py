"""Scan: what the values of a checkpoint say, each byte read once.

A checkpoint is planned (`planning`: shared tensors once, large ones in parts), its tasks are read
(`reading`) and counted (`counting`, by `numpy_pass` or, where there is much, by `compiled_pass`)
on any `concurrent.futures.Executor`, and added up (`engine`). `series` finds the first poisoned
one of many.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from forensics.scan.engine import CheckpointScan, scan_checkpoint
from forensics.scan.series import ScanMode, SeriesScan, scan_series

if TYPE_CHECKING:
    from forensics.tables import Table


class _Room(ModuleType):
    """This package as a function: ``forensics.scan(path)`` is part of the public contract."""

    def __call__(self, path: str | Path, *, dask: str | None = None) -> "Table":
        """Scan a checkpoint, or every checkpoint of a folder.

        Args:
            path: A file, the folder of one save, a run's folder, or an fsspec address of one.
            dask: Address of a Dask scheduler that does the work; by default threads here.

        Returns:
            One row a tensor; the columns are the fields of `TensorStats`.

        Raises:
            UnreadableFile: Nothing there could be read.
            NothingToAnalyse: The folder holds no checkpoint.
        """
        from forensics.scan.paths import scan_path
        from forensics.tables import tensor_table

        return tensor_table(scan_path(path, dask=dask).tensors)


sys.modules[__name__].__class__ = _Room

__all__ = ["CheckpointScan", "ScanMode", "SeriesScan", "scan_checkpoint", "scan_series"]
