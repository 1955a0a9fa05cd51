"""Looks at number formats: half precision, the loss scale, skipped steps."""

from itertools import pairwise

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_model import named_after
from forensics.findings import EpisodeKind, Severity
from forensics.phrasing import at_step, count, number, percent
from forensics.run import TextKind
from forensics.signals import Signal

NOT_KNOWN = "Needs the precision of the run (fp16, bf16 or fp32)."
_BORN_BF16 = (r"(?<![a-z])m?t5", "gemma", "llama", "mistral", "qwen", "deepseek", "falcon", "olmo")
"""Families pretrained in bf16, whose activations may exceed fp16's 65,504."""


def half_precision(case: Case) -> Seen:
    """The run computes in fp16, by its configuration or because it scales its loss."""
    precision = case.config.precision
    if precision == "fp16":
        return Seen(True, "The run trains in fp16.", source="configuration")
    scaled = _scaled(case)
    if scaled:
        return Seen(True, f"The run scales its loss, as only fp16 needs: {scaled}.")
    if precision is not None:
        return Seen(False, f"The run trains in {precision}, not in fp16.", source="configuration")
    return Seen(None, NOT_KNOWN, source="configuration")


def wide_precision(case: Case) -> Seen:
    """The run computes in a format with the exponent range of fp32."""
    seen = half_precision(case)
    if seen.holds is None or case.config.precision == "fp8":
        return Seen(None, NOT_KNOWN, source="configuration")
    return Seen(not seen.holds, seen.text, source=seen.source)


def float8(case: Case) -> Seen:
    """The run computes in fp8, whose scale factors divide by the largest entry of a row."""
    precision = case.config.precision
    if precision is None:
        return Seen(None, NOT_KNOWN, source="configuration")
    return Seen(precision == "fp8", f"The run trains in {precision}.", source="configuration")


def scale_collapsed(case: Case) -> Seen:
    """The loss scale fell again and again, or reached its minimum."""
    text = case.text_of(TextKind.LOSS_SCALE_MINIMUM)
    if text:
        return Seen(True, "The loss scaler reported that it was at its minimum.", source="text")
    falls = [
        e
        for e in case.episodes_of(EpisodeKind.LOSS_SCALE_COLLAPSE)
        if e.severity is not Severity.INFO
    ]
    if falls:
        first, details = falls[0], falls[0].details
        sizes = [details.get("from_scale"), details.get("to_scale")]
        fell = (
            f" from {number(float(sizes[0]))} to {number(float(sizes[1]))}"
            if sizes[0] is not None and sizes[1] is not None
            else ""
        )
        return Seen(
            True,
            f"The loss scale fell{fell} from {at_step(first.onset_step)}.",
            (first.onset_step,),
        )
    scale = facts.points(case.track(Signal.LOSS_SCALE))
    if scale is None or len(scale) < 2 or float(np.ptp(scale.value)) == 0:
        return Seen(None, "Needs the loss scale of every step.")
    return Seen(False, f"The loss scale stayed at {number(float(scale.value.min()))} or above.")


def steps_skipped(case: Case, few: int = 3) -> Seen:
    """The scaler skipped steps beyond the few that calibrate it."""
    episodes = case.episodes_of(EpisodeKind.SKIPPED_STEPS)
    if episodes:
        share = episodes[0].details.get("share")
        amount = f"{percent(float(share))} of the steps" if share is not None else "steps"
        return Seen(
            True,
            f"The optimizer skipped {amount} for non-finite gradients, first at "
            f"{at_step(episodes[0].onset_step)}.",
            (episodes[0].onset_step,),
        )
    lines = case.text_of(TextKind.OVERFLOW)
    if not lines:
        known = case.track(Signal.SKIPPED_STEPS) or case.track(Signal.LOSS_SCALE)
        return Seen(False if known else None, "No skipped step is on record.")
    late = _beyond_calibration([t.step for t in lines if t.step is not None])
    enough = len(lines) > few and late
    return Seen(enough, f"The log reports {count(len(lines), 'skipped step')}.", source="text")


def _beyond_calibration(steps: list[int], calibration: int = 100) -> bool:
    """True where skips cluster after the first steps: probes of a growing scale stand alone."""
    late = sorted(s for s in steps if s > calibration)
    return not steps or any(b - a <= 20 for a, b in pairwise(late))


def scale_steady(case: Case) -> Seen:
    """The loss scale was logged and did not fall before the failure."""
    seen = scale_collapsed(case)
    if seen.holds is False and _grew(case):
        return NOT_APPLICABLE
    return Seen(None if seen.holds is None else not seen.holds, seen.text, seen.steps)


def _grew(case: Case) -> bool:
    """True where the scale stood at its highest at the onset: what it has grown to is new."""
    held = facts.before(case, Signal.LOSS_SCALE, case.judgement.onset_step, 3)
    return held is not None and bool(held.value[-1] == held.value.max() > held.value[0])


def overflow_traceless(case: Case) -> Seen:
    """Everything an overflow would show in was logged, and none of it does."""
    signs = (scale_collapsed(case).holds, steps_skipped(case).holds)
    if True in signs or case.episodes_of(EpisodeKind.NON_FINITE, EpisodeKind.HIDDEN_NON_FINITE):
        return Seen(False, "Numbers became non-finite or steps were skipped.")
    watched = (Signal.LOSS_SCALE, Signal.SKIPPED_STEPS, Signal.GRAD_NORM)
    if not any(case.track(s) is not None for s in watched):
        return Seen(None, "Needs the loss scale, the skipped steps or the gradient norm.")
    return Seen(
        True,
        "No number became non-finite, no step was skipped, no loss scale collapsed.",
    )


