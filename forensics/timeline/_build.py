"""Builds the timeline: one track per quantity, chosen among everything that was logged."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from forensics.run import Axis, Run, Series, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline._attempts import Resolved, resolve, untouched
from forensics.timeline._axes import on_common_axis
from forensics.timeline._choice import fitness, is_rate, stand_in, without_means, without_measures
from forensics.timeline._totals import with_totals
from forensics.timeline._values import Attempt, Resume, Timeline, Track

MAIN_SIGNALS = (Signal.TRAIN_LOSS, Signal.EVAL_LOSS, Signal.GRAD_NORM, Signal.LR)


def build(run: Run) -> Timeline:
    """Resolve a run's series into a timeline; an empty run gives an empty one."""
    series, axis = on_common_axis(run.series)
    groups = without_means(without_measures(with_totals(_by_signal_and_tag(series))))
    tracks: dict[Signal, Track] = {}
    others: list[Track] = []
    superseded: list[Track] = []
    seams: dict[Signal, tuple[list[Series], Resolved]] = {}
    said = _resumed_at(run.text)
    for signal, candidates in groups.items():
        joined = [_join(signal, parts, said) for parts in candidates.values()]
        rivals = [j[0] for j in joined]
        best = max(joined, key=lambda j: fitness(j[0], rivals))
        main, lost, parts, resolved = best
        superseded += lost
        others += [t for t in rivals if t is not main]
        if signal in _MANY:
            others.append(main)
            continue
        tracks[signal] = main
        seams[signal] = (parts, resolved)
    stand_in(tracks)
    return _assemble(tracks, others, superseded, seams, axis)


_MANY = frozenset({Signal.LOSS_COMPONENT, Signal.GRAD_NORM_PARAM, Signal.OTHER, Signal.RL})
"""Quantities of which a run logs many at a time: none of them stands for the others."""


def _by_signal_and_tag(series: Sequence[Series]) -> dict[Signal, dict[str, list[Series]]]:
    groups: dict[Signal, dict[str, list[Series]]] = defaultdict(lambda: defaultdict(list))
    told = any(one.signal is Signal.LR for one in series)
    for one in series:
        signal = Signal.LR if not told and is_rate(one) else one.signal
        if signal is not Signal.IGNORED and len(one.step):
            groups[signal][one.tag].append(one)
    return groups


def _resumed_at(text: Iterable[TextEvidence]) -> tuple[int, ...]:
    """The steps at which the log says that it went on from a checkpoint."""
    said = (t.step for t in text if t.kind is TextKind.RESUMED)
    return tuple(sorted({step for step in said if step is not None}))


def _join(
    signal: Signal, parts: list[Series], said: tuple[int, ...] = ()
) -> tuple[Track, list[Track], list[Series], Resolved]:
    whole = len(parts) == 1 and bool(np.all(np.diff(parts[0].step) > 0))
    step = parts[0].step if whole else np.concatenate([p.step for p in parts])
    value = parts[0].value if whole else np.concatenate([p.value for p in parts])
    wall = parts[0].wall_time if whole else _walls(parts)
    edges = np.searchsorted(step, said, side="right") if whole else _edges(parts)
    inner = tuple(int(e) for e in edges if 0 < e < len(step))
    resolved = resolve(step, inner) if inner or not whole else untouched(len(step))

    def track(positions: np.ndarray | slice) -> Track:
        return Track(
            signal,
            parts[0].tag,
            parts[-1].source,
            step[positions],
            value[positions],
            None if wall is None else wall[positions],
            parts[0].axis,
            parts[0].digits,
        )

    kept = slice(None) if whole else resolved.kept
    return track(kept), [track(p) for p in resolved.superseded], parts, resolved


def _edges(parts: list[Series]) -> NDArray[np.intp]:
    """Where the second piece begins, and each that follows."""
    return np.cumsum([len(p.step) for p in parts])[:-1]


def _walls(parts: list[Series]) -> np.ndarray | None:
    if all(p.wall_time is None for p in parts):
        return None
    unknown = [np.full(len(p.step), np.nan) if p.wall_time is None else p.wall_time for p in parts]
    return np.concatenate(unknown)


def _assemble(
    tracks: dict[Signal, Track],
    others: list[Track],
    superseded: list[Track],
    seams: dict[Signal, tuple[list[Series], Resolved]],
    axis: Axis,
) -> Timeline:
    every = [*tracks.values(), *others]
    if not every:
        return Timeline()
    main = next((tracks[s] for s in MAIN_SIGNALS if s in tracks), every[0])
    attempts, resumes = _attempts(
        main, seams.get(main.signal) or seams.get(Signal.TRAIN_LOSS_EPOCH)
    )
    return Timeline(
        tracks=tracks,
        others=tuple(others),
        attempts=attempts,
        resumes=resumes,
        superseded=tuple(superseded),
        first_step=int(min(t.step[0] for t in _losses(tracks) or every)),
        last_step=int(max(t.step[-1] for t in every)),
        interval=main.interval,
        axis=axis,
    )


def _losses(tracks: dict[Signal, Track]) -> list[Track]:
    """What a run begins with: settings and the epoch may be written at step 0 before it."""
    return [tracks[s] for s in (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH) if s in tracks]


def _attempts(
    main: Track, seam: tuple[list[Series], Resolved] | None
) -> tuple[tuple[Attempt, ...], tuple[Resume, ...]]:
    first = Attempt(0, int(main.step[0]), int(main.step[-1]), main.source)
    if seam is None or not seam[1].starts:
        return (first,), ()
    parts, resolved = seam
    step = np.concatenate([p.step for p in parts])
    owner = np.repeat(np.arange(len(parts)), [len(p.step) for p in parts])
    walls = _walls(parts)
    starts = [0, *(at for at, _ in resolved.starts)]
    ends = [*starts[1:], len(step)]
    attempts = tuple(
        Attempt(
            number,
            int(step[a]),
            int(step[a:b].max()),
            parts[owner[a]].source,
            None if walls is None or not np.isfinite(walls[a]) else float(walls[a]),
        )
        for number, (a, b) in enumerate(zip(starts, ends, strict=True))
    )
    resumes = tuple(
        Resume(int(step[at]), rewound, number)
        for number, (at, rewound) in enumerate(resolved.starts, start=1)
    )
    return attempts, resumes
