"""The recorder: nothing of a healthy run, the suspect batch and its controls of a sick one."""

import base64
import json
import logging
import math
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import forensics

torch = pytest.importorskip("torch", reason="torch is not installed")
from safetensors import safe_open  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from forensics.recorder import Recorder  # noqa: E402
from forensics.recorder._gradients import gradient_norms  # noqa: E402
from forensics.recorder._naming import named_tensors  # noqa: E402


def captured(run_dir):
    return sorted(p.name for p in run_dir.rglob("step_*"))


@pytest.fixture(autouse=True)
def _one_thread():
    """Tensors this small are only slowed down by threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def steps_of(run_dir):
    return sorted(int(p.stem.removeprefix("step_")) for p in run_dir.rglob("*.safetensors"))


def noted(run_dir, step):
    (path,) = run_dir.rglob(f"step_{step}.json")
    return json.loads(path.read_text())


def regression_batch(step):
    g = torch.Generator().manual_seed(step)
    x = torch.randn(16, 4, generator=g)
    return {"inputs": x, "labels": x.sum(1, keepdim=True) + 0.1 * torch.randn(16, 1, generator=g)}


def train(recorder, steps=80, spoil=None, bad_step=60, micro=1, scaler=None):
    """A loop of one's own; ``spoil`` changes the batch of ``bad_step``."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        for part in range(micro):
            batch = regression_batch(step * micro + part)
            if spoil and step == bad_step and part == micro - 1:
                spoil(batch)
            loss = ((model(batch["inputs"]) - batch["labels"]) ** 2).mean() / micro
            (scaler.scale(loss) if scaler else loss).backward()
            complete = model if part == micro - 1 else None
            recorder.step(step, batch, loss, complete, scaler=scaler)
        if scaler:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
    return model


def scale_labels(batch):
    batch["labels"] *= 1000.0


def test_healthy_run_writes_nothing(tmp_path):
    train(Recorder(tmp_path), steps=400)
    assert list(tmp_path.iterdir()) == []


def test_heavy_noise_is_no_fault(tmp_path):
    noise = random.Random(1)
    recorder = Recorder(tmp_path)
    for step in range(2000):
        loss = math.exp(noise.gauss(0.0, 0.5))
        recorder.step(step, torch.zeros(2), loss, grad_norm=math.exp(noise.gauss(0.0, 1.0)))
    assert captured(tmp_path) == []


@pytest.mark.parametrize("loss", [0.0, 1e-12, -3.0, 2.5])
def test_constant_loss_is_no_fault(tmp_path, loss):
    recorder = Recorder(tmp_path)
    for step in range(300):
        recorder.step(step, torch.zeros(2), loss, grad_norm=0.0)
    assert captured(tmp_path) == []


def test_steps_skipped_by_the_scaler_are_no_fault(tmp_path):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
    train(Recorder(tmp_path), steps=60, scaler=scaler)
    assert scaler.get_scale() < 2.0**127, "no step was skipped"
    assert captured(tmp_path) == []


def test_scale_that_collapses_is_a_fault(tmp_path):
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    recorder = Recorder(tmp_path)
    recorder.step(1, {"x": torch.ones(3)}, 0.5, grad_norm=math.inf, scaler=scaler)
    assert steps_of(tmp_path) == [1]


def test_gradients_lose_the_scale(tmp_path):
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    train(Recorder(tmp_path / "scaled"), spoil=scale_labels, scaler=scaler)
    train(Recorder(tmp_path / "plain"), spoil=scale_labels)
    scaled, plain = (noted(tmp_path / n, 60) for n in ("scaled", "plain"))
    assert scaled["gradient_norm"] == pytest.approx(plain["gradient_norm"], rel=1e-4)


def test_bad_batch_is_saved_with_its_controls(tmp_path):
    train(Recorder(tmp_path), spoil=scale_labels)
    assert steps_of(tmp_path) == [57, 58, 59, 60]
    bad = load_file(tmp_path / "batches" / "step_60.safetensors")
    expected = regression_batch(60)
    scale_labels(expected)
    assert all(torch.equal(bad[name], expected[name]) for name in expected)
    control = load_file(tmp_path / "batches" / "step_58.safetensors")
    assert torch.equal(control["labels"], regression_batch(58)["labels"])
    told = noted(tmp_path, 60)
    assert told["left_its_band"] == ["loss", "grad_norm"]
    assert set(told["gradient_norms"]) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    together = math.hypot(*told["gradient_norms"].values())
    assert together == pytest.approx(told["gradient_norm"], rel=1e-5)
    assert noted(tmp_path, 58)["left_its_band"] == []


def test_non_finite_loss_is_saved_at_once(tmp_path):
    def spoil(batch):
        batch["inputs"][3, 1] = math.nan

    train(Recorder(tmp_path), steps=6, spoil=spoil, bad_step=2)
    assert steps_of(tmp_path) == [1, 2], "the steps after it are one event with it"
    assert noted(tmp_path, 2)["losses"] == "NaN"


