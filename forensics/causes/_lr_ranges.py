"""Learning rates that are documented to work, by what is trained and with which optimizer."""

from dataclasses import dataclass, replace
from enum import Enum

from forensics.case import Case

_ADAPTIVE = (
    "ada", "lamb", "rmsprop", "lion", "sophia", "came",
)  # fmt: skip
_PLAIN = ("sgd", "momentum", "nesterov", "lars")


class OptimizerKind(Enum):
    """What the step size means: a rate per gradient, or about the size of the update itself."""

    ADAPTIVE = "adaptive"
    PLAIN = "plain"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class LrRange:
    """Documented learning rates of one way to train."""

    tiny: float
    """At or below it nothing is learned in reasonable time."""
    low: float
    usual: float
    """``low`` to ``usual`` is what recipes use."""
    high: float
    """Above it instability is commonly reported."""
    harmful: float
    """Above it hardly any run is known to have survived."""
    name: str


# UMLAUT (CHI 2021) flags Adam-type rates above 1e-2 and below 1e-7; 3e-3 spikes already in
# the warm-up of OLMo 2 (arXiv 2501.00656).
_SCRATCH = LrRange(
    1e-7, 1e-4, 1e-3, 3e-3, 1e-2, "training from scratch with an Adam-type optimizer"
)
_FULL = LrRange(1e-7, 1e-5, 2e-5, 5e-5, 1e-3, "full fine-tuning")
_LORA = LrRange(1e-6, 1e-4, 2e-4, 5e-4, 5e-3, "LoRA")
_SGD = LrRange(1e-6, 1e-2, 1e-1, 0.5, 5.0, "SGD")
# Without an optimizer's name only what is too high for Adam and SGD alike is known to be so.
ANY_OPTIMIZER = LrRange(1e-8, 1e-5, 1e-1, 0.5, 5.0, "any common optimizer")

USUAL_WIDTH, MOST_TOLERANCE = 256, 8.0
"""The best rate falls with a model's width (muP, arXiv 2203.03466); recipes are for wide ones."""

PER_SAMPLE = 0.02 / 16
"""Detectron2's SGD rate per image, the highest of the common linear-scaling references."""


def optimizer_kind(case: Case) -> OptimizerKind:
    """The kind of the configured optimizer."""
    name = (case.config.optimizer or "").lower()
    if any(part in name for part in _ADAPTIVE):
        return OptimizerKind.ADAPTIVE
    if any(part in name for part in _PLAIN):
        return OptimizerKind.PLAIN
    # Betas are settings of Adam and its kin alone.
    return OptimizerKind.ADAPTIVE if not name and case.config.betas else OptimizerKind.UNKNOWN


def documented_range(case: Case) -> LrRange:
    """The range that applies to this run, as far as it says what it trains."""
    kind = optimizer_kind(case)
    if kind is OptimizerKind.PLAIN:
        return _scaled_by_batch(case)
    if case.config.lora:
        return _LORA
    if case.config.pretrained:
        return _FULL
    return _scaled_by_width(case) if kind is OptimizerKind.ADAPTIVE else ANY_OPTIMIZER


def _scaled_by_width(case: Case) -> LrRange:
    """Adam's range; what is narrower than the models of recipes stands higher rates."""
    width = _width(case)
    if width is None or width >= USUAL_WIDTH:
        return _SCRATCH
    factor = min(USUAL_WIDTH / width, MOST_TOLERANCE)
    return replace(
        _SCRATCH,
        usual=_SCRATCH.usual * factor,
        high=_SCRATCH.high * factor,
        harmful=_SCRATCH.harmful * factor,
    )


def _width(case: Case) -> int | None:
    """Units of the usual hidden layer: configured, else as the weights of a checkpoint show."""
    if case.config.hidden_size:
        return case.config.hidden_size
    survey = case.survey
    found = [w.shape for c in (survey.checkpoints[:1] if survey else ()) for w in c.weights]
    sides = sorted(min(shape) for shape in found if len(shape) == 2 and min(shape) > 4)
    return sides[len(sides) // 2] if sides else None


def _scaled_by_batch(case: Case) -> LrRange:
    """SGD's range; large batches are commonly given a proportionally larger rate."""
    scaled = 3 * PER_SAMPLE * (case.config.effective_batch or 0)
    return replace(_SGD, high=max(_SGD.high, scaled), harmful=max(_SGD.harmful, 3 * scaled))
