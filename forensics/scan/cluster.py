"""More than one machine: the tasks of a scan on a Dask cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from forensics.errors import UsageError

ANSWER_WITHIN = 15
"""Seconds."""


@contextmanager
def dask_executor(scheduler: str) -> Iterator[Executor]:
    """An executor whose workers are those of a Dask cluster.

    The workers must have this package installed and see the files at the same paths or addresses.

    Args:
        scheduler: Address (``tcp://host:8786``), or a scheduler file.

    Raises:
        UsageError: Dask is not installed, or no scheduler answers there.
    """
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--dask needs Dask (pip install 'run-forensics[dask]')") from error
    where = {"scheduler_file": scheduler} if scheduler.endswith(".json") else {"address": scheduler}
    connect: Any = distributed.Client
    try:
        client = connect(**where, timeout=ANSWER_WITHIN)
    except (OSError, ValueError, TimeoutError) as error:
        raise UsageError(f"{scheduler}: no Dask scheduler answers there ({error})") from error
    with client:
        yield client.get_executor(pure=False)
