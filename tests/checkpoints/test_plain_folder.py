import shutil

import pytest

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_same_moments, assert_same_state, of_role, weights

torch = pytest.importorskip("torch")


def state(value):
    return {"weight": torch.full((2, 2), float(value))}


def test_a_folder_of_other_files_is_unreadable(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(UnreadableFile, match="holds no weights"):
        open_checkpoint(tmp_path)


def test_random_states_settings_and_tokenizers_are_no_weights(tmp_path):
    torch.save(state(1), tmp_path / "model.pt")
    for name in ("rng_state.pth", "random_states_0.pkl", "training_args.bin", "tokenizer.bin"):
        torch.save({"state": torch.ones(3)}, tmp_path / name)
    assert [t.name for t in open_checkpoint(tmp_path).tensors] == ["weight"]


def test_the_saves_in_a_folder_that_is_one_itself_are_left_alone(tmp_path):
    torch.save(state(1), tmp_path / "model.pt")
    (tmp_path / "checkpoint-5").mkdir()
    torch.save(state(2), tmp_path / "checkpoint-5" / "model.pt")
    assert len(open_checkpoint(tmp_path).tensors) == 1


def test_models_in_files_of_their_own_are_told_apart(tmp_path):
    for name in ("generator", "discriminator"):
        torch.save(state(1), tmp_path / f"{name}.pt")
    found = weights(open_checkpoint(tmp_path))
    assert set(found) == {"generator.weight", "discriminator.weight"}


def test_an_average_beside_the_model_has_a_name_of_its_own(tmp_path):
    torch.save(state(1), tmp_path / "model.pt")
    torch.save(state(2), tmp_path / "ema.pt")
    assert set(weights(open_checkpoint(tmp_path))) == {"weight", "ema.weight"}


def test_parts_in_folders_are_named_after_them(tmp_path):
    for name in ("unet", "text_encoder"):
        (tmp_path / name).mkdir()
        torch.save(state(1), tmp_path / name / "diffusion_pytorch_model.bin")
    assert set(weights(open_checkpoint(tmp_path))) == {"unet.weight", "text_encoder.weight"}


@pytest.mark.parametrize("layout", ["rank_{}/model.pt", "rank{}.pt", "model_rank_{}.pt"])
def test_copies_of_ranks_are_kept_apart(tmp_path, layout):
    for rank in (0, 1, 10):
        path = tmp_path / layout.format(rank)
        path.parent.mkdir(exist_ok=True)
        torch.save(state(rank), path)
    opened = open_checkpoint(tmp_path)
    assert [(t.name, t.rank) for t in opened.tensors] == [("weight", r) for r in (0, 1, 10)]


def test_an_optimizer_in_a_file_of_its_own(net, tmp_path):
    model, optimizer, scheduler = net
    torch.save(model.state_dict(), tmp_path / "weights.pth")
    torch.save(optimizer.state_dict(), tmp_path / "optimizer.pth")
    torch.save(scheduler.state_dict(), tmp_path / "scheduler.pth")
    (tmp_path / "train_state.json").write_text('{"step": 77}')
    opened = open_checkpoint(tmp_path)
    assert_same_state(opened, model.state_dict())
    names = [name for name, _ in model.named_parameters()]
    assert_same_moments(opened, names, optimizer.state_dict()["state"])
    assert (opened.state.global_step, opened.state.scheduler["last_epoch"]) == (77, 3)


def test_files_that_lie_loose_beside_the_weights(net, tmp_path):
    model, optimizer, _ = net
    torch.save(model.state_dict(), tmp_path / "model_100.pt")
    torch.save(optimizer.state_dict(), tmp_path / "optim_100.pt")
    alone = open_checkpoint(tmp_path / "model_100.pt")
    assert not of_role(alone, Role.EXP_AVG)
    opened = open_checkpoint(tmp_path / "model_100.pt", [tmp_path / "optim_100.pt"])
    assert set(of_role(opened, Role.EXP_AVG)) == {name for name, _ in model.named_parameters()}
    (tmp_path / "optim_100.pt").write_bytes(b"")
    damaged = open_checkpoint(tmp_path / "model_100.pt", [tmp_path / "optim_100.pt"])
    assert_same_state(damaged, model.state_dict())
    assert [note.text for note in damaged.notes] == ["is empty"]


def test_a_distributed_save_inside_a_folder(distributed, tmp_path):
    shutil.copytree(distributed[0] / "nested", tmp_path / "model_and_optim")
    (tmp_path / "train").mkdir()
    torch.save({"global_step": 12, "epoch": 2}, tmp_path / "train" / "rank0.pt")
    opened = open_checkpoint(tmp_path)
    assert_same_state(opened, distributed[1])
    assert set(of_role(opened, Role.EXP_AVG)) == set(distributed[2]["state"])


def test_the_layout_of_accelerate_with_fsdp(distributed, tmp_path):
    shutil.copytree(distributed[0] / "nested", tmp_path / "pytorch_model_fsdp_0")
    torch.save({"base_lrs": [0.1], "last_epoch": 5}, tmp_path / "scheduler.bin")
    opened = open_checkpoint(tmp_path)
    assert opened.format == "hugging face"
    assert_same_state(opened, distributed[1])
    assert opened.state.scheduler["last_epoch"] == 5
