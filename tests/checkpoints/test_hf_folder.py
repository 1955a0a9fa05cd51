import json
import shutil

import pytest

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_same_moments, raw, torch_bytes, weights

torch = pytest.importorskip("torch")
KINDS = ["llama", "gpt2"]


def test_a_folder_without_weights_says_so(tmp_path):
    (tmp_path / "trainer_state.json").write_text('{"global_step": 5}')
    with pytest.raises(UnreadableFile, match="holds no weights"):
        open_checkpoint(tmp_path)


@pytest.fixture(params=KINDS)
def trained(request, trained_by_transformers):
    return trained_by_transformers[request.param]


def test_the_trainers_checkpoint(trained):
    folder, names = trained
    opened = open_checkpoint(folder)
    assert opened.format == "hugging face"
    assert set(names) <= set(weights(opened))
    state = torch.load(folder / "optimizer.pt", weights_only=True)["state"]
    assert_same_moments(opened, names, state)


def test_the_weights_are_those_that_safetensors_loads(trained):
    folder, _ = trained
    load = pytest.importorskip("safetensors.torch").load_file
    found = weights(open_checkpoint(folder))
    expected = load(folder / "model.safetensors")
    assert {n: raw(t) for n, t in found.items()} == {n: torch_bytes(t) for n, t in expected.items()}


def test_the_state_of_the_trainer(trained):
    state = open_checkpoint(trained[0]).state
    assert (state.global_step, state.epoch) == (2, 1.0)
    assert {group["weight_decay"] for group in state.param_groups} == {0.1, 0.0}
    assert state.scheduler["last_epoch"] == 2


def test_parameters_of_one_shape_are_called_ambiguous(trained):
    notes = [note.text for note in open_checkpoint(trained[0]).notes]
    assert len(notes) == 1
    assert "are ambiguous, for several share a shape" in notes[0]


def test_weights_of_torch_keep_the_order_so_nothing_is_ambiguous(trained, tmp_path):
    folder, names = trained
    load = pytest.importorskip("safetensors.torch").load_file
    expected = load(folder / "model.safetensors")
    model = pytest.importorskip("transformers").AutoModelForCausalLM.from_pretrained(folder)
    ordered = {name: expected[name] for name, _ in model.named_parameters() if name in expected}
    torch.save(ordered, tmp_path / "pytorch_model.bin")
    shutil.copy(folder / "optimizer.pt", tmp_path)
    opened = open_checkpoint(tmp_path)
    assert opened.notes == ()
    assert [t.name for t in opened.tensors if t.role is Role.EXP_AVG] == names


def test_an_optimizer_of_another_model_gets_no_names(trained, tmp_path):
    folder, _ = trained
    shutil.copy(folder / "model.safetensors", tmp_path)
    other = torch.nn.Linear(3, 5)
    optimizer = torch.optim.Adam(other.parameters())
    other(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    torch.save(optimizer.state_dict(), tmp_path / "optimizer.pt")
    opened = open_checkpoint(tmp_path)
    assert {t.name for t in opened.tensors if t.role is Role.EXP_AVG} == {
        "optimizer.0", "optimizer.1"}  # fmt: skip
    assert "no known parameter" in str(opened.notes[0])


@pytest.mark.parametrize("name", ["optimizer.pt", "model.safetensors", "scheduler.pt"])
def test_a_damaged_file_spares_the_others(trained, tmp_path, name):
    shutil.copytree(trained[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / name).write_bytes(b"")
    opened = open_checkpoint(tmp_path)
    assert opened.tensors
    assert opened.state.global_step == 2
    assert any(name in note.source for note in opened.notes)


def test_a_scaler_beside_the_weights(trained, tmp_path):
    shutil.copytree(trained[0], tmp_path, dirs_exist_ok=True)
    scaler = {"scale": 65536.0, "growth_factor": 2.0, "backoff_factor": 0.5,
              "growth_interval": 2000, "_growth_tracker": 7}  # fmt: skip
    torch.save(scaler, tmp_path / "scaler.pt")
    assert open_checkpoint(tmp_path).state.scaler == scaler


def test_a_state_file_that_was_cut_off_still_gives_its_step(trained, tmp_path):
    shutil.copytree(trained[0], tmp_path, dirs_exist_ok=True)
    state = {"epoch": 1.0, "global_step": 2, "log_history": [{"loss": 1.0}] * 100}
    (tmp_path / "trainer_state.json").write_text(json.dumps(state)[:300])
    assert open_checkpoint(tmp_path).state.global_step == 2