def test_random_states_give_the_same_forward_pass(tmp_path):
    """The saved states are those before the step: dropout falls as it fell."""
    recorder, losses = Recorder(tmp_path), {}
    layer = torch.nn.Dropout(0.5)
    torch.manual_seed(3)
    for step in range(1, 5):
        x = torch.ones(64) if step < 4 else torch.full((64,), math.inf)
        losses[step] = float(layer(x).mean())
        drawn = random.random(), float(np.random.rand())
        recorder.step(step, {"x": x}, losses[step])
    told = noted(tmp_path, 3)["random_states"]
    torch.set_rng_state(
        torch.frombuffer(bytearray(base64.b64decode(told["torch"])), dtype=torch.uint8)
    )
    assert float(layer(torch.ones(64)).mean()) == losses[3]
    told = noted(tmp_path, 4)["random_states"]
    version, state, gauss = json.loads(base64.b64decode(told["python"]))
    random.setstate((version, tuple(state), gauss))
    np.random.set_state(json.loads(base64.b64decode(told["numpy"])))
    assert (random.random(), float(np.random.rand())) == drawn


def test_wrappers_are_not_part_of_a_name():
    wrapped = torch.nn.ModuleDict(
        {"module": torch.nn.ModuleDict({"_orig_mod": torch.nn.Linear(2, 1)})}
    )
    sum(p.sum() for p in wrapped.parameters()).backward()
    assert gradient_norms(wrapped).names == ("weight", "bias")


def test_micro_batches_of_a_step_are_one_batch(tmp_path):
    train(Recorder(tmp_path), spoil=scale_labels, micro=2)
    batch = load_file(tmp_path / "batches" / "step_60.safetensors")
    assert batch["inputs"].shape == (32, 4)
    assert torch.equal(batch["inputs"][:16], regression_batch(120)["inputs"])
    assert noted(tmp_path, 60)["rows"] == "16 16"


def test_micro_batches_after_the_bad_one_are_saved_too(tmp_path):
    recorder = Recorder(tmp_path)
    recorder.step(1, {"x": torch.zeros(2, 3)}, math.nan)
    recorder.step(1, {"x": torch.ones(2, 5)}, 0.5)
    batch = load_file(tmp_path / "batches" / "step_1.safetensors")
    assert {n: tuple(t.shape) for n, t in batch.items()} == {
        "micro_0.x": (2, 3),
        "micro_1.x": (2, 5),
    }


def test_names_of_any_nesting():
    batch = {
        "ids": torch.ones(2, dtype=torch.int64),
        "vision": {"pixels": np.zeros((2, 3), np.float32), "sizes": [torch.ones(1), torch.ones(2)]},
        "texts": ["a", "b"],
        "empty": None,
        "objects": np.array(["x"]),
    }
    tensors, left_out = named_tensors(batch, 1 << 20)
    assert list(tensors) == ["ids", "vision.pixels", "vision.sizes.0", "vision.sizes.1"]
    assert [text.split(":")[0] for text in left_out] == ["texts", "empty", "objects"]
    assert list(named_tensors((torch.ones(1), torch.ones(2)), 100)[0]) == ["x", "y"]
    assert list(named_tensors(torch.ones(1), 100)[0]) == ["x"]


def test_what_cannot_be_held_is_left_out_and_said(tmp_path):
    recorder = Recorder(tmp_path, max_memory=1000)
    odd = torch.eye(3).to_sparse()
    batch = {"small": torch.ones(4), "large": torch.ones(4000), "odd": odd, "a.b": torch.ones(1)}
    recorder.step(1, batch | {"a": {"b": torch.zeros(1)}}, math.inf)
    assert set(load_file(tmp_path / "batches" / "step_1.safetensors")) == {"small", "a.b"}
    left_out = noted(tmp_path, 1)["left_out"]
    assert [text.split(":")[0] for text in left_out] == ["large", "odd", "a.b"]


def test_memory_is_bounded(tmp_path):
    recorder = Recorder(tmp_path, keep=8, max_memory=2500)
    for step in range(5):
        recorder.step(step, torch.ones(250), math.nan if step == 4 else 1.0)
    assert steps_of(tmp_path) == [3, 4]


def test_batches_are_copied(tmp_path):
    recorder, buffer = Recorder(tmp_path), torch.zeros(3)
    for step in range(3):
        buffer.fill_(step)
        recorder.step(step, buffer, math.nan if step == 2 else 1.0)
    assert load_file(tmp_path / "batches" / "step_1.safetensors")["x"].tolist() == [1.0] * 3


