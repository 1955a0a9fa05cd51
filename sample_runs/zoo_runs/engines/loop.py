"""The loop of a plain torch script: accumulation, reduction, clipping, scaling, resume."""

import copy
import traceback
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from zoo_runs.logged import Logged
from zoo_runs.recipe import Batch, Optimizer, Recipe
from zoo_runs.recorder import Recorder
from zoo_runs.watch import Watch

HALVES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def train(recipe: Recipe, logged: Logged, folder: Path) -> Watch:
    """Run a recipe in ``folder``; an exception ends the run and is printed as Python does."""
    watch = Watch()
    recorder = Recorder(folder, logged, recipe, watch)
    try:
        Loop(recipe, recorder).run()
    except (IndexError, RuntimeError, ValueError) as error:
        watch.error = type(error).__name__
        for line in traceback.format_exc().splitlines():
            recorder.say(line.replace(str(Path(__file__).parents[2]), "."))
    recorder.close()
    return watch


class Loop:
    """The state of one training."""

    def __init__(self, recipe: Recipe, recorder: Recorder) -> None:
        self.recipe, self.recorder = recipe, recorder
        torch.manual_seed(recipe.settings.seed)
        self.model = recipe.build()
        self.optimizer = recipe.make_optimizer(self.model)
        self.half = HALVES.get(recipe.settings.precision)
        self.scaler = torch.amp.GradScaler(
            "cpu",
            enabled=recipe.settings.precision == "fp16",
            init_scale=recipe.first_scale,
            growth_interval=recipe.growth_interval,
        )
        self._states: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}

    def run(self) -> None:
        """Train to the end, or to where the recipe stops."""
        recipe, resume = self.recipe, self.recipe.resume
        last = recipe.stop_after or recipe.settings.steps
        for step in range(1, (resume.stopped if resume else last) + 1):
            self.step(step, recipe.learning_rate(step), step)
            if resume and step == resume.saved:
                state = self.model.state_dict(), self.optimizer.state_dict()
                self._states[step] = copy.deepcopy(state)
                self._save(step)
        if resume is None:
            return
        self._reload()
        rate = resume.rate or recipe.learning_rate
        shift = 0 if resume.first_batch is None else resume.first_batch - resume.saved - 1
        for step in range(resume.saved + 1, last + 1):
            self.step(step, rate(step), step + shift)

    def _reload(self) -> None:
        """A second process: the model is built anew and loads the checkpoint."""
        resume = self.recipe.resume
        assert resume is not None
        weights, moments = self._states[resume.saved]
        self.model = self.recipe.build()
        self.model.load_state_dict(weights)
        self.optimizer = self.recipe.make_optimizer(self.model)
        resume.restore(self.optimizer, moments)
        if resume.text:
            self.recorder.say(resume.text)

    def step(self, step: int, rate: float, number: int) -> None:
        """One optimizer step with batch ``number`` (of the optimizer's steps)."""
        recipe, recorder = self.recipe, self.recorder
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group.get("factor", 1.0)
        self.optimizer.zero_grad()
        loss, accuracy = self._gradients(step, number)
        for hook in recipe.after_backward:
            hook(step, self.model)
        norm = self._update()
        for act in recipe.after_step:
            act(step, self.model, self.optimizer)
        row = {"loss": loss, "grad_norm": norm, "lr": rate}
        if self.scaler.is_enabled():
            row["loss_scale"] = self.scaler.get_scale()
        if accuracy is not None:
            row["accuracy"] = accuracy
        row |= {name: measure(self.model) for name, measure in recipe.measures.items()}
        recorder.step(step, row)
        self._look(step)

    def _gradients(self, step: int, number: int) -> tuple[float, float | None]:
        """Backward over all micro-batches; mean loss and accuracy of the first of them."""
        recipe, s = self.recipe, self.recipe.settings
        parts = s.gradient_accumulation_steps * s.world_size
        total, accuracy = 0.0, None
        for part in range(parts):
            batch = recipe.batch((number - 1) * parts + part + 1)
            if part == 0:
                self.recorder.keep_batch(step, batch)
            with torch.autocast("cpu", dtype=self.half, enabled=self.half is not None):
                outputs = recipe.forward(self.model, batch)
            outputs = outputs.float() if self.half is not None else outputs
            loss = recipe.criterion(outputs, batch)
            self.scaler.scale(loss / parts if recipe.divide else loss).backward()
            total += loss.item() / parts
            if part == 0 and recipe.classes:
                accuracy = share_right(outputs, batch)
        return total, accuracy

    def _update(self) -> float:
        """Clip and step; returns the norm as the script sees it before clipping."""
        recipe = self.recipe
        if recipe.unscale_first:
            self.scaler.unscale_(self.optimizer)
        threshold = recipe.settings.max_grad_norm or float("inf")
        norm = clip_grad_norm_(self.model.parameters(), threshold).item()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return norm

    def _look(self, step: int) -> None:
        """Validate and save where it is time to."""
        recipe = self.recipe
        if recipe.eval_every and step % recipe.eval_every == 0:
            accuracy = validation_accuracy(recipe, self.model) if recipe.classes else None
            self.recorder.validate(step, recipe.validation_loss(self.model), accuracy)
        if step % self.recorder.save_every == 0:
            self._save(step)

    def _save(self, step: int) -> None:
        if self.recorder.logged.checkpoints:
            others = {"scaler": self.scaler.state_dict()} if self.scaler.is_enabled() else {}
            self.recorder.save(step, self.model, self.optimizer, others)


def share_right(outputs: torch.Tensor, batch: Batch) -> float:
    """Accuracy of a batch of classes."""
    return (outputs.argmax(dim=-1) == batch["labels"]).float().mean().item()


def validation_accuracy(recipe: Recipe, model: nn.Module) -> float:
    """Accuracy over the validation set in evaluation mode."""
    model.eval()
    with torch.no_grad():
        shares = [share_right(recipe.forward(model, b), b) for b in recipe.validation]
    model.train()
    return sum(shares) / len(shares) if shares else float("nan")


__all__ = ["Loop", "Optimizer", "train"]
