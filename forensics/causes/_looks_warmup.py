"""Looks at the warm-up: whether there was one, and where the failure lies on it."""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_schedule import rise_onset
from forensics.phrasing import at_step, number


def onset_around_warmup_end(case: Case, least: int = 10) -> Seen:
    """The failure began as the warm-up ended, or within three times its length."""
    onset, warmup = rise_onset(case), facts.warmup_steps(case)
    if onset is None or not facts.counts_steps(case):
        return NOT_APPLICABLE
    if warmup is None:
        return Seen(None, "Needs the length of the warm-up.")
    around = warmup >= least and 0.7 * warmup <= onset <= 3 * warmup
    return Seen(
        around, f"The failure began at {at_step(onset)}, the warm-up ends at {at_step(warmup)}."
    )


def onset_at_warmup_end(case: Case, least: int = 50, margin: float = 0.1) -> Seen:
    """The failure began within a tenth of the end of the warm-up, where the rate peaks."""
    onset, warmup = rise_onset(case), facts.warmup_steps(case)
    if onset is None or not facts.counts_steps(case):
        return NOT_APPLICABLE
    if warmup is None:
        return Seen(None, "Needs the length of the warm-up.")
    at_end = warmup >= least and abs(onset - warmup) <= margin * warmup + case.timeline.interval
    return Seen(
        at_end,
        f"The warm-up ends at {at_step(warmup)}, the failure began at {at_step(onset)}.",
        (onset,),
    )


def onset_while_rising(case: Case) -> Seen:
    """The failure began while the warm-up was still raising the rate."""
    onset, warmup = rise_onset(case), facts.warmup_steps(case)
    if onset is None or not facts.counts_steps(case):
        return NOT_APPLICABLE
    if warmup is None:
        return Seen(None, "Needs the length of the warm-up.")
    rising = warmup > 1 and onset < 0.7 * warmup
    return Seen(
        rising,
        f"The failure began at {at_step(onset)} of a warm-up of {warmup:,} steps.",
        (onset,),
    )


def warmup_absent(case: Case) -> Seen:
    """Training began at the full rate."""
    warmup = facts.warmup_steps(case)
    if warmup is None:
        return Seen(None, "Needs the learning rate of the first steps, or the warm-up setting.")
    source = "logs" if case.lr is not None else "configuration"
    if warmup > 1:
        return Seen(False, f"The learning rate was warmed up over {warmup:,} steps.", source=source)
    start = f" of {number(case.lr.first)}" if case.lr is not None else ""
    return Seen(
        True, f"Training began at the full learning rate{start}, without warm-up.", source=source
    )


def warmup_short(case: Case, share: float = 0.01, memory_share: float = 0.1) -> Seen:
    """There is a warm-up, but a far shorter one than optimizer and length of run ask for."""
    warmup = facts.warmup_steps(case)
    if warmup is None or warmup <= 1:
        return NOT_APPLICABLE
    asked, total = memory_share * facts.optimizer_memory(case), case.config.total_steps
    if total:
        asked = min(asked, share * total)
    elif case.timeline.last_step < 10 * asked:
        return Seen(None, "Needs the planned length of the run to judge the warm-up.")
    return Seen(
        warmup < asked,
        f"The warm-up lasts {warmup:,} steps; {asked:,.0f} is the least that the optimizer's "
        "memory and the length of the run ask for.",
    )
