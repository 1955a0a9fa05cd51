"""What is left of a run: format, interval and quantities, drawn apart from what was trained."""

import random
from dataclasses import asdict, dataclass
from typing import Any

FORMATS = {
    ("tuning", "loop"): ("csv", "jsonl", "tensorboard", "text_iter", "text_pairs"),
    ("measured", "loop"): ("tensorboard", "csv_wide", "json", "text_bars", "text_equals", "jsonl"),
    ("tuning", "hf"): ("hf_state", "hf_state_and_text"),
    ("measured", "hf"): ("hf_text", "hf_state", "hf_tensorboard"),
    ("tuning", "lightning"): ("lightning_csv",),
    ("measured", "lightning"): ("lightning_csv", "lightning_tensorboard"),
}
INTERVALS = {"tuning": (1, 2, 5, 10), "measured": (1, 3, 10, 20, 50)}
CONFIGS = {
    "tuning": ("yaml", "json", "json", None),
    "measured": ("json", "yaml", "argparse", "flags", None),
}
FEWEST_POINTS = 25
"""Logged points that a run keeps at least, whatever interval was drawn."""


@dataclass(frozen=True)
class Logged:
    """What one run leaves."""

    format: str
    interval: int
    """Steps between logged points."""
    mean: bool
    """True: the mean since the last point; False: the loss of that very step."""
    grad_norm: bool
    lr: bool
    checkpoints: int
    """Number of them over the run."""
    batches: bool
    config: str | None

    def as_dict(self) -> dict[str, Any]:
        """For ``truth.json``."""
        return asdict(self)


def draw(part: str, engine: str, steps: int, rng: random.Random) -> Logged:
    """What a run of ``steps`` steps leaves, drawn from what this part may leave."""
    fitting = [n for n in INTERVALS[part] if steps / n >= FEWEST_POINTS] or [1]
    return Logged(
        format=rng.choice(FORMATS[part, engine]),
        interval=rng.choice(fitting),
        mean=rng.random() < 0.5,
        grad_norm=rng.random() < 0.75,
        lr=rng.random() < 0.75,
        checkpoints=rng.choice((0, 3, 5, 8)),
        batches=rng.random() < 0.5,
        config=rng.choice(CONFIGS[part]),
    )
