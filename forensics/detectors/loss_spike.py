"""Loss spikes: the training loss leaves its band upward (signatures §3)."""

from forensics.detectors._base import Detector
from forensics.detectors._spikes import SpikeRule, find_spikes
from forensics.findings import Episode
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline


def detect(
    timeline: Timeline,
    config: Config,
    *,
    k: float = 7.0,
    window: int = 128,
    short_k: float = 8.0,
    short_window: int = 32,
    floor: float = 0.005,
    early_rise: float = 0.4,
    merge_steps: float = 10.0,
    fast_steps: int = 50,
    slow_steps: int = 2_000,
    slow_points: int = 20,
    slow_share: float = 0.25,
    mild: float = 0.05,
) -> list[Episode]:
    """Find spikes of the training loss.

    Args:
        timeline: The run.
        config: Not used.
        k: Height of the band in robust standard deviations (OLMo 2: 7).
        window: In-band points that make the baseline (OLMo-core: 128).
        short_k: The same below 300 points.
        short_window: The same below 300 points.
        floor: Least standard deviation as a share of the level.
        early_rise: Rise over the level so far that counts before there is a baseline.
        merge_steps: Flags at most this far apart are one event (10, or two log intervals).
        fast_steps: A recovery within this many steps is fast (BLOOM: about 30).
        slow_steps: Beyond this, and beyond ``slow_points`` log intervals and ``slow_share`` of the
            steps so far, a spike above where training began did not recover, even if the loss
            came down later.
        slow_points: See ``slow_steps``.
        slow_share: See ``slow_steps``.
        mild: Rises below this share of the level are noise in a quiet log, not spikes.
    """
    rule = SpikeRule(
        k,
        window,
        short_k,
        short_window,
        floor,
        early_rise,
        merge_steps,
        fast_steps,
        slow_steps,
        slow_points,
        slow_share,
        mild,
    )
    return list(find_spikes(timeline, rule))


DETECTOR = Detector("loss_spike", ((Signal.TRAIN_LOSS,),), detect)
