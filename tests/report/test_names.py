import pytest

from forensics.causes import _base
from forensics.findings import (
    Ending,
    Episode,
    EpisodeKind,
    Outcome,
    Severity,
    Status,
    Symptom,
)
from forensics.report import names
from forensics.report.names import Tone
from forensics.signals import Signal
from forensics.verdict import CheckpointState


def _ended(
    ending: Ending,
    signal: Signal = Signal.TRAIN_LOSS,
    before: float | None = None,
    after: float | None = None,
) -> Episode:
    levels = {"before": before, "after": after}
    return Episode(EpisodeKind.LEVEL_SHIFT, signal, 5, Severity.INFO, ending, details=levels)


def test_a_level_that_lasts_is_worse_only_where_it_is() -> None:
    said = {
        (Signal.TRAIN_LOSS, 0.57, 0.47): "settled at a better level",
        (Signal.TRAIN_LOSS, 0.47, 0.57): "settled at a worse level",
        (Signal.EVAL_ACCURACY, 0.57, 0.47): "settled at a worse level",
        (Signal.EVAL_ACCURACY, 0.47, 0.57): "settled at a better level",
        (Signal.LR, 1e-3, 1e-2): "settled at a higher level",
        (Signal.GRAD_NORM, 2.0, 1.0): "settled at a lower level",
        (Signal.TRAIN_LOSS, None, None): "settled at another level",
    }
    for (signal, before, after), words in said.items():
        assert names.ending(_ended(Ending.SETTLED, signal, before, after)) == words


def test_every_value_the_tool_can_find_has_words() -> None:
    said = [
        *(names.outcome(o)[0] for o in Outcome),
        *(names.symptom(s) for s in Symptom),
        *(names.checkpoint(s)[0] for s in CheckpointState),
        *(names.ending(_ended(e)) for e in Ending),
        *(names.kind(k) for k in EpisodeKind),
        *(names.signal(s) for s in Signal),
    ]
    assert all(said)
    assert not any("_" in words for words in said)


def test_tones_follow_the_contract() -> None:
    for outcome in Outcome:
        tone = names.outcome(outcome)[1]
        assert (tone is Tone.BAD) == outcome.is_failure
    assert {names.status_tone(s) for s in Status} <= set(Tone)
    assert names.severity_tone(Severity.FAILURE) is Tone.BAD


@pytest.mark.parametrize(
    ("weight", "level", "word"),
    [
        (_base.WEAK, 1, "weak"),
        (-_base.MODERATE, 2, "moderate"),
        (_base.STRONG, 3, "strong"),
        (-_base.DECISIVE, 4, "decisive"),
        (0.01, 1, "weak"),
        (99.0, 4, "decisive"),
        (1.3, 2, "moderate"),
        (1.6, 3, "strong"),
    ],
)
def test_a_weight_is_named_after_the_nearest_strength(weight: float, level: int, word: str) -> None:
    assert names.strength(weight) == (level, word)
