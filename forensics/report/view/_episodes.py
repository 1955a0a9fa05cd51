"""What happened, one row an episode, with the numbers of its kind in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.case import Case
from forensics.findings import Episode
from forensics.quantities import is_better
from forensics.report import names
from forensics.report.names import Tone
from forensics.report.view._folding import Folded, fold
from forensics.report.wording import (
    number,
    one_line,
    percent,
    plural,
    sentence_case,
    stretch,
    unit,
    words,
)
from forensics.run import TextEvidence

Phrase = Callable[[Any], str]


@dataclass(frozen=True)
class EpisodeRow:
    """One thing that happened to one quantity."""

    kind: str
    quantity: str
    onset: str
    peak: str
    recovery: str
    """Step of the recovery, or how it ended without one."""
    severity: str
    tone: Tone
    details: str


@dataclass(frozen=True)
class LogLine:
    """A line of text that proves something by itself."""

    kind: str
    text: str
    place: str


def episodes(case: Case) -> Folded[EpisodeRow]:
    """The episodes, the gravest first, then in step order."""
    order = sorted(case.episodes, key=lambda e: (-_grade(e), e.onset_step))
    return fold(order, _row, "episode", shown=15, limit=500)


def log_lines(case: Case) -> Folded[LogLine]:
    """The lines of text evidence, in file order."""
    return fold(case.run.text, _line, "line", shown=6, limit=200)


def _grade(episode: Episode) -> int:
    return ("info", "warning", "failure").index(episode.severity.value)


def _row(episode: Episode) -> EpisodeRow:
    recovery = episode.recovery_step
    return EpisodeRow(
        kind=sentence_case(names.kind(episode.kind)),
        quantity=names.signal(episode.signal),
        onset=f"{episode.onset_step:,}",
        peak=_peak(episode),
        recovery=names.ending(episode) if recovery is None else f"{recovery:,}",
        severity=episode.severity.value,
        tone=names.severity_tone(episode.severity),
        details=describe(episode),
    )


def _peak(episode: Episode) -> str:
    if episode.peak_step is None:
        return ""
    value = "" if episode.peak_value is None else f"{number(episode.peak_value)} at "
    return f"{value}{episode.peak_step:,}"


def _line(line: TextEvidence) -> LogLine:
    kind = sentence_case(words(line.kind.value))
    return LogLine(kind, one_line(line.text), f"{line.source}:{line.line}")


def describe(episode: Episode) -> str:
    """The numbers particular to the episode's kind, as a list of short phrases."""
    kind = episode.kind.value
    phrases = []
    for key, value in episode.details.items():
        phrase = _PHRASES.get((kind, key)) or _PHRASES.get(("", key))
        if phrase is not None and value is not None:
            phrases.append(_said(phrase, value))
    phrases += [_best(episode.details), _shift(episode)]
    if episode.first_mover is not None and episode.first_mover_step is not None:
        phrases.append(
            f"{names.signal(episode.first_mover)} first, at {episode.first_mover_step:,}"
        )
    return one_line("; ".join(filter(None, phrases)))


def _said(phrase: Phrase, value: Any) -> str:
    try:
        return phrase(value)
    except (TypeError, ValueError):
        return setting_words(value)


def setting_words(value: Any) -> str:
    """A value of an unforeseen type."""
    return one_line(str(value), 80)


def _shift(episode: Episode) -> str:
    before, after = episode.details.get("before"), episode.details.get("after")
    if not isinstance(before, int | float) or not isinstance(after, int | float):
        return ""
    judged = {True: " (better)", False: " (worse)", None: ""}
    better = is_better(episode.signal, before, after)
    return f"{number(before)} before, {number(after)} after{judged[better]}"


def _best(details: Mapping[str, Any]) -> str:
    value, step = details.get("best_value"), details.get("best_step")
    if not isinstance(value, int | float):
        return ""
    return f"best {number(value)}" + (f" at {step:,}" if isinstance(step, int) else "")


