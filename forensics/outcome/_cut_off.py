"""Logs that end within a spike: too early to see it come back, too high to wait for that."""

from collections.abc import Sequence

import numpy as np

from forensics.findings import Ending, Episode, EpisodeKind, Judgement, Outcome, Symptom
from forensics.outcome._chain import judgement
from forensics.phrasing import at_step
from forensics.signals import Signal
from forensics.timeline import Timeline

FAR_ABOVE = 5.0
"""Times the level before. A hard batch as the very last logged point is rarely so far off."""
FIRST_SHARE = 0.02
"""Share of the points whose median stands for where training began."""


def cut_off(timeline: Timeline, episodes: Sequence[Episode]) -> Judgement | None:
    """The log ends many times above its level, at or above where training began."""
    track = timeline.get(Signal.TRAIN_LOSS)
    if track is None or not track.finite.any():
        return None
    value = track.value[track.finite]
    first = float(np.median(value[: max(1, int(len(value) * FIRST_SHARE))]))
    last = float(value[-1])
    for spike in episodes:
        if (
            spike.kind is EpisodeKind.LOSS_SPIKE
            and spike.signal is Signal.TRAIN_LOSS
            and spike.ending in (Ending.CENSORED, Ending.DIVERGED)
            and spike.baseline is not None
            and last >= max(first, FAR_ABOVE * spike.baseline)
            and spike.baseline > 0
        ):
            reason = (
                f"the loss left its band at {at_step(spike.onset_step)} and the log ends at "
                f"{last:.4g}, {last / spike.baseline:.4g} times its level; training began at "
                f"{first:.4g}"
            )
            outcome, symptom = Outcome.DIVERGED, Symptom.SPIKE_NEVER_RECOVERS
            return judgement(outcome, symptom, episodes, spike, spike.onset_step, reason)
    return None
