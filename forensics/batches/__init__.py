"""Batches: what is odd about the data of a step, found without running a model.

`_parts` tells which tensor is what, each file of ``checks`` takes a sight of it and judges it
against control batches, `_auditing` joins them, `_captured` reads the batches that a run saved.
Arrays are numpy's; torch is not needed.
"""

from forensics.batches._auditing import audit
from forensics.batches._captured import survey_captured
from forensics.batches._limits import Limits, limits_of
from forensics.batches._parts import Named
from forensics.batches._suspects import suspect_steps

__all__ = ["Limits", "Named", "audit", "limits_of", "survey_captured", "suspect_steps"]
