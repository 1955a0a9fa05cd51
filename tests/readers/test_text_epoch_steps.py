# ruff: noqa: E501 - the lines of logs are long
"""Dictionaries that tell only a fraction of an epoch."""

from pathlib import Path

from forensics.run import Axis, TextKind
from tests.readers.text_logs import kinds, read, shown


def row(step: int, per_epoch: int, loss: str = "2.5", quote: str = "") -> str:
    q = quote
    epoch = f"{step / per_epoch:.4g}" if quote else f"{round(step / per_epoch, 2)}"
    return f"{{'loss': {q}{loss}{q}, 'grad_norm': {q}nan{q}, 'learning_rate': {q}4.9e-05{q}, 'epoch': {q}{epoch}{q}}}"


def bar(n: int, total: int) -> str:
    return f"\r{100 * n // total:3d}%|{'█' * (10 * n // total):10}| {n}/{total} [00:05<00:45,  2.00it/s]"


def with_bars(steps: range, total: int, per_epoch: int, quote: str = "") -> str:
    """As tqdm leaves it: the bar is wiped, the dictionary printed, the bar drawn anew."""
    return "".join(
        f"{bar(s - 1, total)}{' ' * 46}\r{row(s, per_epoch, quote=quote)}\n{bar(s, total)}"
        for s in steps
    )


def test_without_bars_and_settings_rows_are_counted(tmp_path: Path) -> None:
    reading = read(tmp_path, "".join(row(s, 77) + "\n" for s in range(5, 100, 5)))
    (loss,) = (s for s in reading.series if s.tag == "loss")
    assert loss.axis is Axis.ROW
    assert loss.step.tolist() == list(range(1, 20))
    assert {s.axis for s in reading.series} == {Axis.ROW}


def test_bars_that_do_not_agree_with_the_epochs_are_not_believed(tmp_path: Path) -> None:
    late = "".join(
        row(s, 16) + "\n" + bar(s + (40 if s > 8 else 0), 60) + "\r" for s in range(1, 17)
    )
    (loss,) = (s for s in read(tmp_path, late).series if s.tag == "loss")
    assert loss.axis is Axis.ROW


def test_the_bar_drawn_after_a_dictionary_tells_its_step(tmp_path: Path) -> None:
    for quote in ("", "'"):
        reading = read(tmp_path, with_bars(range(10, 101, 10), 300, 100, quote))
        steps, values = shown(reading)["loss"]
        assert steps == list(range(10, 101, 10))
        assert values == [2.5] * 10
        assert shown(reading)["grad_norm"][0] == steps


def test_a_bar_glued_to_its_dictionary_is_told_from_it(tmp_path: Path) -> None:
    before = "".join(bar(s, 300).strip("\r") + row(s, 100) + "\n" for s in range(10, 101, 10))
    after = "".join(row(s, 100) + bar(s, 300).strip("\r") + "\n" for s in range(10, 101, 10))
    for text in (before, after):
        assert shown(read(tmp_path, text))["loss"] == (list(range(10, 101, 10)), [2.5] * 10)


def test_evaluation_and_final_rows_find_their_place(tmp_path: Path) -> None:
    text = with_bars(range(4, 17, 4), 32, 16)
    text += "\n\r  0%|          | 0/8 [00:00<?, ?it/s]\x1b[A\n\r100%|██████████| 8/8 [00:00<00:00, 74.42it/s]\x1b[A"
    text += (
        "\r     \r\n\r    \r\x1b[A{'eval_loss': 4.134, 'eval_runtime': 0.1245, 'epoch': 1.0}\n"
        + bar(16, 32)
    )
    text += with_bars(range(20, 33, 4), 32, 16)
    text += "\r    \r{'train_runtime': 4.99, 'train_samples_per_second': 38.48, 'train_loss': 4.135, 'epoch': 2.0}\n"
    reading = read(tmp_path, text)
    found = shown(reading)
    assert found["loss"][0] == list(range(4, 33, 4))
    assert found["eval_loss"] == ([16], [4.134])
    assert found["train_loss (run mean)"] == ([32], [4.135])
    assert "train_loss" not in found
    assert TextKind.RUN_FINISHED in kinds(reading)


