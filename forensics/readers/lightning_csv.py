"""Lightning's ``metrics.csv``: an alphabetical header, and several rows for one step.

::

    epoch,lr-AdamW,step,train_loss_step,val_loss
    ,0.0006,2,,
    0,,2,1.2231,
    0,,7,,0.4255

Each call of the logger writes its own row, and what it did not log stays empty. Steps count
batches from 0. A new start writes a new ``version_N``.
"""

from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.dialect import Dialect
from forensics.readers.csv_log import dialect_of, read_table

_OWN = frozenset({"step", "epoch"})


def sniff(probe: Probe) -> bool:
    """True for a file called ``metrics.csv`` with the columns that Lightning adds."""
    return probe.path.name == "metrics.csv" and _dialect(probe) is not None


def _dialect(probe: Probe) -> Dialect | None:
    dialect = dialect_of(probe)
    if dialect is None or dialect.delimiter != "," or "step" not in dialect.columns:
        return None
    alphabetical = list(dialect.columns) == sorted(dialect.columns)
    return dialect if alphabetical or set(dialect.columns) >= _OWN else None


def read(probe: Probe, progress: Progress) -> Reading:
    """See `forensics.readers.csv_log.read_table`."""
    dialect = _dialect(probe)
    return read_table(probe, progress, dialect, spells_nan=True) if dialect else Reading()


READER = Reader(name="Lightning metrics.csv", order=20, sniff=sniff, read=read)
