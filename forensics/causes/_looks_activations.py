"""Looks at logged activations: attention logits and output logits."""

from collections.abc import Callable

import numpy as np

from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._facts import Points, break_onset, points
from forensics.phrasing import number, times
from forensics.signals import Signal


def attention_logits_harmful(case: Case, limit: float = 1e3) -> Seen:
    """The largest attention logit reached 1e3, where the loss suffers (arXiv 2309.14322)."""
    return _highest_above(case, limit)


def attention_logits_watched(case: Case, limit: float = 1e2) -> Seen:
    """The largest attention logit passed 1e2, where QK-clip would act (Kimi K2)."""
    return _highest_above(case, limit)


def _highest_above(case: Case, limit: float) -> Seen:
    top = _highest(case, _is_attention)
    if top is None:
        return Seen(None, "Needs the largest attention logit of each layer.")
    verb = "reached" if top >= limit else "stayed below"
    return Seen(
        top >= limit,
        f"The largest attention logit was {number(top)}; it {verb} {number(limit)}.",
    )


def output_logits_grow(case: Case, factor: float = 3.0) -> Seen:
    """The output logits drifted away from zero."""
    tracks = _of(case, lambda tag: "logit" in tag and not _is_attention(tag))
    if not tracks:
        return Seen(None, "Needs the log-partition (log Z) or the mean output logit.")
    longest = max(tracks, key=len)
    size, onset = np.abs(longest.value), break_onset(case)
    head = max(len(longest) // 20, 1)
    first, last = float(np.median(size[:head])), float(np.median(size[-head:]))
    until = size[longest.step <= onset] if onset is not None else size
    # What grows only after the break follows from it.
    led = float(until[-1]) if len(until) else first
    return Seen(
        last >= factor * max(first, 1.0) and led >= factor**0.5 * max(first, 1.0),
        f"The output logits went from {number(first)} to {number(led)} by the onset and to "
        f"{number(last)} in the end, in size.",
    )


def activations_grow(case: Case, factor: float = 3.0) -> Seen:
    """Some logged activation grew steadily up to the failure."""
    tracks = [t for t in _of(case, lambda _: True) if len(t) >= 8]
    if not tracks:
        return Seen(None, "Needs a norm or a maximum of activations.")
    growth = max(_growth(t) for t in tracks)
    return Seen(growth >= factor, f"A logged activation grew to {times(growth)} its first level.")


def _growth(track: Points) -> float:
    quarter = max(len(track) // 4, 1)
    size = np.abs(track.value)
    first, last = float(np.median(size[:quarter])), float(np.median(size[-quarter:]))
    return last / first if first > 0 else 1.0


def _highest(case: Case, wanted: Callable[[str], bool]) -> float | None:
    return max((float(np.max(t.value)) for t in _of(case, wanted)), default=None)


def _is_attention(tag: str) -> bool:
    return any(part in tag for part in ("attn", "attention", "qk"))


def _of(case: Case, wanted: Callable[[str], bool]) -> list[Points]:
    """Finite points of the activations whose name is wanted."""
    tracks = [case.track(Signal.ACTIVATION), *case.timeline.others]
    found = [
        points(t)
        for t in tracks
        if t is not None and t.signal is Signal.ACTIVATION and wanted(t.tag.lower())
    ]
    return [p for p in found if p is not None]
