"""Which spike of the loss to talk about, and which steps to suspect for it."""

from forensics.case import Case
from forensics.findings import Episode, EpisodeKind
from forensics.signals import Signal

MOST_STEPS = 500
"""PaLM skipped 200 to 500 batches around a spike; more is no longer a suspicion."""


def loss_spikes(case: Case) -> tuple[Episode, ...]:
    """Spikes of the training loss, in step order."""
    found = case.episodes_of(EpisodeKind.LOSS_SPIKE)
    return tuple(e for e in found if e.signal in (Signal.TRAIN_LOSS, Signal.TRAIN_LOSS_EPOCH))


def main_spike(case: Case) -> Episode | None:
    """The decisive spike, else the tallest."""
    decisive, spikes = case.judgement.decisive, loss_spikes(case)
    if decisive is not None and decisive in spikes:
        return decisive
    return max(spikes, key=_height, default=None)


def jump_ratio(spike: Episode) -> float | None:
    """Peak over baseline, where the level is positive."""
    given = spike.details.get("ratio")
    if given is not None:
        return float(given)
    if spike.peak_value is None or not spike.baseline or spike.baseline <= 0:
        return None
    return spike.peak_value / spike.baseline


def spike_points(case: Case, spike: Episode) -> int | None:
    """Logged points that the spike covers."""
    given = spike.details.get("points")
    if given is not None:
        return int(given)
    if spike.recovery_step is None:
        return None
    return max(round((spike.recovery_step - spike.onset_step) / max(case.timeline.interval, 1)), 1)


def non_finite_steps(case: Case, most: int = 20) -> tuple[int, ...]:
    """Steps whose training loss is non-finite, the first ``most`` of them."""
    track = case.track(Signal.TRAIN_LOSS)
    if track is None:
        return ()
    return tuple(int(s) for s in track.step[~track.finite][:most])


def suspect_steps(case: Case) -> tuple[int, ...]:
    """Steps whose batches may have caused the main spike: back to the last good logged point."""
    spike = main_spike(case)
    if spike is None:
        return ()
    first = spike.onset_step if spike.after_step is None else spike.after_step + 1
    return tuple(range(max(first, spike.onset_step - MOST_STEPS + 1), spike.onset_step + 1))


def _height(spike: Episode) -> float:
    return spike.height if spike.height is not None else jump_ratio(spike) or 0.0
