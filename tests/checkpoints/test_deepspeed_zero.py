import shutil

import pytest

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import of_role, raw, torch_bytes, weights

torch = pytest.importorskip("torch")
from tests.checkpoints import zero_writer  # noqa: E402

WRITERS = {
    "zero2": zero_writer.write_zero2,
    "zero3": zero_writer.write_zero3,
    "universal": zero_writer.write_universal,
}


@pytest.fixture(params=["zero2", "zero3"])
def written(request, tmp_path):
    return tmp_path, WRITERS[request.param](tmp_path)


def optimizer_file(folder, rank):
    return folder / zero_writer.TAG / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt"


def test_a_missing_rank_is_noted_and_no_value_of_it_is_made_up(written):
    folder, run = written
    optimizer_file(folder, 1).unlink()
    opened = open_checkpoint(folder)
    assert any("lacks the optimizer files of 1 of 2 ranks (1)" in n.text for n in opened.notes)
    masters = of_role(opened, Role.MASTER)
    assert set(masters) == set(run.weights)
    missing = [t for t in masters.values() if t.missing == "the file of rank 1 is missing"]
    assert missing
    for name, tensor in masters.items():
        assert torch_bytes(run.weights[name]).startswith(raw(tensor))
        assert len(raw(tensor)) == 4 * tensor.size or tensor.missing


def test_an_empty_rank_is_as_good_as_missing(written):
    folder, _ = written
    optimizer_file(folder, 1).write_bytes(b"")
    opened = open_checkpoint(folder)
    assert {n.text for n in opened.notes if n.source.endswith("optim_states.pt")} == {"is empty"}
    assert any(t.missing for t in opened.tensors)


def test_latest_that_points_nowhere(written):
    folder, run = written
    (folder / "latest").write_text("global_step999")
    opened = open_checkpoint(folder)
    assert "points to global_step999, which is not there" in str(opened.notes[0])
    assert set(of_role(opened, Role.MASTER)) == set(run.weights)


@pytest.mark.parametrize("tag", ["../..", "/etc", "", "\0"])
def test_latest_that_leads_outside_is_not_followed(written, tag):
    folder, _ = written
    (folder / "latest").write_text(tag)
    assert open_checkpoint(folder).tensors


