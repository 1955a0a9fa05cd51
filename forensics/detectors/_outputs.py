"""How many classes or tokens a model tells apart, as the shapes of its weights say."""

from dataclasses import replace

from forensics.checkpoint_facts import CheckpointSurvey
from forensics.run import Config
from forensics.signals import Signal
from forensics.timeline import Timeline

TABLES = ("embed", "tok", "wte", "emb.")
"""Words in the names of tables of tokens."""
FIRST = 3
"""Matrices among which the tables are."""
CLASSES = (3, 1_000)
"""Outputs that may be classes; two of them are as often something else."""


def with_outputs(config: Config, survey: CheckpointSurvey | None, timeline: Timeline) -> Config:
    """The settings with the number of tokens or classes filled in where they lack both.

    A table of tokens has as many rows as the last matrix has outputs. Outputs alone are classes
    only where an accuracy was logged.
    """
    if config.vocab_size or config.num_classes or survey is None or not survey.checkpoints:
        return config
    weights = survey.checkpoints[0].weights
    matrices = [w for w in weights if w.role == "param" and len(w.shape) == 2]
    if len(matrices) < 2:
        return config
    last = matrices[-1]
    count = last.shape[0]
    # Tables of positions, and of another language, may come first.
    tables = [m for m in matrices[:FIRST] if m is not last and m.shape == last.shape]
    if tables and count != last.shape[1]:
        return replace(config, vocab_size=count)
    if any(word in matrices[0].name.lower() for word in TABLES):
        return config
    right = (Signal.TRAIN_ACCURACY, Signal.EVAL_ACCURACY)
    classifies = any(signal in timeline.tracks for signal in right)
    if classifies and CLASSES[0] <= count <= CLASSES[1]:
        return replace(config, num_classes=count)
    return config
