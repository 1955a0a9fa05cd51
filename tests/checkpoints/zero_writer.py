"""Writes checkpoints in the layout of DeepSpeed's ZeRO, from a model and its moments.

Laid out as ``runtime/zero/stage_1_and_2.py``, ``stage3.py`` and ``runtime/engine.py`` do it:
alignment of the flat groups, padding cut from the last rank's float32 vector but not from its
moments, stage 3's sub-groups and empty stand-ins for the weights.
"""

import enum
import sys
import types
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

TAG = "global_step40"


@dataclass
class Training:
    """A model and its moments, by name; every parameter is in one of two groups."""

    weights: dict
    buffers: dict
    exp_avg: dict
    exp_avg_sq: dict

    @property
    def groups(self) -> list[list[str]]:
        return [
            [name for name, value in self.weights.items() if value.ndim > 1],
            [name for name, value in self.weights.items() if value.ndim < 2],
        ]


def training() -> Training:
    torch.manual_seed(3)
    model = torch.nn.Sequential(
        torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 3), torch.nn.Linear(3, 1)
    )
    weights = {name: p.detach().clone() for name, p in model.named_parameters()}
    return Training(
        weights,
        dict(model.named_buffers()),
        {name: torch.randn_like(value) for name, value in weights.items()},
        {name: torch.rand_like(value) for name, value in weights.items()},
    )


@contextmanager
def deepspeeds_classes():
    """Stand-ins for the classes that DeepSpeed pickles, under its names."""
    scaler = types.ModuleType("deepspeed.runtime.fp16.loss_scaler")
    config = types.ModuleType("deepspeed.runtime.zero.config")
    scaler.DynamicLossScaler = type(
        "DynamicLossScaler", (), {"__module__": scaler.__name__, "__init__": lambda self: None}
    )
    config.ZeroStageEnum = enum.Enum(
        "ZeroStageEnum", {"gradients": 2, "weights": 3}, module=config.__name__
    )
    parts = ("deepspeed", "deepspeed.runtime", "deepspeed.runtime.fp16", "deepspeed.runtime.zero")
    made = {name: types.ModuleType(name) for name in parts}
    made |= {module.__name__: module for module in (scaler, config)}
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        loss_scaler = scaler.DynamicLossScaler()
        loss_scaler.cur_scale, loss_scaler.cur_iter = 4096.0, 40
        yield loss_scaler, config.ZeroStageEnum
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def model_states(run: Training, weights: dict, **more) -> dict:
    """What ``engine.save_checkpoint`` puts beside the optimizer's files."""
    shapes = [OrderedDict((n, run.weights[n].shape) for n in group) for group in run.groups]
    return {
        "module": OrderedDict({**weights, **run.buffers}),
        "buffer_names": list(run.buffers),
        "optimizer": None,
        "param_shapes": shapes,
        "frozen_param_shapes": None,
        "frozen_param_fragments": None,
        "shared_params": {},
        "lr_scheduler": {"last_batch_iteration": 39, "warmup_max_lr": [0.01]},
        "skipped_steps": 1,
        "global_steps": 40,
        "global_samples": 640,
        "dp_world_size": 2,
        "mp_world_size": 1,
        "ds_config": {"train_batch_size": 16, "fp16": {"enabled": True}},
        "ds_version": "0.16.4",
        **more,
    }


def _settings(count: int) -> list[dict]:
    return [
        {"lr": 0.01, "betas": (0.9, 0.95), "eps": 1e-8, "weight_decay": decay, "params": [index]}
        for index, decay in zip(range(count), (0.1, 0.0), strict=False)
    ]


def _split_evenly(values: list, world: int) -> tuple[list, int]:
    """(vector of each rank, padding of the last) of one group's tensors."""
    flat = torch.cat([value.reshape(-1) for value in values])
    padding = -len(flat) % (2 * world)
    return list(torch.cat([flat, torch.zeros(padding)]).chunk(world)), padding


