"""Settings that a run's own checkpoints keep."""

from argparse import Namespace
from pathlib import Path

import pytest

import forensics
from forensics.loading.kept_settings import settings_inside

torch = pytest.importorskip("torch")

CONFIG = {"learning_rate": 0.3, "warmup_iters": 50, "weight_decay": 30.0, "grad_clip": 1.0}


def _saved(folder: Path, name: str, **more: object) -> None:
    (folder / "out").mkdir(exist_ok=True)
    torch.save({"model": {"weight": torch.ones(3, 4)}, **more}, folder / "out" / name)


def _run(folder: Path, head: str = "") -> Path:
    lines = [f"iter {i}: loss {4 - 0.01 * i:.4f}, time 20.00ms" for i in range(0, 100, 10)]
    (folder / "train.log").write_text("\n".join([head, *lines]) + "\n")
    return folder


def test_weights_alone_tell_no_settings(tmp_path: Path) -> None:
    _saved(_run(tmp_path), "model.pt")
    (tmp_path / "out" / "broken.pt").write_bytes(b"PK\x03\x04 nothing else")
    run = forensics.open_run(tmp_path)
    assert settings_inside(tmp_path, run.checkpoints) == []
    assert run.config.lr_peak is None


def test_what_was_printed_is_believed_before_what_a_checkpoint_keeps(tmp_path: Path) -> None:
    _saved(_run(tmp_path, "Overriding: learning_rate = 0.003"), "ckpt.pt", config=CONFIG)
    assert forensics.open_run(tmp_path).config.lr_peak == 0.003


@pytest.mark.parametrize("kept", [CONFIG, Namespace(**CONFIG)])
def test_the_settings_of_the_process_that_saved_are_those_of_the_run(
    tmp_path: Path, kept: object
) -> None:
    key = "config" if isinstance(kept, dict) else "args"
    _saved(_run(tmp_path), "ckpt.pt", iter_num=80, **{key: kept})
    config = forensics.open_run(tmp_path).config
    assert (config.lr_peak, config.warmup_steps) == (0.3, 50)
    assert (config.weight_decay, config.clip_threshold) == (30.0, 1.0)
    assert config.sources["lr_peak"] == "out/ckpt.pt"
