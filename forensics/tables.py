"""Values as the pandas tables that the public interface hands out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from forensics.findings import TensorStats
from forensics.replay_facts import Counterfactual

if TYPE_CHECKING:
    import pandas as pd

    Table: TypeAlias = pd.DataFrame


def tensor_table(tensors: Iterable[TensorStats]) -> "Table":
    """One row a tensor; the columns are the fields of `TensorStats`."""
    import pandas as pd  # slow to import, and only a notebook asks for it

    return pd.DataFrame([vars(t) for t in tensors], columns=list(TensorStats.__annotations__))


def counterfactual_table(changes: Iterable[Counterfactual]) -> "Table":
    """One row for each change that was replayed; ``excess`` in nats above the level before."""
    import pandas as pd

    columns = ["variant", "setting", "before", "after", "removes", "excess", "complete"]
    rows = [
        (
            str(c.variant),
            c.setting,
            c.before,
            c.after,
            c.removes,
            c.trajectory.excess,
            c.trajectory.complete,
        )
        for c in changes
    ]
    return pd.DataFrame(rows, columns=columns)
