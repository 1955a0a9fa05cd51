"""Detectors: pure functions from a timeline to episodes, one file each.

``detect_all`` runs each on what was logged. The numbers are signatures §3's, as keyword
arguments of each ``detect`` function, so that a user can change one and look again.
"""

import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from forensics import registry
from forensics.batch_facts import BatchSurvey
from forensics.checkpoint_facts import CheckpointSurvey
from forensics.detectors import plateau
from forensics.detectors._base import Detector
from forensics.detectors._facts import clip_facts, learning_rate_facts
from forensics.detectors._outputs import with_outputs
from forensics.detectors._spikes import SpikeRule
from forensics.errors import UsageError
from forensics.findings import Episode, EpisodeKind, Severity
from forensics.run import Config
from forensics.timeline import Timeline

Thresholds = Mapping[str, Mapping[str, Any]]
"""Detector name -> keyword argument -> value, such as ``{"loss_spike": {"k": 9.0}}``."""

_NOT_OF_THE_USER = {"timeline", "config", "rule"}
"""Arguments of ``detect`` that are no thresholds."""


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Every detector, by name."""
    return tuple(registry.collect(sys.modules[__name__], "DETECTOR"))


def detect_all(
    timeline: Timeline, config: Config, thresholds: Thresholds | None = None
) -> tuple[tuple[Episode, ...], tuple[str, ...]]:
    """Run every detector.

    Returns:
        All episodes in step order, and for each detector that could not run one line that says
        what it would have needed.

    Raises:
        UsageError: ``thresholds`` names a detector or an argument that does not exist.
    """
    chosen = thresholds or {}
    _check(chosen)
    episodes: list[Episode] = []
    skipped: list[str] = []
    for detector in all_detectors():
        if detector.can_run(timeline):
            episodes += detector.run(timeline, config, _thresholds(detector, chosen))
        else:
            needs = " or ".join(" and ".join(group) for group in detector.needs)
            skipped.append(f"{detector.name}: not checked, it needs {needs}, which was not logged")
    kept = [e for e in episodes if not _is_undone(e, episodes)]
    return tuple(sorted(kept, key=lambda e: (e.onset_step, e.kind))), tuple(skipped)


def _is_undone(episode: Episode, episodes: Sequence[Episode]) -> bool:
    """True for a plateau from the start of a loss that fell and climbed back to its level."""
    return (
        episode.kind is EpisodeKind.PLATEAU
        and bool(episode.details["from_start"])
        and any(
            e.kind is EpisodeKind.DIVERGENCE
            and e.severity is Severity.FAILURE
            and e.details["form"] != "from_start"
            for e in episodes
        )
    )


def plateau_again(
    timeline: Timeline,
    config: Config,
    survey: CheckpointSurvey | None,
    batches: BatchSurvey | None,
    thresholds: Thresholds | None = None,
) -> list[Episode]:
    """A plateau that shows only with what checkpoints and batches tell; at most one.

    Args:
        timeline: The run.
        config: Its settings, completed from checkpoints and batches.
        survey: What its checkpoints hold, where there are any.
        batches: What its captured batches hold, where there are any.
        thresholds: As those of `detect_all`.
    """
    detector = next(d for d in all_detectors() if d.name == plateau.DETECTOR.name)
    config = with_outputs(config, survey, timeline)
    found = detector.run(timeline, config, _thresholds(detector, thresholds or {}))
    failed = [e for e in found if e.severity is Severity.FAILURE]
    return failed or plateau.detect_in_batches(timeline, config, batches)


def _thresholds(detector: Detector, chosen: Thresholds) -> Mapping[str, Any]:
    own = chosen.get(detector.name, {})
    if not detector.builds_on_spikes:
        return own
    return {**own, "rule": SpikeRule(**chosen.get("loss_spike", {}))}


def _check(thresholds: Thresholds) -> None:
    known = {d.name: set(inspect.signature(d.detect).parameters) for d in all_detectors()}
    for name, values in thresholds.items():
        if name not in known:
            raise UsageError(f"no detector is called {name!r}; there are {', '.join(known)}")
        for key in values:
            if key not in known[name] - _NOT_OF_THE_USER:
                allowed = sorted(known[name] - _NOT_OF_THE_USER)
                raise UsageError(f"detector {name!r} has no threshold {key!r}; it has {allowed}")


__all__ = [
    "Detector",
    "Thresholds",
    "all_detectors",
    "clip_facts",
    "detect_all",
    "learning_rate_facts",
    "plateau_again",
]
