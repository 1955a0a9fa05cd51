"""The first operation of a step that makes a NaN or an infinity out of finite values.

A value counts only where it arrives: in the loss, or in the gradient of a parameter. An infinity
that was written on purpose (an attention mask) or that is masked away again is no finding.
"""

from forensics.replay.first_non_finite._search import find_first_non_finite

__all__ = ["find_first_non_finite"]
