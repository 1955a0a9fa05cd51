"""Which steps' batches are under suspicion."""

from collections.abc import Iterable, Iterator
from math import ceil

import numpy as np

from forensics.findings import Episode, EpisodeKind, Judgement, Outcome
from forensics.signals import Signal
from forensics.timeline import Timeline

EVENTS = (
    EpisodeKind.LOSS_SPIKE,
    EpisodeKind.CONSECUTIVE_SPIKES,
    EpisodeKind.GRADIENT_SPIKE,
    EpisodeKind.NON_FINITE,
    EpisodeKind.HIDDEN_NON_FINITE,
)
MOST_BACK = 500
"""PaLM skipped 200 to 500 batches around a spike; more is no longer a suspicion."""


def suspect_steps(
    timeline: Timeline, episodes: Iterable[Episode], judgement: Judgement
) -> frozenset[int]:
    """The steps from the last good logged point, itself included, to each event.

    The last good step is among them because its batch made the update that the next loss shows. A
    process that died did so after the last step that it logged.
    """
    found: set[int] = set()
    if judgement.onset_step is not None:
        found.update(_back(judgement.onset_step, judgement.after_step))
        if judgement.outcome is Outcome.CRASHED:
            onset = judgement.onset_step
            found.update(range(onset, onset + min(ceil(timeline.interval), MOST_BACK) + 1))
    for episode in episodes:
        if episode.kind in EVENTS:
            found.update(_back(episode.onset_step, episode.after_step))
            found.update(int(s) for s in episode.details.get("steps", ()))
    found.update(_broke(timeline))
    return frozenset(found)


def _back(onset: int, after: int | None) -> range:
    first = onset - 1 if after is None else after
    return range(max(first, onset - MOST_BACK), onset + 1)


def _broke(timeline: Timeline) -> Iterator[int]:
    """Steps at which the loss ceased to be finite; what follows may be their doing."""
    track = timeline.get(Signal.TRAIN_LOSS)
    if track is None or not len(track):
        return
    before = np.concatenate([[True], track.finite[:-1]])
    for at in np.flatnonzero(~track.finite & before)[:50]:
        step = int(track.step[at])
        yield from _back(step, int(track.step[at - 1]) if at else step - 1)
