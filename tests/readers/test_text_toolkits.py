"""Lines of toolkits that have their own way to say where they are, and what failed."""

import math
from pathlib import Path

from tests.readers.text_logs import read, shown

_ESPNET = (
    "[n1] 2026-01-01 10:00:0{s},580 (trainer:77{s}) INFO: {e}epoch:train:{a}-{b}batch: "
    "iter_time=1.2e-04, loss_ctc=39.1, acc=0.07, loss={loss}, optim0_lr0=4.000e-04\n"
)
_RESULTS = (
    "[n1] 2026-01-01 10:00:09,580 (trainer:767) INFO: {e}epoch results: [train] iter_time=1.2e-04, "
    "loss=2.500, total_count=40, [valid] loss_ctc=3.0, loss={loss}, total_count=6\n"
)


def _espnet() -> str:
    text = ""
    for epoch in (1, 2):
        for k in (0, 1):
            loss = f"{5 - epoch - k * 0.5:.3f}"
            text += _ESPNET.format(s=k, e=epoch, a=20 * k + 1, b=20 * k + 20, loss=loss)
        text += _RESULTS.format(e=epoch, loss=f"{4 - epoch}.000")
    return text


def test_espnet_counts_batches_anew_in_each_epoch(tmp_path: Path) -> None:
    found = shown(read(tmp_path, _espnet()))
    assert found["loss"] == ([20, 40, 60, 80], [4.0, 3.5, 3.0, 2.5])
    assert found["val loss"] == ([40, 80], [3.0, 2.0])
    assert found["optim0_lr0"][0] == [20, 40, 60, 80]


def test_the_line_number_of_a_logger_and_a_bracketed_word_are_no_quantities(tmp_path: Path) -> None:
    found = shown(read(tmp_path, _espnet()))
    assert "trainer" not in found
    assert not any("]" in tag for tag in found)


def test_fairseq_validates_at_the_update_that_it_tells(tmp_path: Path) -> None:
    lines = [
        f'train_inner | {{"epoch": 1, "loss": "{6 - n / 100}", "num_updates": "{n}"}}'
        for n in (100, 140)
    ]
    lines += ['valid | {"epoch": 1, "valid_loss": "4.0", "valid_num_updates": "150"}']
    text = "\n".join(f"2026-01-01 10:00:00 | INFO | {line}" for line in lines)
    assert shown(read(tmp_path, text + "\n"))["valid_loss"] == ([150], [4.0])


def test_composer_tells_its_rate_below_the_batch(tmp_path: Path) -> None:
    text = "".join(
        f"[batch={n}/50]:\n\t Train trainer/device_train_microbatch_size: 16\n"
        f"\t Train loss/train/total: {4 - n / 10}\n\t Train lr-DecoupledAdamW/group0: {n}e-05\n"
        for n in (5, 10, 15)
    )
    found = shown(read(tmp_path, text))
    assert found["lr-DecoupledAdamW/group0"] == ([5, 10, 15], [5e-5, 10e-5, 15e-5])
    assert found["loss/train/total"][0] == [5, 10, 15]


def _stopped(last: str) -> str:
    rows = "".join(f"iter: {n}  total_loss: 2.0  loss_cls: 1.5  lr: 0.01\n" for n in (19, 39, 59))
    return f"{rows}FloatingPointError: Loss became infinite or NaN at iteration=67!\n{last}\n"


def test_a_dictionary_of_settings_below_a_guard_is_no_row(tmp_path: Path) -> None:
    found = shown(read(tmp_path, _stopped("config = {'depth': 3, 'width': 4.0}")))
    assert found["loss_cls"][0] == [19, 39, 59]
    assert "depth" not in found


def test_the_losses_that_a_guard_prints_stand_at_the_step_that_it_names(tmp_path: Path) -> None:
    found = shown(read(tmp_path, _stopped("loss_dict = {'loss_cls': 1.8, 'loss_box_reg': inf}")))
    assert found["loss_cls"] == ([19, 39, 59, 67], [1.5, 1.5, 1.5, 1.8])
    assert found["loss_box_reg"] == ([67], [math.inf])


def test_losses_printed_as_tensors_are_read(tmp_path: Path) -> None:
    line = "{'loss_classifier': tensor(nan, device='cuda:0'), 'loss_box': tensor(0.25)}"
    found = shown(read(tmp_path, _stopped(line)))
    assert math.isnan(found["loss_classifier"][1][0])
    assert found["loss_box"] == ([67], [0.25])
