# ruff: noqa: E501 - the lines of logs are long
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, no_progress
from forensics.readers.text_log import READER
from forensics.run import Axis, Series, TextKind
from forensics.signals import Signal, classify
from tests.readers.text_logs import kinds, probe, read, shown

SHARED = Path(__file__).resolve().parents[2].parent / "shared"

LOG = "iter 1: loss 2.5000, time 1.00ms\niter 2: loss 2.4000, time 1.00ms\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.py", LOG),
        ("README.md", LOG),
        ("config.yaml", "loss: 0.5\nstep: 3\n" * 9),
        ("metrics.csv", "step,loss\n1,2.5\n2,2.4\n"),
        ("requirements.txt", "torch==2.1.0\nnumpy>=1.26\n"),
        ("LICENSE", "Apache License\nVersion 2.0, January 2004\n" * 50),
        ("vocab.txt", "[PAD]\n[UNK]\nloss\nstep\n" * 50),
        ("notes.txt", "The loss was 2.5 at first. We then lowered it.\nStep by step it fell.\n"),
        ("words.txt", "one two three\n" * 500),
        ("empty.log", ""),
        ("image.log", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40),
        ("zeros.log", b"\0" * 5000),
    ],
)
def test_other_files_are_declined(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert not READER.sniff(probe(tmp_path, content, name))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("train.log", LOG),
        ("run.out", "nothing to see\n"),
        ("job.err", "Killed\n"),
        ("slurm-1234.out", LOG),
        ("stdout", LOG),
        ("nohup.out", LOG),
        ("log.txt", LOG),
        ("pasted.txt", LOG),
        ("crash.txt", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB\n"),
        ("late.txt", "preparing data\n" * 20_000 + LOG),
        ("utf16.log", LOG.encode("utf-16")),
        ("crashed.log", LOG.encode() + b"\0" * 3000),
    ],
)
def test_logs_are_taken(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert READER.sniff(probe(tmp_path, content, name))


def test_text_without_metrics_says_so(tmp_path: Path) -> None:
    reading = read(tmp_path, "hello\nworld\n")
    assert (reading.series, reading.text, reading.summary) == ((), (), "text without metrics")


def test_a_file_that_is_gone_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"gone\.log"):
        READER.read(Probe(tmp_path / "gone.log", tmp_path, 0), no_progress)


def test_progress_adds_up_to_the_size_of_the_file(tmp_path: Path) -> None:
    done: list[int] = []
    file = probe(tmp_path, LOG * 20_000)
    READER.read(file, done.append)
    assert sum(done) == file.size


def test_a_long_log_is_read_as_its_lines_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    losses = rng.normal(2.5, 0.5, 30_000).round(4)
    losses[[5, 29_999]] = np.nan
    lines = [
        f"step: {s} | loss: {v:.4f} | lr: {1e-4 * (1 - s / 1e5):.3e}" for s, v in enumerate(losses)
    ]
    lines[20_000:20_000] = ["step: 20000 | val_loss: 2.2222", "a remark"]
    found = shown(read(tmp_path, "\n".join(lines) + "\n"))
    assert found["loss"][0] == list(range(30_000))
    np.testing.assert_array_equal(found["loss"][1], losses)
    assert found["val_loss"] == ([20_000], [2.2222])


MIXED = (
    "python train.py --lr 0.1\n"
    "2026-08-22 10:00:00,123 - INFO - step 10 | loss: 2.5125 | grad_norm: 1.5 | tok/s: 1,234\n"
    "2026-08-22 10:00:01,123 - INFO - step 20 | loss: 2.4375 | grad_norm: nan | tok/s: 1,250\n"
    "step 20: validation loss 3.5\n"
    " 42%|████▏     | 42/100 [00:12<00:17,  3.40it/s, loss=2.25]\r 43%|████▎     | 43/100 [00:12<00:16,  3.40it/s, loss=2.125]\n"
    "{'loss': 2.75, 'learning_rate': 1e-05, 'epoch': 0.5}\n"
    "OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n"
    "------------------------\n| loss | 1.5 |\n| step | 40 |\n------------------------\n"
    "step | loss\n50 | 1.25\n"
    "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: broken\n"
)  # fmt: skip


def test_a_log_cut_at_any_byte_gives_a_part_of_it(tmp_path: Path) -> None:
    data = MIXED.encode()
    values = {repr(v) for series in read(tmp_path, data).series for v in series.value.tolist()}
    for end in range(len(data)):
        for series in read(tmp_path, data[:end]).series:
            if classify(series.tag) not in (Signal.EPOCH, Signal.LR):
                assert {repr(v) for v in series.value.tolist()} <= values, (end, series.tag)