def born_in_bf16(case: Case) -> Seen:
    """A model whose family was pretrained in bf16 is trained in fp16."""
    if not case.config.model or half_precision(case).holds is not True:
        return NOT_APPLICABLE
    born = named_after(case, *_BORN_BF16)
    verb = "comes" if born else "does not come"
    return Seen(
        born,
        f"{case.config.model} {verb} from a family pretrained in bf16.",
        source="configuration",
    )


def norm_follows_scale(case: Case, near: float = 0.4, sure: float = 4.0) -> Seen:
    """The logged gradient norm doubles with the loss scale: it was never unscaled.

    In logarithms its slope is 1, however noisy the norm is; that of an unscaled one is 0, or less
    where overflows halve the scale.
    """
    norm, scale = case.track(Signal.GRAD_NORM), case.track(Signal.LOSS_SCALE)
    if norm is None or scale is None:
        return Seen(None, "Needs the gradient norm and the loss scale of the same steps.")
    if not len(scale) or float(np.ptp(scale.value)) == 0:
        return Seen(None, "Needs a loss scale that changes.")
    _, at, there = np.intersect1d(norm.step, scale.step, return_indices=True)
    pairs = np.column_stack([norm.value[at], scale.value[there]])
    # A scale is logged before or after its update: rows beside a change may show the wrong one.
    changes = np.diff(pairs[:, 1], prepend=pairs[:1, 1], append=pairs[-1:, 1]) != 0
    settled = ~(changes[:-1] | changes[1:])
    pairs = np.log2(pairs[settled & (np.isfinite(pairs) & (pairs > 0)).all(axis=1)])
    if len(pairs) < 16 or float(np.ptp(pairs[:, 1])) < 0.9:
        return Seen(None, "Needs a loss scale that changes.")
    slope, error = _slope(pairs[:, 1], pairs[:, 0])
    follows = abs(slope - 1.0) <= near and slope >= sure * error
    if not follows and slope + 2.0 * error >= 0.5:
        return Seen(None, "Needs a gradient norm that is not so noisy, or more changes of scale.")
    return Seen(
        follows,
        f"With each doubling of the loss scale the gradient norm becomes {number(2.0**slope)} "
        f"times as large.",
    )


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of ``y`` over ``x``, both (n,), by least squares, and its standard error."""
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ y) / spread
    left = y - y.mean() - slope * away
    return slope, float(np.sqrt(left @ left / max(1, len(x) - 2) / spread))


def norm_like_scale(case: Case, factor: float = 100.0) -> Seen:
    """The usual gradient norm is far above the threshold and of the size of the loss scale."""
    usual, scale = facts.usual_gradient(case), facts.points(case.track(Signal.LOSS_SCALE))
    threshold = case.config.clip_threshold
    if usual is None or scale is None or not threshold:
        return Seen(None, "Needs gradient norm, loss scale and clipping threshold.")
    level = float(np.median(scale.value))
    alike = usual >= factor * threshold and level > 1 and 1e-3 <= usual / level <= 1e3
    return Seen(
        alike,
        f"The usual gradient norm is {number(usual)} at a loss scale of {number(level)} and a "
        f"clipping threshold of {number(threshold)}.",
    )


def _scaled(case: Case) -> str:
    """What shows that the loss is scaled, in words; '' where nothing does."""
    scale = facts.points(case.track(Signal.LOSS_SCALE))
    # Megatron prints a loss scale of 1.0 in every format.
    if scale is not None and float(scale.value.max()) > 1:
        return f"its loss scale is up to {number(float(scale.value.max()))}"
    saved = () if case.survey is None else case.survey.checkpoints
    kept = max((c.state.scale or 0.0 for c in saved), default=0.0)
    if kept > 1:
        return f"a checkpoint keeps a loss scale of {number(kept)}"
    if case.text_of(TextKind.OVERFLOW, TextKind.LOSS_SCALE_MINIMUM):
        return "its log reports steps skipped by the scaler"
    return ""


def updates_rounded_away(case: Case, limit: float = 1e-5) -> Seen:
    """Weights in bf16 at a rate so small that an update may be less than a rounding step."""
    whole = facts.flag(case, "pure_bf16", "bf16_full", "full_bf16", "bf16_weights")
    lr = facts.highest_lr(case)
    if case.config.precision != "bf16" or lr is None:
        return NOT_APPLICABLE
    return Seen(
        bool(whole) or lr <= limit,
        f"The run trains in bf16 at a learning rate of {number(lr)}; an update below 1/256 of a "
        "weight is lost where no fp32 copy is kept.",
        source="configuration",
    )


def ready_made_trainer(case: Case) -> Seen:
    """The update is made by a trainer that unscales before it clips."""
    name = (case.config.framework or "").lower()
    if not name:
        return NOT_APPLICABLE
    known = ("transformers", "hugging", "lightning", "deepspeed", "megatron", "mmengine")
    ready = any(part in name for part in known)
    whose = "a ready-made trainer" if ready else "no trainer known to order it rightly"
    return Seen(ready, f"The update is made by {whose} ({name}).", source="configuration")
