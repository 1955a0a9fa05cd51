"""The training loop of the planted runs: CSV log, checkpoints, a configuration."""

import csv
import importlib.util
import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

PROJECT = Path(__file__).parent / "_project.py"


def _nothing(step: int, model: Any, optimizer: Any) -> None:
    """No fault."""


@dataclass(frozen=True)
class Plan:
    """The settings of a run."""

    learning_rate: float
    steps: int
    optimizer: str = "adamw"
    warmup_steps: int = 0
    max_grad_norm: float | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    momentum: float = 0.0
    precision: str = "fp32"
    accumulation: int = 1
    world_size: int = 1
    seed: int = 0
    save_every: int = 50
    log_every: int = 1
    raised_at: int | None = None
    """Step from which the rate is ``raised_by`` times as high."""
    raised_by: float = 1.0
    divided: bool = True
    """Whether the loss of a micro-batch is divided by their number."""
    resumed_at: int | None = None
    """First step after a restart from the checkpoint before it, weights only."""
    resumed_state: bool = False
    """The restart loads the optimizer's state, too."""
    before_step: Callable[[int, Any, Any], None] = _nothing
    """Called with step, model and optimizer."""
    evaluate_every: int | None = None

    def changed(self, **settings: Any) -> "Plan":
        """The same with other settings."""
        return replace(self, **settings)

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 1."""
        warm = min(1.0, step / self.warmup_steps) if self.warmup_steps else 1.0
        raised = self.raised_at is not None and step >= self.raised_at
        return self.learning_rate * warm * (self.raised_by if raised else 1.0)

    @property
    def configuration(self) -> dict[str, Any]:
        """What the user wrote into config.json."""
        config: dict[str, Any] = {
            "optimizer": self.optimizer,
            "learning_rate": self.learning_rate,
            "max_steps": self.steps,
            "warmup_steps": self.warmup_steps,
            "max_grad_norm": self.max_grad_norm,
            "precision": self.precision,
            "gradient_accumulation_steps": self.accumulation,
            "world_size": self.world_size,
            "seed": self.seed,
            "logging_steps": self.log_every,
        }
        if self.optimizer == "sgd":
            return config | {"momentum": self.momentum}
        return config | {"adam_beta1": self.betas[0], "adam_beta2": self.betas[1]}


def train(text: str, plan: Plan, folder: Path) -> list[dict[str, float]]:
    """Train what a replay file describes; returns the log.

    Args:
        text: The replay file, written to ``folder/replay.py``.
        plan: Its settings, and the fault.
        folder: Gets ``run`` with log, configuration and checkpoints.
    """
    run = prepared(text, plan, folder)
    with loaded(folder / "replay.py") as project:
        rows = list(_trained(project, plan, run))
    write_log(rows, run)
    return rows


def prepared(text: str, plan: Plan, folder: Path) -> Path:
    """The folder of a run with its configuration, and the user's project beside it."""
    run = folder / "run"
    (run / "checkpoints").mkdir(parents=True)
    (folder / "replay.py").write_text(text)
    shutil.copy(PROJECT, folder / "project.py")
    (run / "config.json").write_text(json.dumps(plan.configuration, indent=2))
    return run


def write_log(rows: list[dict[str, float]], run: Path) -> None:
    """metrics.csv, every digit kept."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with (run / "metrics.csv").open("w", newline="") as file:
        log = csv.DictWriter(file, names)
        log.writeheader()
        log.writerows(rows)


@contextmanager
def loaded(path: Path) -> Iterator[Any]:
    """The module of a file, its folder importable for as long as it is in use."""
    found = importlib.util.spec_from_file_location("planted", path)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    threads = torch.get_num_threads()
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(path.parent))
    torch.set_num_threads(1)
    try:
        found.loader.exec_module(module)
        yield module
    finally:
        torch.set_num_threads(threads)
        sys.dont_write_bytecode = writes
        sys.path.remove(str(path.parent))
        sys.modules.pop("project", None)


def optimizer_of(model: torch.nn.Module, plan: Plan) -> torch.optim.Optimizer:
    """SGD or AdamW."""
    if plan.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), lr=plan.learning_rate, momentum=plan.momentum)
    return torch.optim.AdamW(
        model.parameters(), lr=plan.learning_rate, betas=plan.betas, weight_decay=0.01
    )


def _trained(project: Any, plan: Plan, run: Path) -> Iterator[dict[str, float]]:
    torch.manual_seed(plan.seed)
    model = project.build_model()
    optimizer = optimizer_of(model, plan)
    scaler = torch.amp.GradScaler("cpu", enabled=plan.precision == "fp16")
    for step in range(1, plan.steps + 1):
        if step == plan.resumed_at:
            model, optimizer = project.build_model(), None
            saved = torch.load(run / "checkpoints" / f"step_{step - 1}.pt")
            model.load_state_dict(saved["model"])
            optimizer = optimizer_of(model, plan)
            if plan.resumed_state:
                optimizer.load_state_dict(saved["optimizer"])
        for group in optimizer.param_groups:
            group["lr"] = plan.rate(step)
        plan.before_step(step, model, optimizer)
        model.train()
        optimizer.zero_grad()
        loss = 0.0
        for micro in _micro_batches(project.load_batch(step), plan.accumulation):
            with torch.autocast("cpu", torch.float16, enabled=plan.precision == "fp16"):
                part = project.compute_loss(model, micro)
            scaler.scale(part / (plan.accumulation if plan.divided else 1)).backward()
            loss += part.item() / plan.accumulation
        scaler.unscale_(optimizer)
        limit = plan.max_grad_norm or math.inf
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit)
        scaler.step(optimizer)
        scale = scaler.get_scale()
        scaler.update()
        if step % plan.log_every == 0:
            row = {"step": step, "loss": loss, "grad_norm": norm.item()}
            row["lr"] = plan.rate(step)
            if plan.precision == "fp16":
                row["loss_scale"] = scale
            if plan.evaluate_every and step % plan.evaluate_every == 0:
                row["val_loss"] = project.evaluate(model)
            yield row
        if step % plan.save_every == 0:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            if scaler.is_enabled():
                state["scaler"] = scaler.state_dict()
            torch.save(state | {"step": step}, run / "checkpoints" / f"step_{step}.pt")


def _micro_batches(batch: Any, count: int) -> list[Any]:
    return [batch] if count == 1 else list(batch.chunk(count))
