"""Whether a log ends before training has begun in earnest."""

from forensics.detectors._facts import learning_rate_facts
from forensics.run import Axis, Config, Steps
from forensics.timeline import Timeline


def warming_up(timeline: Timeline, config: Config, step: Steps) -> bool:
    """True where the log ends within the warm-up or in the first 2 % of the planned run."""
    facts = learning_rate_facts(timeline)
    if facts is not None and facts.peak > 0 and facts.peak_step >= 0.9 * timeline.last_step:
        return not facts.constant
    if timeline.axis is Axis.EPOCH:
        return False
    planned = config.total_steps
    if config.warmup_steps is not None and int(step[-1]) <= config.warmup_steps:
        return True
    return planned is not None and int(step[-1]) < 0.02 * planned
