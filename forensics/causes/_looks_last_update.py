"""Looks at single steps between checkpoints: did the optimizer make them?"""

from forensics.case import Case
from forensics.causes import _checkpoints as saved
from forensics.causes._base import Seen
from forensics.checkpoint_facts import UpdateFit
from forensics.phrasing import percent

FEWEST = 4
"""Tensors, of which most must have moved as Adam says before one is blamed for not doing so."""


def moved_without_optimizer(case: Case, share: float = 0.25) -> Seen:
    """Over one step a tensor moved as its moments do not say, while the others did as theirs say.

    Where most do not, the optimizer is another one, and nothing follows.
    """
    for pair in saved.pairs(case):
        fits = [fit for fit in pair.updates if fit.read >= FEWEST and fit.residual == fit.residual]
        off = [fit for fit in fits if _is_unexplained(fit)]
        if len(fits) < FEWEST or len(off) > share * len(fits):
            continue
        if not off:
            text = f"From {pair.earlier} to {pair.later}, one step, every tensor moved as its "
            return saved.seen(False, f"{text}moments say.")
        top = max(off, key=lambda fit: fit.residual)
        return saved.seen(
            True,
            f"From {pair.earlier} to {pair.later}, one step, {percent(top.residual)} of the way "
            f"of {top.name} is not what its moments make of it; {len(fits) - len(off):,} other "
            "tensors moved as theirs say.",
        )
    return saved.NOTHING_TO_SEE


def _is_unexplained(fit: UpdateFit, room: float = 0.1) -> bool:
    return fit.residual > room + 10 * fit.rounding
