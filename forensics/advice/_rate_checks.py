"""The lines of the checklist about the learning rate: its peak, its warm-up, its decay."""

from forensics.advice._levels import planned_updates
from forensics.case import Case
from forensics.phrasing import number, percent
from forensics.signals import Signal
from forensics.timeline import Track
from forensics.verdict import CheckItem

UNKNOWN = "unknown"
FULL_PEAK, LORA_PEAK = (1e-5, 2e-5), (1e-4, 2e-4)
"""Customary peaks of Adam-like optimizers for fine-tuning language models."""
_DECAYING = (
    "cosine",
    "linear",
    "polynomial",
    "exponential",
    "inverse",
    "wsd",
    "step",
    "one",
    "decay",
)
_CONSTANT = ("constant", "none", "fixed")


def schedule(case: Case) -> CheckItem:
    """Whether the rate falls after its peak."""
    advice = "let the rate decay after its peak (cosine, linear or similar)"
    name = (case.config.schedule or "").lower()
    if case.lr is not None:
        fell = case.lr.last < 0.9 * case.lr.peak
        went = (
            "constant" if case.lr.constant else f"{number(case.lr.peak)} to {number(case.lr.last)}"
        )
        found = f"{name}, {went}" if name else went
        # A run cut short before its decay began is judged by what it was set to do.
        return CheckItem(
            "Schedule", advice, found, fell or (not case.lr.constant and _decays(name))
        )
    good = True if _decays(name) else False if name.startswith(_CONSTANT) else None
    return CheckItem("Schedule", advice, name or UNKNOWN, good)


def warmup(case: Case, least: float = 0.01, most: float = 0.2, enough: int = 1000) -> CheckItem:
    """A warm-up of about 3 % of the steps; a thousand steps are enough for any length."""
    advice = "warm up over about 3 % of the steps"
    total = planned_updates(case) or 0
    steps = _warmup_steps(case, total)
    if steps is None:
        return CheckItem("Warm-up", advice, UNKNOWN, None)
    share = steps / total if total else None
    found = f"{steps:,} steps" + ("" if share is None else f", {percent(share)} of the run")
    if steps == 0:
        return CheckItem("Warm-up", advice, "none", False)
    good = None if share is None else share <= most and (share >= least or steps >= enough)
    return CheckItem("Warm-up", advice, found, good)


def peak_rate(case: Case) -> CheckItem:
    """The peak, where the run is known to fine-tune a language model with Adam or its kin."""
    peak = case.config.lr_peak if case.lr is None else case.lr.peak
    found = UNKNOWN if peak is None else number(peak)
    customary = _customary_peak(case)
    advice = (
        f"{_span(FULL_PEAK)} for full fine-tuning of a language model, {_span(LORA_PEAK)} for LoRA"
    )
    if peak is None or customary is None:
        return CheckItem("Peak learning rate", advice, found, None)
    return CheckItem("Peak learning rate", advice, found, peak <= customary[1] * 1.001)


def _warmup_steps(case: Case, total: int) -> int | None:
    config = case.config
    if config.warmup_steps:
        return config.warmup_steps
    if config.warmup_ratio:
        return round(config.warmup_ratio * total)
    track = case.track(Signal.LR)
    if case.lr is not None and (case.lr.warmup_steps or _seen_from_start(track)):
        return case.lr.warmup_steps
    return 0 if config.warmup_steps == 0 or config.warmup_ratio == 0 else None


def _seen_from_start(track: Track | None, latest: int = 5) -> bool:
    """A rate first logged at step 50 does not tell whether it rose over the first 49."""
    return track is not None and len(track) > 0 and int(track.step[0]) <= latest


def _customary_peak(case: Case) -> tuple[float, float] | None:
    config = case.config
    adaptive = any(
        name in (config.optimizer or "").lower() for name in ("adam", "lion", "adafactor")
    )
    if not adaptive or (config.vocab_size is None and config.seq_len is None):
        return None
    if config.lora:
        return LORA_PEAK
    return FULL_PEAK if config.pretrained and config.lora is False else None


def _decays(name: str) -> bool:
    return name != "" and not name.startswith(_CONSTANT) and any(d in name for d in _DECAYING)


def _span(bounds: tuple[float, float]) -> str:
    return f"{number(bounds[0])} to {number(bounds[1])}"
