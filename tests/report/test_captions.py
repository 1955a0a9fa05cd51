from forensics.report.captions import caption
from forensics.signals import Signal
from tests.report import samples

LOSS = (Signal.TRAIN_LOSS,)


def test_what_was_logged_is_not_called_missing() -> None:
    assert caption(samples.diverged_finetune(), LOSS, 1).notes == ()


def test_what_was_not_logged_is_said() -> None:
    notes = caption(samples.hidden_nan(), LOSS, 1).notes
    assert notes == ("Validation loss and learning rate were not logged.",)


def test_the_key_names_only_marks_that_occur() -> None:
    healthy = {item.text for item in caption(samples.healthy_pretraining(), LOSS, 1).key}
    hidden = {item.text for item in caption(samples.hidden_nan(), LOSS, 1).key}
    assert healthy == {"healthy checkpoint", "not scanned checkpoint"}
    assert hidden == {"onset", "NaN", "infinite", "poisoned checkpoint"}


def test_shared_pixels_are_explained() -> None:
    assert "1,300 points" in caption(samples.healthy_pretraining(), LOSS, 1300).notes[0]


def test_the_uncertain_stretch_of_the_onset_is_told_where_there_is_one() -> None:
    assert "step\u00a0380" in caption(samples.hidden_nan(), LOSS, 1).zoom
    assert "shaded" not in caption(samples.healthy_pretraining(), LOSS, 1).zoom
