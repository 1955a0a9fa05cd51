"""Session: the model, loaded once, and the means to put it back and to take a step.

Every experiment gets the same session. It begins with `Session.begin`, which puts weights,
optimizer state and random numbers back as the checkpoint holds them, and takes steps with
`Session.train_step`, which changes one variable at most (`Knobs`).
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from forensics.replay import ranks
from forensics.replay.batch_store import BatchStore
from forensics.replay.errors import NotDone, ReplayError
from forensics.replay.knobs import AS_RUN, Knobs, StepResult, turn
from forensics.replay.loader import Loader, built_model
from forensics.replay.loss_scale import START as SCALE_START
from forensics.replay.loss_scale import LossScale
from forensics.replay.numerics import precision_of
from forensics.replay.plan import ReplayPlan, Start
from forensics.replay.rates import Rates
from forensics.replay.snapshot import Snapshot
from forensics.replay.spec import ReplaySpec
from forensics.replay.stored_state import StoredState
from forensics.replay_facts import LoadCheck, Trajectory


@dataclass(eq=False)
class Session:
    """One model on one device, shared by all experiments."""

    spec: ReplaySpec
    plan: ReplayPlan
    device: torch.device
    deadline: float
    """`time.monotonic` at which the budget ends."""
    loads: dict[str, LoadCheck] = field(default_factory=dict)
    """How each checkpoint that was loaded fits the model, by its path."""
    model: nn.Module = field(init=False)
    _wrapped: nn.Module = field(init=False)
    """What the user's loss is given: the model, under torchrun inside DDP."""
    optimizer: torch.optim.Optimizer = field(init=False)
    batches: BatchStore = field(init=False)
    rates: Rates = field(init=False)
    next_step: int = 0
    """First step replayed from the main checkpoint; set by the alignment."""
    alignment: str = ""
    start: Start | None = None
    """The checkpoint replayed from; None: freshly built weights."""
    updates: int | None = None
    """Optimizer steps done before ``start``, by Adam's counter."""
    suspect: int | None = None
    """Step of the suspect batch; the comparison narrows it down where the log has gaps."""
    as_run: Trajectory | None = None
    """The stretch with the run's own settings, once it was replayed."""
    _loader: Loader = field(init=False)
    _main: Snapshot = field(init=False)
    _scaler: LossScale | None = None

    def __post_init__(self) -> None:
        torch.manual_seed(self.plan.settings.seed or 0)
        self.model = built_model(self.spec)
        self._loader = Loader(self.spec, self.plan.folder, self.model, self.loads)
        self.batches = BatchStore(self.spec, self.device)
        self.suspect = self.plan.suspect_step
        self.start = self.plan.before
        stored = self._loader.load(self.start, sound=True) if self.start is not None else None
        self.model.to(self.device).train()
        self._wrapped = ranks.wrapped(self.model)
        self.optimizer = self._loader.optimizer(stored, self.plan.settings)
        if stored is not None and self.start is not None:
            self.updates = self._loader.restore(self.optimizer, stored, self.start)
        self.rates = Rates.of(self.plan, self.optimizer, loaded=stored is not None)
        self.next_step = 1 if self.spec.first_step is None else self.spec.first_step
        self._main = self._taken(stored)

    @property
    def start_path(self) -> str:
        """The checkpoint replayed from, '' for freshly built weights."""
        return self.start.path if self.start is not None else ""

    @property
    def start_step(self) -> int | None:
        """Its step."""
        return self.start.step if self.start is not None else None

    @property
    def probe_step(self) -> int:
        """An ordinary batch to measure with: the first one after the checkpoint."""
        steps = self.spec.steps
        if steps:
            return next((s for s in steps if s != self.suspect), steps[0])
        return self.next_step if self.next_step != self.suspect else self.next_step + 1

    # -- state -------------------------------------------------------------------------------

    def _taken(self, stored: StoredState | None) -> Snapshot:
        scaler = stored.scaler if stored is not None else None
        saved = scaler.get("scale") if scaler else None
        usual = self.plan.settings.loss_scale or SCALE_START
        fp16 = self.plan.settings.precision == "fp16"
        scale = float(saved or usual) if fp16 else None
        rng = stored.rng if stored is not None else None
        return Snapshot.take(self.model, self.optimizer, scale, rng)

    def begin(self, knobs: Knobs = AS_RUN, seed: int | None = None) -> None:
        """Put everything back as the checkpoint holds it, the knobs' settings applied."""
        self._main.put_back(self.model, self.optimizer)
        self.model.train()
        scale = self._main.scale
        self._scaler = None if scale is None else LossScale(scale)
        turn(self.optimizer, knobs)
        if seed is None and self._main.rng is not None:
            torch.set_rng_state(self._main.rng)
        else:
            torch.manual_seed((self.plan.settings.seed or 0) if seed is None else seed)

    @contextmanager
    def weights_of(self, start: Start) -> Iterator[None]:
        """The weights of another checkpoint for a while; the main ones come back after it."""
        self.begin()
        try:
            self._loader.load(start)
            yield
        finally:
            self.begin()

    # -- steps -------------------------------------------------------------------------------

    def loss_of(self, batch: Any, knobs: Knobs = AS_RUN) -> torch.Tensor:
        """The scalar training loss under the run's precision."""
        kind = knobs.precision or self.plan.settings.precision
        with precision_of(kind, self.device.type, forced=knobs.precision is not None):
            loss = self.spec.compute_loss(self._wrapped, batch)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            got = (
                f"shape {tuple(loss.shape)}"
                if isinstance(loss, torch.Tensor)
                else type(loss).__name__
            )
            raise ReplayError(
                f"{self.spec.place('compute_loss')} returned {got}; it is to return a scalar tensor"
            )
        return loss.reshape(())

    def backward(self, batch: Any, knobs: Knobs = AS_RUN) -> StepResult:
        """Forward and backward; gradients are left unscaled and unclipped in the parameters."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_of(batch, knobs)
        scale = self.scale if (knobs.precision or "fp16") == "fp16" else None
        if not loss.requires_grad:
            raise ReplayError(
                f"{self.spec.place('compute_loss')} returned a loss without a gradient: nothing of "
                "it leads back to the weights (detach, item, no_grad or another model?)"
            )
        torch.autograd.backward(loss if scale is None else loss * scale)
        factor = knobs.gradient_scale / (scale or 1.0)
        grads = [p.grad for p in self.model.parameters() if p.grad is not None]
        if factor != 1.0:
            torch._foreach_mul_(grads, factor)
        norm = torch.nn.utils.get_total_norm(grads) if grads else torch.zeros(())
        own = float(loss.detach())
        shared = ranks.averaged((own, float(norm)))
        return StepResult(shared[0], shared[1], own_loss=own)

    @property
    def scale(self) -> float | None:
        """The loss scale at hand; None: none is used."""
        return None if self._scaler is None else self._scaler.scale

    def train_step(self, step: int, knobs: Knobs = AS_RUN, since: int = 0) -> StepResult:
        """One optimizer step on the batch of ``step``; ``since`` counts the steps replayed."""
        return self.train_on(self.batches.load(step), step, knobs, since)

    def train_on(self, batch: Any, step: int, knobs: Knobs = AS_RUN, since: int = 0) -> StepResult:
        """One optimizer step on any batch, as if it were that of ``step``."""
        self.check_time()
        result = self.backward(batch, knobs)
        if step in knobs.skip:
            return result
        scaler = self._scaler if knobs.precision in (None, "fp16") else None
        if scaler is not None and not scaler.take(result.grad_norm):
            return replace(result, updated=False)
        self._clip(result.grad_norm, knobs)
        self.rates.apply(self.optimizer, step, knobs.rate * _ramp(knobs.warmup, since))
        self.optimizer.step()
        return result

    def _clip(self, norm: float, knobs: Knobs) -> None:
        threshold = self.plan.settings.clip if knobs.clip is None else knobs.clip
        if threshold:
            total = torch.tensor(norm)
            parameters = [p for p in self.model.parameters() if p.grad is not None]
            torch.nn.utils.clip_grads_with_norm_(parameters, threshold, total)

    # -- budget ------------------------------------------------------------------------------

    def time_left(self) -> float:
        """Seconds of the budget that are left; by rank 0's clock, where there are several."""
        return ranks.of_first_rank(self.deadline - time.monotonic())

    @contextmanager
    def unsynchronised(self) -> Iterator[None]:
        """Gradients stay each rank's own inside."""
        if isinstance(self._wrapped, DistributedDataParallel):
            with self._wrapped.no_sync():
                yield
        else:
            yield

    def check_time(self) -> None:
        """Raises NotDone when the budget is spent."""
        if self.time_left() <= 0:
            raise NotDone(f"the budget of {self.plan.budget:g} s was spent (--budget)")


def _ramp(warmup: int, since: int) -> float:
    return min(1.0, (since + 1) / warmup) if warmup else 1.0