def test_without_shapes_the_vectors_are_read_without_names(written):
    folder, run = written
    for path in (folder / zero_writer.TAG).glob("*model_states.pt"):
        path.unlink()
    opened = open_checkpoint(folder)
    assert "no model states with the parameters' shapes" in str(opened.notes[0])
    masters = of_role(opened, Role.MASTER)
    assert set(masters) <= {"vector_0", "vector_1", "vector_2"}
    elements = sum(value.numel() for value in run.weights.values())
    assert elements <= sum(len(raw(t)) // 4 for t in masters.values()) < elements + 12


def test_a_folder_whose_files_are_all_broken_is_unreadable(written):
    folder, _ = written
    for path in (folder / zero_writer.TAG).glob("*.pt"):
        path.write_bytes(b"broken")
    with pytest.raises(UnreadableFile, match="was not written by torch"):
        open_checkpoint(folder)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("tag", [False, True])
def test_the_names_are_the_models(tmp_path, kind, tag):
    run = WRITERS[kind](tmp_path)
    inner = tmp_path / zero_writer.TAG
    opened = open_checkpoint(inner if tag and inner.exists() else tmp_path)
    for role in (Role.MASTER, Role.EXP_AVG, Role.EXP_AVG_SQ):
        assert set(of_role(opened, role)) == set(run.weights)
    assert opened.notes == ()


@pytest.mark.parametrize("kind", WRITERS)
def test_every_value_over_all_ranks(tmp_path, kind):
    run = WRITERS[kind](tmp_path)
    opened = open_checkpoint(tmp_path)
    kinds = {Role.MASTER: run.weights, Role.EXP_AVG: run.exp_avg, Role.EXP_AVG_SQ: run.exp_avg_sq}
    for role, expected in kinds.items():
        found = of_role(opened, role)
        assert {n: raw(t) for n, t in found.items()} == {
            n: torch_bytes(t) for n, t in expected.items()}  # fmt: skip
        assert all(found[n].shape == tuple(t.shape) for n, t in expected.items())


@pytest.mark.parametrize("world", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("stage", [zero_writer.write_zero2, zero_writer.write_zero3])
def test_any_number_of_ranks(tmp_path, world, stage):
    run = stage(tmp_path, world)
    found = of_role(open_checkpoint(tmp_path), Role.MASTER)
    assert {n: raw(t) for n, t in found.items()} == {
        n: torch_bytes(t) for n, t in run.weights.items()}  # fmt: skip


def test_stage_two_keeps_the_half_precision_weights(tmp_path):
    run = zero_writer.write_zero2(tmp_path)
    opened = open_checkpoint(tmp_path)
    assert opened.format == "deepspeed zero-2"
    params = of_role(opened, Role.PARAM)
    assert {n: raw(t) for n, t in params.items()} == {
        n: torch_bytes(t.half()) for n, t in run.weights.items()}  # fmt: skip
    assert set(of_role(opened, Role.BUFFER)) == set(run.buffers)


def test_stage_three_joins_frozen_parameters(tmp_path):
    run = zero_writer.write_zero3(tmp_path)
    opened = open_checkpoint(tmp_path)
    assert opened.format == "deepspeed zero-3"
    assert set(of_role(opened, Role.PARAM)) == {"frozen"}
    assert raw(weights(opened)["frozen"]) == torch_bytes(torch.arange(9.0))
    assert set(of_role(opened, Role.BUFFER)) == set(run.buffers)


def test_the_state_of_training(written):
    state = open_checkpoint(written[0]).state
    assert state.global_step == 40
    assert [group["weight_decay"] for group in state.param_groups] == [0.1, 0.0]
    assert state.optimizer_steps == dict.fromkeys(written[1].weights, 39.0)
    assert state.scaler["cur_scale"] == 4096.0
    assert state.scheduler["last_batch_iteration"] == 39
    assert state.settings["train_batch_size"] == 16


def test_inside_a_checkpoint_of_the_trainer(written, tmp_path):
    folder, run = written
    outer = tmp_path / "checkpoint-41"
    shutil.copytree(folder, outer, ignore=shutil.ignore_patterns("checkpoint-*"))
    (outer / "trainer_state.json").write_text('{"epoch": 0.5, "global_step": 41}')
    opened = open_checkpoint(outer)
    assert (opened.state.global_step, opened.state.epoch) == (41, 0.5)
    assert set(of_role(opened, Role.MASTER)) == set(run.weights)


def test_without_zero_the_optimizer_is_in_the_models_file(tmp_path):
    run = zero_writer.training()
    state = {
        number: {"step": 5, "exp_avg": run.exp_avg[name], "exp_avg_sq": run.exp_avg_sq[name]}
        for number, name in enumerate(run.weights)
    }
    groups = [{"lr": 0.1, "params": list(state)}]
    optimizer = {"state": state, "param_groups": groups}
    save = zero_writer.model_states(run, run.weights, optimizer=optimizer)
    torch.save(save, tmp_path / "mp_rank_00_model_states.pt")
    opened = open_checkpoint(tmp_path)
    assert set(of_role(opened, Role.EXP_AVG)) == set(run.weights)
    assert set(of_role(opened, Role.PARAM)) == set(run.weights)


def test_the_layers_of_a_pipeline_are_named_by_their_number(tmp_path):
    for layer in (0, 12):
        name = f"layer_{layer:02d}-model_00-model_states.pt"
        torch.save({"weight": torch.full((2,), float(layer))}, tmp_path / name)
    found = weights(open_checkpoint(tmp_path))
    assert {n: raw(t) for n, t in found.items()} == {
        f"{n}.weight": torch_bytes(torch.full((2,), float(n))) for n in (0, 12)}  # fmt: skip