def test_the_last_number_of_a_cut_log_is_taken_only_where_it_is_whole(tmp_path: Path) -> None:
    head = "step 1 loss 2.5000\nstep 2 loss 2.4000\n"
    assert shown(read(tmp_path, head + "step 3 loss 2.3000"))["loss"][0] == [1, 2, 3]
    assert shown(read(tmp_path, head + "step 3 loss 2.3"))["loss"][0] == [1, 2]
    assert shown(read(tmp_path, head + "step 3 loss 2"))["loss"][0] == [1, 2]
    assert math.isnan(shown(read(tmp_path, "step 3 loss nan"))["loss"][1][0])
    assert shown(read(tmp_path, "step 3 loss 2.3")) == {}
    table = "step | loss   | lr\n1 | 2.5000 | 1e-4\n2 | 2.4000 | "
    assert shown(read(tmp_path, table + "nan"))["loss"][0] == [1, 2]
    assert shown(read(tmp_path, table + "1e-"))["lr"][0] == [1]
    assert shown(read(tmp_path, "step,loss\n1,2.5000\n2,2.4000"))["loss"][0] == [1, 2]
    assert shown(read(tmp_path, "step,loss\n1,2.5000\n2,2.40"))["loss"][0] == [1]
    assert shown(read(tmp_path, "loss 2.5, step 10\nloss 2.5, step 1"))["loss"][0] == [10]


def test_damage_in_the_middle_costs_only_its_own_lines(tmp_path: Path) -> None:
    lines = [f"step {s} loss 2.{s:04d}\n".encode() for s in range(100)]
    lines[50] = b"\xff\xfe\x00\x80 garbage \x00" * 30 + b"\n"
    assert shown(read(tmp_path, b"".join(lines)))["loss"][0] == [s for s in range(100) if s != 50]


def corpus(name: str) -> dict[str, Series]:
    folder = SHARED / "corpus" / name
    if not folder.is_dir():
        pytest.skip("the corpus of real runs is not here")
    (path,) = [p for p in folder.iterdir() if p.suffix in (".log", ".txt")]
    file = Probe(path, folder, path.stat().st_size)
    assert READER.sniff(file)
    return {s.tag: s for s in READER.read(file, no_progress).series}


def evidence(name: str) -> list[tuple[TextKind, int | None]]:
    folder = SHARED / "corpus" / name
    if not folder.is_dir():
        pytest.skip("the corpus of real runs is not here")
    (path,) = [p for p in folder.iterdir() if p.suffix in (".log", ".txt")]
    reading = READER.read(Probe(path, folder, path.stat().st_size), no_progress)
    return [(e.kind, e.step) for e in reading.text]


def at(series: Series, step: int) -> float:
    (value,) = series.value[series.step == step]
    return float(value)


def test_corpus_a_blow_up_between_two_lines() -> None:
    loss = corpus("pgolf_ternary_diverge")["loss"]
    assert (len(loss.step), at(loss, 2050), at(loss, 2100), at(loss, 2150)) == (
        43,
        3.4456,
        24.847,
        17.4898,
    )


def test_corpus_a_guard_that_skips_and_aborts() -> None:
    series = corpus("pgolf_behemoth_v9")
    assert at(series["train_loss"], 1250) == 2.9255
    assert at(series["val_loss"], 1306) == 2.6534
    assert at(series["grad_norm"], 1294) == math.inf
    assert series["grad_norm"].step[-1] == 1306
    found = evidence("pgolf_behemoth_v9")
    assert found[0] == (TextKind.NON_FINITE_GUARD, 1294)
    assert (TextKind.NON_FINITE_ABORT, 1306) in found


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("pgolf_baseline", (1, 6.9408), (13750, 1.991)),
        ("pgolf_behemoth_v12", (1, 7.2327), (5550, 2.783)),
    ],
)
def test_corpus_healthy_runs(name: str, first: tuple[int, float], last: tuple[int, float]) -> None:
    loss = corpus(name)["train_loss"]
    assert (loss.step[0], loss.value[0], loss.step[-1], loss.value[-1]) == (*first, *last)
    assert (np.diff(loss.step) > 0).all()
    assert [kind for kind, _ in evidence(name)] == [TextKind.RUN_FINISHED]


def test_corpus_three_kinds_of_lines_with_one_counter() -> None:
    series = corpus("llmc_main_log")
    assert (len(series["trl"].step), len(series["tel"].step)) == (19560, 80)
    assert (series["trl"].value[0], series["tel"].value[-1]) == (11.0091, 3.2722)
    assert classify("norm") is Signal.GRAD_NORM


