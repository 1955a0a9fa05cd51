import argparse

import pytest

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import of_role, raw, torch_bytes, weights

torch = pytest.importorskip("torch")
HIDDEN = 4


def layer(number, tensor=0, ranks=1):
    """Weights of one layer as one of ``ranks`` tensor-parallel ranks holds them."""
    torch.manual_seed(number)
    qkv, out = torch.randn(3 * HIDDEN, HIDDEN), torch.randn(HIDDEN, HIDDEN)
    return {
        "self_attention.linear_qkv.weight": qkv.chunk(ranks)[tensor].clone(),
        "self_attention.linear_proj.weight": out.chunk(ranks, dim=1)[tensor].clone(),
        "self_attention.linear_proj.bias": torch.full((HIDDEN,), float(number)),
        "input_layernorm.weight": torch.ones(HIDDEN),
    }


def named(layers, **ranks):
    return {
        f"decoder.layers.{local}.{name}": value
        for local, number in enumerate(layers)
        for name, value in layer(number, **ranks).items()
    }


def write(folder, rank, model, **more):
    own = folder / "iter_0000300" / rank
    own.mkdir(parents=True)
    (folder / "latest_checkpointed_iteration.txt").write_text("300")
    args = argparse.Namespace(lr=0.01, clip_grad=1.0, params_dtype=torch.bfloat16)
    save = {"args": args, "checkpoint_version": 3.0, "iteration": 300, "model": model, **more}
    torch.save(save, own / "model_optim_rng.pt")
    return folder


def optimizer_of(model, groups):
    """The state of Megatron's mixed-precision optimizer: groups, moments, float32 copies."""
    keys = iter(range(len(model)))
    numbers = [[next(keys) for _ in group] for group in groups]
    flat = [name for group in groups for name in group]
    state = {n: {"exp_avg": model[name].float() + 1, "exp_avg_sq": model[name].float() + 2}
             for n, name in enumerate(flat)}  # fmt: skip
    settings = [{"lr": 0.01, "step": 300, "betas": (0.9, 0.95), "params": n} for n in numbers]
    return {
        "optimizer": {"state": state, "param_groups": settings},
        "fp32_from_fp16_params": [[model[name].float() for name in group] for group in groups],
        "grad_scaler": {
            "scale": torch.tensor([4096.0]),
            "growth_tracker": 5,
            "hysteresis_tracker": 2,
        },
    }


def test_a_folder_without_files_is_unreadable(tmp_path):
    write(tmp_path, "mp_rank_00", {"w": torch.ones(1)})
    (tmp_path / "iter_0000300" / "mp_rank_00" / "model_optim_rng.pt").write_bytes(b"")
    with pytest.raises(UnreadableFile, match="is empty"):
        open_checkpoint(tmp_path)


def test_a_pointer_to_a_save_that_is_not_there(tmp_path):
    write(tmp_path, "mp_rank_00", named([0]))
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("400")
    opened = open_checkpoint(tmp_path)
    assert "points to iter_0000400, which is not there" in str(opened.notes[0])
    assert opened.tensors


def test_one_rank(tmp_path):
    model = named([0, 1])
    opened = open_checkpoint(write(tmp_path, "mp_rank_00", model) / "iter_0000300")
    assert opened.format == "megatron"
    assert {n: raw(t) for n, t in weights(opened).items()} == {
        n: torch_bytes(t) for n, t in model.items()}  # fmt: skip
    assert opened.state.global_step == 300
    assert opened.state.settings["clip_grad"] == 1.0


def test_nested_models_of_older_versions(tmp_path):
    model = {"language_model": {"encoder": {"layers.0.mlp.weight": torch.ones(2)}}}
    found = weights(open_checkpoint(write(tmp_path, "mp_rank_00", model)))
    assert set(found) == {"language_model.encoder.layers.0.mlp.weight"}