def _times(base: str) -> Phrase:
    return lambda value: f"{number(value, 3)} times {base}"


def _flag(yes: str, no: str = "") -> Phrase:
    return lambda value: yes if value else no


def _below(share: float) -> str:
    """How far a level lies from where training began, whichever way."""
    if abs(share) < 0.005:
        return "where it began"
    return f"{percent(abs(share))} {'below' if share > 0 else 'above'} where it began"


_FORMS = {
    "after_spike": "after a spike",
    "drift": "by drifting upwards",
    "from_start": "from the start",
    "jump": "with a jump",
    "gap_from_start": "a gap from the start",
}
_HIDDEN_BY = {
    "nan_filter": "hidden by the logger's NaN filter",
    "negative_grad_norm": "shown as a negative gradient norm",
    "missing_loss": "the loss is left out of the line",
    "guard": "caught by the framework's guard",
}
_PHRASES: Mapping[tuple[str, str], Phrase] = {
    ("", "ratio"): _times("its baseline"),
    ("divergence", "ratio"): _times("its best level at the end"),
    ("lr_jump", "ratio"): _times("the rate before"),
    ("", "points"): lambda value: plural(int(value), "point"),
    ("", "speed"): lambda value: "" if value == "none" else f"{words(str(value))} recovery",
    ("", "recovery_steps"): lambda value: f"back within {stretch(int(value))}",
    ("", "count"): lambda value: plural(int(value), "time"),
    ("consecutive_spikes", "count"): lambda value: plural(int(value), "spike"),
    ("non_finite", "count"): lambda value: plural(int(value), "value"),
    ("skipped_steps", "count"): lambda value: plural(int(value), "step"),
    ("", "escalating"): _flag("each higher than the last"),
    ("", "form"): lambda value: _FORMS.get(str(value), words(str(value))),
    ("", "initial"): lambda value: f"began at {number(value)}",
    ("", "final"): lambda value: f"ends at {number(value)}",
    ("", "last_value"): lambda value: f"ends at {number(value)}",
    ("", "level_name"): str,
    ("", "level"): lambda value: f"level {number(value)}",
    ("", "improvement"): _below,
    ("", "from_start"): _flag("from the start"),
    ("", "kind"): lambda value: {"nan": "NaN", "inf": "infinite"}.get(str(value), str(value)),
    ("", "persistent"): _flag("to the end", "passing"),
    ("", "share"): lambda value: f"{percent(value)} of logged {unit()}s",
    ("overfit", "rise"): lambda value: f"validation up by {percent(value)}",
    ("overfit", "train_fall"): lambda value: f"training down by {percent(value)}",
    ("", "at_start"): _flag("from the first step"),
    ("", "last_finite"): lambda value: f"last finite value {number(value)}",
    ("", "how"): lambda value: _HIDDEN_BY.get(str(value), words(str(value))),
    ("", "shown"): lambda value: f"the log shows {value}",
    ("", "extreme"): _flag("extreme"),
    ("", "threshold"): lambda value: f"threshold {number(value)}",
    ("", "from_scale"): lambda value: f"from {number(value)}",
    ("", "to_scale"): lambda value: f"to {number(value)}",
    ("", "halvings"): lambda value: plural(int(value), "halving"),
    ("", "at_minimum"): _flag("at the minimum"),
    ("", "train_level"): lambda value: f"training at {number(value)}",
    ("", "eval_level"): lambda value: f"validation at {number(value)}",
    ("", "rewound_from"): lambda value: f"rewound from {int(value):,}",
    ("", "lr_before"): lambda value: f"learning rate {number(value)} before",
    ("", "lr_after"): lambda value: f"learning rate {number(value)} after",
    ("", "grad_ratio"): _times("the gradient norm before"),
    ("", "validation_moved"): _flag("validation moved with it", "validation did not move"),
    ("", "at_resume"): _flag("at a resume"),
}
"""(kind, or '' for any; key of `Episode.details`) -> how it is said."""
