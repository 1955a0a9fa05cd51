"""What the looks at checkpoints share: which one counts, which tensor is what."""

import re
from collections.abc import Iterable

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import Seen
from forensics.checkpoint_facts import CheckpointFacts, CheckpointPair, MomentFacts, WeightFacts

SOURCE = "checkpoints"
_VOCABULARY = re.compile(
    r"embed|(?:^|[._/])(?:wte|wpe|tokens?|positions?|lm_head|head|output|fc_out|decoder|classifier|"
    r"score|to_logits)[._/]",
    re.IGNORECASE,
)
_LAYER = re.compile(r"(?:^|[._/])(?:layers?|blocks?|h|stages?|resblocks)[._/](\d+)[._/]")


def seen(holds: bool | None, text: str, steps: tuple[int, ...] = ()) -> Seen:
    """What a look at checkpoints found."""
    return Seen(holds, text, steps, SOURCE)


NOTHING_TO_SEE = seen(None, "")
"""The checkpoints were looked at, and the question does not arise in them."""


def finite(checkpoints: Iterable[CheckpointFacts]) -> list[CheckpointFacts]:
    """Those whose weights hold numbers."""
    return [c for c in checkpoints if c.weights and not any(w.non_finite for w in c.weights)]


def sound(case: Case) -> list[CheckpointFacts]:
    """Checkpoints with finite weights from before the onset, or of the whole run without one."""
    onset = facts.break_onset(case)
    every = () if case.survey is None else finite(case.survey.checkpoints)
    return [c for c in every if onset is None or (c.step or 0) < onset]


def with_moments(case: Case) -> list[CheckpointFacts]:
    """Checkpoints with finite second moments that are not all zero, before the onset if any are."""
    every = () if case.survey is None else case.survey.checkpoints
    usable = [c for c in every if any(m.sum_square > 0 for m in c.moments)]
    onset = facts.break_onset(case)
    early = [c for c in usable if onset is not None and (c.step or 0) < onset]
    return early or usable


def pairs(case: Case) -> tuple[CheckpointPair, ...]:
    """Neighbouring checkpoints that are some steps apart."""
    every = () if case.survey is None else case.survey.pairs
    return tuple(pair for pair in every if pair.steps > 0)


def is_vocabulary(name: str, shape: tuple[int, ...], case: Case) -> bool:
    """True for tables whose rows are tokens or classes: some usually go without a gradient."""
    sizes = (case.config.vocab_size, case.config.num_classes)
    return bool(_VOCABULARY.search(name)) or bool(shape and shape[0] in sizes)


def layer_of(name: str) -> int | None:
    """Number of the layer that a tensor belongs to."""
    found = _LAYER.search(name)
    return int(found[1]) if found else None


def matrices(checkpoint: CheckpointFacts) -> list[WeightFacts]:
    """Its weights of two or more axes."""
    return [w for w in checkpoint.weights if w.role == "param" and len(w.shape) > 1]


def worst(moments: Iterable[MomentFacts]) -> MomentFacts:
    """The tensor whose |m| / sqrt(v) is largest against what Adam allows."""
    return max(moments, key=lambda m: m.update_max / m.bound)