def test_what_transformers_prints_first_gives_the_steps(tmp_path: Path) -> None:
    text = (
        "***** Running training *****\n  Num examples = 1,600\n  Num Epochs = 3\n"
        "  Instantaneous batch size per device = 4\n"
        "  Total train batch size (w. parallel, distributed & accumulation) = 16\n"
        "  Gradient Accumulation steps = 4\n  Total optimization steps = 300\n"
    )
    reading = read(tmp_path, text + "".join(row(s, 100) + "\n" for s in range(10, 301, 10)))
    assert shown(reading)["loss"][0] == list(range(10, 301, 10))
    assert reading.settings["max_steps"] == 300
    assert reading.settings["gradient_accumulation_steps"] == 4
    assert TextKind.RUN_STARTED in kinds(reading)


def test_the_logging_interval_alone_gives_the_steps(tmp_path: Path) -> None:
    text = "python train.py --logging_steps 25 --learning_rate 5e-5\n"
    reading = read(tmp_path, text + "".join(row(s, 5000) + "\n" for s in range(25, 501, 25)))
    assert shown(reading)["loss"][0] == list(range(25, 501, 25))


def test_a_log_that_begins_late_is_not_numbered_from_the_start(tmp_path: Path) -> None:
    text = "python train.py --logging_steps 25\n"
    reading = read(tmp_path, text + "".join(row(s, 1000) + "\n" for s in range(2025, 2501, 25)))
    (loss,) = (s for s in reading.series if s.tag == "loss")
    assert loss.axis is Axis.ROW


def test_whole_epochs_are_epochs(tmp_path: Path) -> None:
    text = "".join(
        f"{{'eval_loss': {4 - e}.5, 'eval_runtime': 1.5, 'epoch': {e}.0}}\n" for e in (1, 2, 3)
    )
    (loss,) = (s for s in read(tmp_path, text).series if s.tag == "eval_loss")
    assert loss.axis is Axis.EPOCH
    assert loss.step.tolist() == [1, 2, 3]


def test_the_summary_at_the_end_is_not_logged_at_a_step(tmp_path: Path) -> None:
    text = with_bars(range(10, 101, 10), 300, 100)
    text += "\n***** train metrics *****\n  epoch                    =        3.0\n"
    text += "  train_loss               =     0.9423\n  train_runtime            = 0:00:10.50\n"
    assert set(shown(read(tmp_path, text))) == {"loss", "grad_norm", "learning_rate", "epoch"}


def test_a_summary_that_does_not_agree_with_the_epochs_is_not_believed(tmp_path: Path) -> None:
    uneven = "".join(row(s, 100) + "\n" for s in (3, 10, 40, 41, 90, 100))
    end = (
        "{'train_runtime': 9.0, 'train_steps_per_second': 200.0, 'train_loss': 2.1, 'epoch': 1.0}\n"
    )
    steps = shown(read(tmp_path, uneven + end))["loss"][0]
    assert steps == list(range(1, 7))


def test_a_summary_tells_how_many_steps_the_epochs_had(tmp_path: Path) -> None:
    lines = "".join(row(s, 100) + "\n" for s in range(10, 201, 10))
    end = "{'train_runtime': 30.42, 'train_steps_per_second': 6.575, 'train_loss': 2.1, 'epoch': 2.0}\n"
    (loss,) = (s for s in read(tmp_path, lines + end).series if s.tag == "loss")
    assert loss.axis is Axis.STEP
    assert loss.step.tolist() == list(range(10, 201, 10))


def test_bars_of_files_being_saved_tell_no_steps(tmp_path: Path) -> None:
    saving = "\rWriting model shards:   0%|          | 0/1 [00:00<?, ?it/s]\rWriting model shards: 100%|██████████| 1/1 [00:00<00:00, 410.88it/s]\n"
    rows = [row(s, 413, quote="'", loss=f"{3 - s / 100:.4g}") + "\n" for s in range(10, 101, 10)]
    end = "{'train_runtime': '10.0', 'train_steps_per_second': '10.0', 'train_loss': '2.5', 'epoch': '0.2421'}\n"
    reading = read(tmp_path, "".join(r + saving for r in rows) + end)
    steps, values = shown(reading)["loss"]
    assert steps == list(range(10, 101, 10))
    assert values[:2] == [2.9, 2.8]
    without = read(tmp_path, "".join(r + saving for r in rows))
    (loss,) = (s for s in without.series if s.tag == "loss")
    assert loss.axis is Axis.ROW
    assert len(loss.step) == 10
