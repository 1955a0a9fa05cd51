"""Loader: puts checkpoints into the model and the optimizer that the replay file builds."""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import nn

from forensics.replay.errors import ReplayError
from forensics.replay.loaded_model import load_weights, restore_optimizer, usual_optimizer
from forensics.replay.plan import Settings, Start
from forensics.replay.spec import ReplaySpec
from forensics.replay.stored_state import StoredState, read_state
from forensics.replay_facts import LoadCheck


def built_model(spec: ReplaySpec) -> nn.Module:
    """The user's model, freshly built."""
    model = spec.build_model()
    if not isinstance(model, nn.Module):
        raise ReplayError(
            f"{spec.place('build_model')} returned {type(model).__name__}, not a torch.nn.Module"
        )
    return model


@dataclass(eq=False)
class Loader:
    """The checkpoints of one run, for one model."""

    spec: ReplaySpec
    folder: Path
    model: nn.Module
    checks: dict[str, LoadCheck]
    """How each that was loaded fits, by its path."""

    def load(self, start: Start, *, sound: bool = False) -> StoredState:
        """Put a checkpoint's weights into the model.

        Args:
            start: The checkpoint.
            sound: Refuse weights that are not finite.
        """
        state = read_state(self.folder / start.path)
        check = load_weights(self.model, state.weights, start)
        self.checks[start.path] = check
        if not check.fits:
            wrong = [*check.missing[:3], *check.mismatched[:3]]
            raise ReplayError(
                f"{start.path}: it does not fit the model of {self.spec.source}: {'; '.join(wrong)}"
            )
        broken = [n for n, t in self.model.state_dict().items() if not _all_finite(t)]
        if broken and sound:
            raise ReplayError(f"{start.path}: {broken[0]} is not finite; nothing starts from there")
        return state

    def optimizer(self, stored: StoredState | None, settings: Settings) -> torch.optim.Optimizer:
        """The user's optimizer, or the one that checkpoint and configuration speak of."""
        if self.spec.build_optimizer is not None:
            return self.spec.build_optimizer(self.model)
        saved = stored.optimizer if stored is not None else None
        return usual_optimizer(self.model, settings, saved)

    def restore(
        self, optimizer: torch.optim.Optimizer, stored: StoredState, start: Start
    ) -> int | None:
        """Put back the optimizer's state; returns the steps it has counted."""
        trouble = ""
        if self.spec.load_checkpoint is not None:
            self.spec.load_checkpoint(self.model, optimizer, str(self.folder / start.path))
        else:
            trouble = restore_optimizer(optimizer, stored)
        kept = bool(optimizer.state)
        self.checks[start.path] = replace(
            self.checks[start.path],
            optimizer=None if not trouble and not kept else not trouble,
            optimizer_trouble=trouble,
        )
        counters = [float(s["step"]) for s in optimizer.state.values() if "step" in s]
        return int(max(counters)) if counters else None


def _all_finite(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() or bool(torch.isfinite(tensor).all())