def write_zero2(folder: Path, world: int = 2) -> Training:
    """Stage 2: half-precision weights whole, all else in flat groups over the ranks."""
    run, tag = training(), folder / TAG
    tag.mkdir(parents=True)
    (folder / "latest").write_text(TAG)
    halves = {name: value.half() for name, value in run.weights.items()}
    torch.save(model_states(run, halves), tag / "mp_rank_00_model_states.pt")
    kinds = {"fp32": run.weights, "exp_avg": run.exp_avg, "exp_avg_sq": run.exp_avg_sq}
    flat = {
        kind: [_split_evenly([held[n] for n in group], world) for group in run.groups]
        for kind, held in kinds.items()
    }
    with deepspeeds_classes() as (loss_scaler, stage):
        for rank in range(world):
            state = {
                group: {
                    "step": torch.tensor(39.0),
                    "exp_avg": flat["exp_avg"][group][0][rank].clone(),
                    "exp_avg_sq": flat["exp_avg_sq"][group][0][rank].clone(),
                }
                for group in range(2)
            }
            masters = []
            for parts, padding in flat["fp32"]:
                lean = len(parts[rank]) - (padding if rank == world - 1 else 0)
                masters.append(parts[rank].clone()[:lean])
            save = {
                "loss_scaler": loss_scaler,
                "dynamic_loss_scale": True,
                "overflow": False,
                "clip_grad": 1.0,
                "base_optimizer_state": {"state": state, "param_groups": _settings(2)},
                "single_partition_of_fp32_groups": masters,
                "zero_stage": stage.gradients,
                "group_paddings": [padding for _, padding in flat["fp32"]],
                "partition_count": [world, world],
                "ds_version": "0.16.4",
                "param_slice_mappings": None,
            }
            name = f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt"
            torch.save({"optimizer_state_dict": save, "ds_config": {}}, tag / name)
    return run


def write_zero3(folder: Path, world: int = 2) -> Training:
    """Stage 3: every parameter split by itself; the weights' file holds empty stand-ins."""
    run, tag = training(), folder / TAG
    tag.mkdir(parents=True)
    (folder / "latest").write_text(TAG)
    empty = {name: torch.empty(0, dtype=torch.half) for name in run.weights}
    frozen = torch.arange(9.0)
    for rank in range(world):
        share = -(-len(frozen) // world)
        part = torch.nn.functional.pad(frozen, (0, share * world - len(frozen)))
        more = {
            "frozen_param_shapes": OrderedDict(frozen=torch.Size([3, 3])),
            "frozen_param_fragments": OrderedDict(frozen=part.chunk(world)[rank].clone()),
        }
        name = f"zero_pp_rank_{rank}_mp_rank_00_model_states.pt"
        torch.save(model_states(run, empty, **more), tag / name)
    names = [name for group in run.groups for name in group]
    sub_groups = [names[:2], names[2:3], names[3:]]

    def part(values: dict, group: list[str], rank: int):
        pieces = []
        for name in group:
            flat = values[name].reshape(-1)
            padded = torch.cat([flat, torch.zeros(-len(flat) % world)])
            pieces.append(padded.chunk(world)[rank])
        return torch.cat(pieces)

    with deepspeeds_classes() as (loss_scaler, stage):
        for rank in range(world):
            state = {
                number: {
                    "step": torch.tensor(39.0),
                    "exp_avg": part(run.exp_avg, group, rank),
                    "exp_avg_sq": part(run.exp_avg_sq, group, rank),
                }
                for number, group in enumerate(sub_groups)
            }
            save = {
                "zero_stage": stage.weights,
                "loss_scaler": loss_scaler,
                "dynamic_loss_scale": True,
                "overflow": False,
                "partition_count": world,
                "optimizer_state_dict": {"state": state, "param_groups": _settings(2)},
                "fp32_flat_groups": [part(run.weights, group, rank) for group in sub_groups],
            }
            name = f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt"
            torch.save({"optimizer_state_dict": save, "ds_config": {}}, tag / name)
    return run


def write_universal(folder: Path) -> Training:
    """The universal layout: a folder for each parameter."""
    run = training()
    for name, value in run.weights.items():
        own = folder / "zero" / name
        own.mkdir(parents=True)
        slots = {"fp32": value, "exp_avg": run.exp_avg[name], "exp_avg_sq": run.exp_avg_sq[name]}
        for slot, tensor in slots.items():
            torch.save({"param": tensor, "cat_dim": 0}, own / f"{slot}.pt")
        torch.save(torch.tensor(39.0), own / "step.pt")
    settings = {"state": {}, "param_groups": _settings(1)}
    torch.save(settings, folder / "zero" / "optimizer_state.pt")
    halves = {name: value.half() for name, value in run.weights.items()}
    torch.save(model_states(run, halves), folder / "mp_rank_00_model_states.pt")
    return run
