"""Onset, peaks, recoveries and resumes: what is marked over the panels."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from forensics.case import Case
from forensics.findings import Episode, Outcome, Severity
from forensics.report import names
from forensics.report.figures._labels import ROWS, LabelRows
from forensics.report.figures._style import BAD, GOOD, MUTED, WARN, Size
from forensics.report.wording import number
from forensics.signals import Signal

_LABELLED = 3
_RESUMES = 6
_RING, _TICK = 8, 3
"""Pixels that a ring and a tick take."""
_TO_PANEL = -0.8
"""Lower end of a label's stroke, in heights of the lane: down to the first panel's top edge."""


@dataclass(frozen=True)
class Mark:
    """One step that is marked across all panels."""

    step: int
    label: str
    colour: str
    dashes: tuple[float, float] | None
    importance: int
    across: bool = True
    """False: a tick above the panels only."""


def choose_marks(case: Case, size: Size) -> list[Mark]:
    """Onset, resumes and the recoveries from the gravest episodes, the most important first."""
    marks = [*_onset(case, size), *_resumes(case), *_recoveries(case)]
    return sorted(marks, key=lambda mark: (mark.importance, mark.step))


def _recoveries(case: Case) -> list[Mark]:
    """Of a run that failed, recoveries from earlier trouble are beside the point."""
    least = Severity.FAILURE if case.judgement.outcome.is_failure else Severity.WARNING
    grades = list(Severity)[list(Severity).index(least) :]
    back = [e for e in case.episodes if e.recovery_step is not None and e.severity in grades]
    steps = [e.recovery_step or 0 for e in sorted(back, key=_gravity)[:_LABELLED]]
    return [Mark(step, f"recovered {step:,}", GOOD, (4, 2), 2) for step in steps]


def _onset(case: Case, size: Size) -> list[Mark]:
    step, mover = case.judgement.onset_step, case.judgement.first_mover
    if step is None or case.judgement.outcome is Outcome.HEALTHY:
        return []
    told = size.ticks > 4 and mover is not None and mover is not Signal.TRAIN_LOSS
    first = f", {names.signal(mover)} first" if told and mover is not None else ""
    return [Mark(step, f"onset {step:,}{first}", BAD, None, 0)]


def _resumes(case: Case) -> list[Mark]:
    resumes = case.timeline.resumes
    if len(resumes) <= _RESUMES:
        return [Mark(r.step, f"resume {r.step:,}", MUTED, (1.5, 2), 1) for r in resumes]
    first = f"resume {resumes[0].step:,}, first of {len(resumes)}"
    return [
        Mark(r.step, "" if n else first, MUTED, None, 1, across=False)
        for n, r in enumerate(resumes)
    ]


def draw_marks(
    lane: Axes, panels: Sequence[Axes], marks: list[Mark], view: tuple[float, float], size: Size
) -> None:
    """Draw a line through every panel for each mark, and its label where there is room for it.

    Resumes by the dozen are ticks in the lane alone: their lines would hide what they mark.
    """
    labels = LabelRows(view, size)
    ticks: set[int] = set()
    for mark in marks:
        if not view[0] <= mark.step <= view[1]:
            continue
        dashes = "-" if mark.dashes is None else (0, mark.dashes)
        column = int((mark.step - view[0]) / (view[1] - view[0]) * size.columns / _TICK)
        if not mark.across and column not in ticks:
            ticks.add(column)
            ends = [_TO_PANEL, _TO_PANEL / 2]
            lane.plot([mark.step] * 2, ends, color=mark.colour, lw=1, clip_on=False)
        for axes in panels if mark.across else ():
            axes.axvline(mark.step, color=mark.colour, lw=1.1, zorder=1.5, ls=dashes, alpha=0.75)
        row = labels.row(mark)
        if row is not None:
            _draw_label(lane, mark, (row + 0.5) / ROWS, labels.flipped(mark), size)


def _draw_label(lane: Axes, mark: Mark, height: float, flipped: bool, size: Size) -> None:
    lane.plot(
        [mark.step] * 2,
        [_TO_PANEL, height],
        color=mark.colour,
        lw=1.1,
        clip_on=False,
        ls="-" if mark.dashes is None else (0, mark.dashes),
        alpha=0.75,
    )
    lane.annotate(
        mark.label,
        (mark.step, height),
        xytext=(-4 if flipped else 4, 0),
        va="center",
        textcoords="offset points",
        ha="right" if flipped else "left",
        color=mark.colour,
        fontsize=size.font - 0.5,
    )


def shade_onset(panels: Sequence[Axes], case: Case) -> None:
    """The onset lies between two logged points: shade what lies between them."""
    onset, after = case.judgement.onset_step, case.judgement.after_step
    if onset is not None and after is not None and after < onset:
        for axes in panels:
            axes.axvspan(after, onset, color=BAD, alpha=0.12, lw=0)


def draw_peaks(
    axes: Axes, signals: set[Signal], case: Case, view: tuple[float, float], size: Size
) -> None:
    """Ring the peaks of the episodes of a panel, the gravest where they crowd; label three."""
    column = (view[1] - view[0]) / size.columns * _RING
    rings: dict[int, Episode] = {}
    for episode in sorted(case.episodes, key=_gravity):
        if episode.signal in signals and _visible(episode, view):
            rings.setdefault(int((episode.peak_step or 0) / column), episode)
    all_mild = all(e.severity is Severity.INFO for e in case.episodes)
    labelled: list[int] = []
    for episode in rings.values():
        step = episode.peak_step or 0
        grave = episode.severity is not Severity.INFO or all_mild
        free = all(abs(step - other) > 10 * column for other in labelled)
        label = grave and free and len(labelled) < (_LABELLED if size.ticks > 4 else 1)
        labelled += [step] if label else []
        _draw_peak(axes, episode, view, size, label=label)


def _draw_peak(
    axes: Axes, episode: Episode, view: tuple[float, float], size: Size, label: bool
) -> None:
    step, value = float(episode.peak_step or 0), float(episode.peak_value or 0.0)
    colour = WARN if episode.severity is Severity.INFO else BAD
    axes.plot(step, value, marker="o", ms=6, mfc="none", mec=colour, mew=1.3, zorder=4)
    if label:
        right = (step - view[0]) / (view[1] - view[0]) > 0.8
        axes.annotate(
            f"peak {number(value, 3)}",
            (step, value),
            xytext=(-4, 6) if right else (7, 1),
            va="bottom" if right else "center",
            ha="right" if right else "left",
            textcoords="offset points",
            color=colour,
            fontsize=size.font - 1,
        )


def _gravity(episode: Episode) -> tuple[int, float, int]:
    grade = list(Severity).index(episode.severity)
    return -grade, -(episode.height or 0.0), episode.onset_step


def _visible(episode: Episode, view: tuple[float, float]) -> bool:
    step, value = episode.peak_step, episode.peak_value
    if step is None or value is None or not abs(value) < 1e290:
        return False
    return view[0] <= step <= view[1]
