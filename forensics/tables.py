"""Values as the pandas tables that the public interface hands out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from forensics.findings import TensorStats

if TYPE_CHECKING:
    import pandas as pd

    Table: TypeAlias = pd.DataFrame


def tensor_table(tensors: Iterable[TensorStats]) -> "Table":
    """One row a tensor; the columns are the fields of `TensorStats`."""
    import pandas as pd  # slow to import, and only a notebook asks for it

    return pd.DataFrame([vars(t) for t in tensors], columns=list(TensorStats.__annotations__))