def test_dumps_and_disk_are_bounded(tmp_path):
    few = Recorder(tmp_path / "few", keep=1, max_dumps=3)
    small = Recorder(tmp_path / "small", keep=1, max_disk=40_000)
    for recorder in (few, small):
        for step in range(40):
            recorder.step(step, torch.ones(100), math.nan)
    assert steps_of(tmp_path / "few") == [0, 1, 2]
    size = sum(p.stat().st_size for p in (tmp_path / "small").rglob("*.*"))
    assert 10_000 < size <= 40_000


def test_level_that_stays_is_the_new_normal(tmp_path):
    recorder = Recorder(tmp_path, max_dumps=100)
    for step in range(600):
        recorder.step(step, torch.ones(1), (1.0 if step < 100 else 5.0) + 0.01 * (step % 7))
    assert steps_of(tmp_path) == [97, 98, 99, 100]


def test_what_an_earlier_attempt_saved_stays(tmp_path):
    Recorder(tmp_path).step(7, torch.ones(2), math.nan)
    first = (tmp_path / "batches" / "step_7.safetensors").read_bytes()
    Recorder(tmp_path).step(7, torch.zeros(2), math.nan)
    assert (tmp_path / "batches" / "step_7.safetensors").read_bytes() == first


def test_each_rank_has_its_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    Recorder(tmp_path).step(7, torch.ones(2), math.nan)
    assert (tmp_path / "rank_1" / "batches" / "step_7.safetensors").exists()
    run = open_with_log(tmp_path)
    assert run.batches == ("rank_1/batches/step_7.safetensors",)


def test_failure_to_replace_leaves_no_half_file(tmp_path, monkeypatch, caplog):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with caplog.at_level(logging.WARNING):
        train(Recorder(tmp_path), spoil=scale_labels)
    assert list((tmp_path / "batches").iterdir()) == []
    assert len(caplog.records) == 1
    assert "No space left" in caplog.text


def test_process_killed_while_saving_leaves_whole_files_alone(tmp_path):
    """Killed between writing and renaming: a reader sees nothing of the batch."""
    code = (
        "import os, math, torch, signal\n"
        "from forensics.recorder import Recorder\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"Recorder({str(tmp_path)!r}).step(3, torch.ones(5), math.nan)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert captured(tmp_path) == []
    run = open_with_log(tmp_path)
    assert run.batches == ()
    assert run.checkpoints == ()
    assert not run.notes


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder nobody may write to")
def test_folder_that_may_not_be_written(caplog):
    """Not even root makes a folder in /proc."""
    model = train(Recorder("/proc/run"), spoil=scale_labels)
    assert len(caplog.records) == 1
    assert all(p.isfinite().all() for p in model.parameters())


def test_folder_that_is_a_file(tmp_path, caplog):
    (tmp_path / "batches").write_text("mine")
    model = train(Recorder(tmp_path), spoil=scale_labels)
    assert len(caplog.records) == 1
    assert (tmp_path / "batches").read_text() == "mine"
    assert all(p.isfinite().all() for p in model.parameters())


@pytest.mark.parametrize(
    "arguments",
    [
        ("no number", {"x": 1}, "no loss"),
        (1, object(), None),
        (1, None, torch.tensor(math.nan)),
        (1, [], math.nan),
        (None, torch.ones(2), torch.full((4,), math.nan)),
    ],
)
def test_nothing_raises_into_the_training(tmp_path, arguments):
    Recorder(tmp_path).step(*arguments, model="no model")
    Recorder(tmp_path).step(*arguments)


def test_importing_it_loads_no_torch():
    code = "import sys, forensics.recorder as r; r.Recorder; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def open_with_log(run_dir):
    (run_dir / "metrics.csv").write_text(
        "step,loss\n" + "".join(f"{n},{9 - n}\n" for n in range(9))
    )
    return forensics.open_run(run_dir)


def test_the_tool_sees_batches_and_nothing_else(tmp_path):
    train(Recorder(tmp_path), spoil=scale_labels, micro=2)
    run = open_with_log(tmp_path)
    assert run.batches == tuple(f"batches/step_{n}.safetensors" for n in (57, 58, 59, 60))
    assert run.checkpoints == ()
    assert {s.source for s in run.series} == {"metrics.csv"}
    assert not run.config.raw
    assert not run.notes
    told = {f.path: f.format for f in run.files if f.path.endswith(".json")}
    assert list(told.values()) == ["captured batch"] * 4
    with safe_open(tmp_path / "batches" / "step_60.safetensors", "pt") as file:
        assert file.metadata() == {"step": "60"}


def test_notes_alone_are_no_log_either(tmp_path):
    train(Recorder(tmp_path), spoil=scale_labels)
    for batch in tmp_path.rglob("*.safetensors"):
        batch.unlink()
    run = open_with_log(tmp_path)
    assert {s.source for s in run.series} == {"metrics.csv"}
    assert not run.config.raw