def test_corpus_boxes_with_rounded_steps() -> None:
    loss = corpus("improved_diffusion_kl")["loss"]
    assert loss.step.tolist() == list(range(0, 24500, 20))
    assert (loss.value[0], loss.value[-1]) == (13.1, 0.21)


def test_corpus_several_attempts_in_one_file() -> None:
    loss = corpus("gluoncv_deeplab_resnest269")["training loss"]
    assert loss.step[:2].tolist() == [20, 40]
    assert np.isnan(loss.value).sum() == 3
    assert (loss.step[-1], loss.value[-1], loss.axis) == (119 * 1263 + 1260, 0.151, Axis.STEP)
    started = [
        step
        for kind, step in evidence("gluoncv_deeplab_resnest269")
        if kind is TextKind.RUN_STARTED
    ]
    assert len(started) == 4


def test_corpus_overflows_of_sixteen_ranks() -> None:
    scale = corpus("dschat_step2_reward")["loss scale"]
    assert scale.value[:10].tolist() == [2.0**k for k in range(15, 5, -1)]
    assert scale.step[:10].tolist() == list(range(10))
    assert scale.value.min() == 8.0
    skipped = corpus("dschat_step2_reward")["skipped"]
    overflow = [step for kind, step in evidence("dschat_step2_reward") if kind is TextKind.OVERFLOW]
    assert len(overflow) == skipped.value[-1] == 20


CASES = [
    ("001-gemma-mixed-precision-finetune", "loss", 10, 153318.95),
    ("002-gemma4-sdpa-hopper", "loss", 3, 2.603),
    ("019-tablemaster-first-gradnorm-nan", "loss", 2, 1.9091),
    ("062-llava-lora-lr", "loss", 1, 6.6635),
    ("089-bloom176b-spike-30-steps", "lm_loss", 11, 5.098124),
]


@pytest.mark.parametrize(("name", "tag", "rows", "peak"), CASES)
def test_tables_of_public_reports_pasted_as_a_log(
    tmp_path: Path, name: str, tag: str, rows: int, peak: float
) -> None:
    path = SHARED / "cases" / f"{name}.md"
    if not path.is_file():
        pytest.skip("the public reports are not here")
    lines = path.read_text().split("log: |\n")[1].split("config:")[0]
    series = {s.tag: s for s in read(tmp_path, lines, "log.txt").series}[tag]
    assert len(series.step) == rows
    assert np.nanmax(series.value) == peak
    assert series.axis is Axis.STEP
    assert kinds(read(tmp_path, lines, "log.txt")) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(MIXED.split("\n")), st.text(max_size=60)), max_size=30))
def test_any_mixture_of_lines_is_read_without_complaint(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("log")
    data = "\n".join(lines).encode(errors="replace")
    for series in read(folder, data).series:
        assert len(series.step) == len(series.value) > 0
        assert series.step.dtype == np.int64


@given(st.binary(max_size=400))
@settings(max_examples=60, deadline=None)
def test_any_bytes_are_read_without_complaint(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    assert read(tmp_path_factory.mktemp("log"), data).notes == ()


def test_numbers_too_large_for_a_step_do_no_harm(tmp_path: Path) -> None:
    text = (
        "step 1 loss 2.5\nstep 99999999999999999999999 loss 2.4\n| a |\nEpoch 9e99/10 loss: 1.5\n"
    )
    assert shown(read(tmp_path, text))["loss"][1][:2] == [2.5, 2.4]


def test_a_bar_and_a_dict_on_one_line_are_read_apart(tmp_path: Path) -> None:
    bar = "  {p}%|##        | {n}/1000 [01:00<03:00,  1.30s/it]"
    row = "{{'loss': {v}, 'learning_rate': 1e-05, 'epoch': {e}}}"
    lines = [
        bar.format(p=n // 10, n=n) + " " * 30 + row.format(v=v, e=n / 1000)
        for n, v in ((100, 2.5), (200, 2.25), (300, 2.0))
    ]
    steps, values = shown(read(tmp_path, "\n".join(lines) + "\n"))["loss"]
    assert values == [2.5, 2.25, 2.0]
    assert steps == [100, 200, 300]


def test_a_log_at_an_address_is_looked_at_like_one_on_disk():
    import fsspec

    from forensics.readers._base import Probe
    from forensics.readers.text_log import READER
    from forensics.remote import RemotePath

    text = b"step 1 loss 2.0\nstep 2 loss 1.5\nstep 3 loss 1.2\n"
    fsspec.filesystem("memory").pipe("/text_log_run/train.log", text)
    home = RemotePath("memory://text_log_run")
    assert READER.sniff(Probe(home / "train.log", home, len(text)))
