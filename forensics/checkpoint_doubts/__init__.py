"""What in a checkpoint speaks against using it, in words: evidence for the causes, and advice."""

from forensics.checkpoint_doubts._counters import counted, lost_steps, start_near
from forensics.checkpoint_doubts._moments import fallen, impossible_moments
from forensics.checkpoint_doubts._outliers import FEWEST, new_outlier

__all__ = [
    "FEWEST",
    "counted",
    "fallen",
    "impossible_moments",
    "lost_steps",
    "new_outlier",
    "start_near",
]
