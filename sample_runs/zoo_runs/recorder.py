"""Recorder: what a plain torch script writes while it trains, as `Logged` says."""

import json
from pathlib import Path
from typing import Any

import torch
import yaml
from safetensors.torch import save_file
from torch import nn

from zoo_runs.logged import Logged
from zoo_runs.recipe import Batch, Optimizer, Recipe
from zoo_runs.watch import Saved, Watch, is_finite
from zoo_runs.writers import Row, mean, open_writer

ALWAYS = ("loss", "accuracy", "val_loss", "val_accuracy")


class Recorder:
    """Writes a run's folder and keeps the truth of every step in ``watch``."""

    def __init__(self, folder: Path, logged: Logged, recipe: Recipe, watch: Watch) -> None:
        self.folder, self.logged, self.watch = folder, logged, watch
        self._recipe = recipe
        self._window: list[float] = []
        self._text = logged.format.startswith("text") or recipe.needs_text
        self._writer = open_writer(logged.format, folder, self.say)
        steps = recipe.settings.steps
        self.save_every = max(1, steps // logged.checkpoints) if logged.checkpoints else steps + 1
        self._write_settings()
        for line in recipe.opening:
            self.say(line)

    def say(self, line: str) -> None:
        """Print a line, which a run that keeps its output has in ``train.log``."""
        if self._text:
            with (self.folder / "train.log").open("a") as file:
                file.write(line + "\n")

    def step(self, step: int, row: Row) -> None:
        """Take the quantities of one training step."""
        self.watch.losses[step] = row["loss"]
        self.watch.norms[step] = row.get("grad_norm", float("nan"))
        for name in self._recipe.measures:
            self.watch.extra.setdefault(name, []).append(row[name])
        self._window.append(self._recipe.shown(row["loss"]))
        if step % self.logged.interval:
            return
        shown = mean(self._window) if self.logged.mean else self._window[-1]
        self._window.clear()
        wanted = {"grad_norm": self.logged.grad_norm, "lr": self.logged.lr}
        kept = {k: v for k, v in row.items() if wanted.get(k, True)}
        named = {self._recipe.loss_name: shown} | {k: v for k, v in kept.items() if k != "loss"}
        self._writer.write(step, named)

    def validate(self, step: int, loss: float, accuracy: float | None) -> None:
        """Take a validation."""
        self.watch.validation[step] = loss
        row = {"val_loss": loss} | ({} if accuracy is None else {"val_accuracy": accuracy})
        self._writer.write(step, row)

    def save(
        self, step: int, model: nn.Module, optimizer: Optimizer, others: dict[str, Any]
    ) -> None:
        """Write ``checkpoints/step_<N>.pt``."""
        path = f"checkpoints/step_{step:06d}.pt"
        (self.folder / "checkpoints").mkdir(exist_ok=True)
        weights, moments = model.state_dict(), optimizer.state_dict()
        state = {"model": weights, "optimizer": moments, "step": step, **others}
        torch.save(state, self.folder / path)
        self.watch.saved.append(Saved(step, path, is_finite(weights, moments)))

    def keep_batch(self, step: int, batch: Batch) -> None:
        """Write a captured batch."""
        keep_batch(self._recipe, self.logged, self.folder, step, batch)

    def close(self) -> None:
        """Print the last lines and finish the files."""
        for line in self._recipe.closing:
            self.say(line)
        self._writer.close()

    def _write_settings(self) -> None:
        settings = as_written(self._recipe)
        if self.logged.config == "yaml":
            text = yaml.safe_dump(settings, sort_keys=False)
            (self.folder / "config.yaml").write_text(text)
        elif self.logged.config == "json":
            (self.folder / "config.json").write_text(json.dumps(settings, indent=2))
        elif self.logged.config == "argparse":
            items = ", ".join(f"{k}={v!r}" for k, v in settings.items())
            self._print_settings(f"Namespace({items})")
        elif self.logged.config == "flags":
            items = " ".join(f"--{k} {v}" for k, v in settings.items() if v is not None)
            self._print_settings(f"python train.py {items}")

    def _print_settings(self, line: str) -> None:
        if self._text:
            self.say(line)
        else:
            (self.folder / "args.txt").write_text(line + "\n")


def keep_batch(
    recipe: Recipe, logged: Logged, folder: Path, step: int, batch: Batch, first: int = 1
) -> None:
    """Write a captured batch, where the run keeps them and this one is among them.

    ``step`` counts from 1; ``first`` is the number that the run gives its first step.
    """
    if logged.batches and step in recipe.shown_batches:
        (folder / "batches").mkdir(exist_ok=True)
        tensors = {name: tensor.contiguous() for name, tensor in batch.items()}
        save_file(tensors, folder / "batches" / f"step_{step - 1 + first}.safetensors")


def as_written(recipe: Recipe) -> dict[str, Any]:
    """The settings as a script writes them: plain values, no defaults that say nothing."""
    s = recipe.settings
    written: dict[str, Any] = {
        "optimizer": s.optimizer,
        "learning_rate": s.learning_rate,
        "max_steps": s.steps,
        "batch_size": s.batch_size,
        "warmup_steps": s.warmup_steps,
        "lr_scheduler": s.schedule,
        "weight_decay": s.weight_decay,
        "max_grad_norm": s.max_grad_norm,
        "precision": s.precision,
        "seed": s.seed,
    }
    if s.optimizer != "sgd":
        written |= {"beta1": s.betas[0], "beta2": s.betas[1], "eps": s.eps}
    if s.gradient_accumulation_steps > 1:
        written["gradient_accumulation_steps"] = s.gradient_accumulation_steps
    if s.world_size > 1:
        written["world_size"] = s.world_size
    return written | s.extra