def test_the_optimizer_with_its_float32_copies(tmp_path):
    model = {name: value.bfloat16() for name, value in named([0, 1]).items()}
    groups = [[n for n in model if model[n].ndim > 1], [n for n in model if model[n].ndim < 2]]
    optimizer = optimizer_of(model, groups)
    scheduler = {"max_lr": 0.01, "num_steps": 300, "lr_warmup_steps": 10}
    write(tmp_path, "mp_rank_00", model, optimizer=optimizer, opt_param_scheduler=scheduler)
    opened = open_checkpoint(tmp_path)
    for role, shift in ((Role.MASTER, 0), (Role.EXP_AVG, 1), (Role.EXP_AVG_SQ, 2)):
        found = of_role(opened, role)
        assert {n: raw(t) for n, t in found.items()} == {
            n: torch_bytes(value.float() + shift) for n, value in model.items()}  # fmt: skip
    assert opened.state.optimizer_steps == dict.fromkeys(model, 300.0)
    assert opened.state.scaler == {"scale": 4096.0, "growth_tracker": 5, "hysteresis_tracker": 2}
    assert opened.state.scheduler == scheduler
    assert len(of_role(opened, Role.SCALER)) == 1


def test_tensor_parallel_shards_become_one_tensor_and_copies_keep_their_rank(tmp_path):
    for tensor in (0, 1):
        model = named([0], tensor=tensor, ranks=2)
        write(tmp_path, f"mp_rank_{tensor:02d}", model)
    opened = open_checkpoint(tmp_path)
    qkv = weights(opened)["decoder.layers.0.self_attention.linear_qkv.weight"]
    whole = layer(0)["self_attention.linear_qkv.weight"]
    assert (qkv.shape, raw(qkv), qkv.rank) == (tuple(whole.shape), torch_bytes(whole), None)
    projection = weights(opened)["decoder.layers.0.self_attention.linear_proj.weight"]
    assert projection.shape == (HIDDEN, HIDDEN)
    copies = [t.rank for t in opened.tensors if t.name.endswith("layernorm.weight")]
    assert copies == [0, 1]


def test_the_layers_of_pipeline_stages_are_numbered_through(tmp_path):
    write(tmp_path, "mp_rank_00_000", named([0, 1]))
    write(tmp_path, "mp_rank_00_001", named([2, 3]))
    found = weights(open_checkpoint(tmp_path))
    for number in range(4):
        bias = found[f"decoder.layers.{number}.self_attention.linear_proj.bias"]
        assert raw(bias) == torch_bytes(torch.full((HIDDEN,), float(number)))


def test_interleaved_stages_are_numbered_chunk_by_chunk(tmp_path):
    for stage in (0, 1):
        chunks = {f"model{chunk}": named([2 * chunk + stage]) for chunk in (0, 1)}
        own = write(tmp_path, f"mp_rank_00_{stage:03d}", {}) / "iter_0000300"
        save = {"iteration": 300, **chunks}
        torch.save(save, own / f"mp_rank_00_{stage:03d}" / "model_optim_rng.pt")
    found = weights(open_checkpoint(tmp_path))
    for number in range(4):
        bias = found[f"decoder.layers.{number}.self_attention.linear_proj.bias"]
        assert raw(bias) == torch_bytes(torch.full((HIDDEN,), float(number)))


def test_a_missing_rank_is_noted(tmp_path):
    write(tmp_path, "mp_rank_00_000", named([0]))
    write(tmp_path, "mp_rank_01_001", named([0]))
    assert any("lacks the files of 2 ranks" in n.text for n in open_checkpoint(tmp_path).notes)


def test_the_distributed_optimizers_vectors_keep_their_roles(tmp_path):
    write(tmp_path, "mp_rank_00", named([0]))
    vectors = {"param": torch.ones(8), "exp_avg": torch.ones(8), "exp_avg_sq": torch.ones(8)}
    save = {0: {"torch.float32": vectors}, "param_state_sharding_type": "dp_zero_gather_scatter"}
    torch.save(save, tmp_path / "iter_0000300" / "mp_rank_00" / "distrib_optim.pt")
    opened = open_checkpoint(tmp_path)
    for role in (Role.MASTER, Role.EXP_AVG, Role.EXP_AVG_SQ):
        (name,) = of_role(opened, role)
        assert name.startswith("distributed_optimizer.")
