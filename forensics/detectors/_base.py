"""What a detector is: a pure function from a timeline to episodes, with its thresholds named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forensics.findings import Episode
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


@dataclass(frozen=True)
class Detector:
    """One kind of finding.

    ``detect(timeline, config, **thresholds)`` returns episodes in step order. Its keyword
    arguments are the thresholds a user may change; their defaults are documented at the function.
    """

    name: str
    needs: tuple[tuple[Signal, ...], ...]
    """Alternatives: it runs where all signals of any one tuple were logged."""
    detect: Callable[..., list[Episode]]
    builds_on_spikes: bool = False
    """``detect`` takes the user's thresholds of ``loss_spike`` as well, as ``rule``."""

    def can_run(self, timeline: Timeline) -> bool:
        """True where the timeline has what the detector needs."""
        logged = {*timeline.tracks, *(t.signal for t in timeline.others)}
        return any(all(s in logged for s in group) for group in self.needs)

    def run(
        self, timeline: Timeline, config: Config, thresholds: Mapping[str, Any]
    ) -> list[Episode]:
        """Run it, or return nothing where its signals were not logged."""
        return self.detect(timeline, config, **thresholds) if self.can_run(timeline) else []
