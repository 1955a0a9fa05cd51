"""Captured batch files: as the library reads them, damaged, too many, too large."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from forensics.batch_facts import Oddity
from forensics.batches import Limits, survey_captured
from forensics.batches._reading import read_batch
from forensics.errors import UnreadableFile
from tests.batches import made


def write(root: Path, batches: dict[int, made.Batch]) -> list[str]:
    """Save batches as a run does; their paths."""
    (root / "batches").mkdir(exist_ok=True)
    paths = [f"batches/step_{step}.safetensors" for step in batches]
    for path, batch in zip(paths, batches.values(), strict=True):
        save_file({n: np.ascontiguousarray(a) for n, a in batch.items()}, root / path)
    return paths


def test_a_file_cut_off_anywhere_never_raises_more_than_a_note(tmp_path):
    (path,) = write(tmp_path, {9: {"x": np.ones((4, 9), np.float32), "y": np.arange(4)}})
    whole = (tmp_path / path).read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / path).write_bytes(whole[:length])
        found, notes = survey_captured(tmp_path, [path], {9}, made.LIMITS)
        assert notes, length
        assert all("\n" not in str(note) for note in notes)
        assert not any(a.findings for a in found.audits)


def test_one_damaged_file_costs_only_itself(tmp_path):
    batches = made.series(made.images)
    batches[made.SUSPECT]["x"][2, 0, 0, 0] = np.nan
    paths = write(tmp_path, batches)
    (tmp_path / paths[0]).write_bytes(b"\x80\x04garbage")
    found, notes = survey_captured(tmp_path, paths, {made.SUSPECT}, made.LIMITS)
    assert [note.source for note in notes] == [paths[0]]
    assert len(found.audits) == len(batches) - 1
    assert [f.oddity for f in found.suspects[0].findings] == [Oddity.NON_FINITE_INPUT]
    assert found.suspects[0].source == f"batches/step_{made.SUSPECT}.safetensors"


def test_a_file_that_is_gone_or_a_folder_is_a_note(tmp_path):
    (tmp_path / "batches/step_2.pt").mkdir(parents=True)
    paths = ["batches/step_1.pt", "batches/step_2.pt"]
    found, notes = survey_captured(tmp_path, paths, {1}, made.LIMITS)
    assert [note.source for note in notes] == paths
    assert found.audits == ()
    assert any("suspect step" in text for text in found.unchecked)


def test_what_is_too_large_is_left_out_and_said(tmp_path):
    (path,) = write(tmp_path, {1: {"x": np.ones((100, 100)), "y": np.arange(100)}})
    found = read_batch(tmp_path / path, most=10_000)
    assert set(found.tensors) == {"y"}
    assert "80,000 bytes" in found.problems[0]


def test_of_very_many_the_nearest_are_read(tmp_path):
    batches = {s: {"y": np.arange(8)} for s in range(100)}
    found, _ = survey_captured(tmp_path, write(tmp_path, batches), {60, 61}, Limits())
    steps = [a.step for a in found.audits]
    assert {60, 61} <= set(steps)
    assert steps == list(range(min(steps), max(steps) + 1))
    assert len(steps) < 40
    assert any("of 100 captured" in text for text in found.unchecked)


def test_without_a_suspect_they_are_read_from_all_over(tmp_path):
    batches = {s: {"y": np.arange(8)} for s in range(100)}
    found, _ = survey_captured(tmp_path, write(tmp_path, batches), (), Limits())
    assert found.audits[0].step < 5
    assert found.audits[-1].step > 90
    assert not any(a.suspect for a in found.audits)


def test_of_large_ones_a_few_controls_are_enough(tmp_path):
    paths = write(tmp_path, {s: {"y": np.arange(8)} for s in range(40)})
    for path in paths:
        with (tmp_path / path).open("r+b") as file:
            file.truncate(300 << 20)  # sparse: no byte of it is read
    found, _ = survey_captured(tmp_path, paths, {20}, Limits())
    assert any("9 of 40 captured" in text for text in found.unchecked)


def test_half_precision_of_either_kind_is_read(tmp_path):
    torch = pytest.importorskip("torch")
    values = torch.randn(4, 9)
    batch = {"x": values.bfloat16(), "y": values.half(), "z": values.to(torch.float8_e4m3fn)}
    torch.save(batch, tmp_path / "step_1.pt")
    found = read_batch(tmp_path / "step_1.pt")
    assert np.array_equal(found.tensors["x"], values.bfloat16().float().numpy())
    assert np.array_equal(found.tensors["y"], values.half().numpy())
    assert found.problems == ("z is not checked: its elements are F8_E4M3",)


def test_views_of_torch_are_laid_out_as_torch_has_them(tmp_path):
    torch = pytest.importorskip("torch")
    ids, image = torch.arange(60).view(4, 15), torch.randn(2, 3, 4, 5)
    batch = {
        "input_ids": ids[:, :-1],
        "labels": ids[:, 1:],
        "x": image.to(memory_format=torch.channels_last),
        "flipped": ids.t(),
        "same": torch.arange(4).view(4, 1).expand(4, 6),
        "every_third": ids[:, ::3],
        "one": torch.tensor(7),
        "none": torch.ones(0, 5),
    }
    torch.save(batch, tmp_path / "step_1.pt")
    found = read_batch(tmp_path / "step_1.pt")
    assert found.problems == ()
    assert set(found.tensors) == set(batch)
    for name, tensor in batch.items():
        assert np.array_equal(found.tensors[name], tensor.numpy()), name


def test_a_pickle_with_a_payload_is_not_executed(tmp_path):
    class Payload:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    torch = pytest.importorskip("torch")
    torch.save({"x": torch.ones(3, 4), "evil": Payload()}, tmp_path / "step_1.pt")
    try:
        read_batch(tmp_path / "step_1.pt")
    except UnreadableFile as error:
        assert "\n" not in str(error)  # noqa: PT017
    assert not (tmp_path / "executed").exists()
