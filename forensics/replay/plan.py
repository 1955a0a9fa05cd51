"""What is to be replayed: plain values, made without torch and handed to the child process."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import numpy as np

from forensics.batches import Limits
from forensics.findings import Ending, Episode, EpisodeKind, Judgement, Outcome
from forensics.run import Config, Run
from forensics.signals import Signal
from forensics.timeline import Timeline, Track

CONTROLS = 8
"""Batches the suspect is held against."""
TAIL = 48
"""Steps replayed past the onset: long enough to see whether the loss comes back."""
LEVEL_POINTS = 32
"""Logged points before the onset that give the level of the loss."""


class Failure(StrEnum):
    """What has to go away for a change to count as effective."""

    NON_FINITE = "non_finite"
    STAYS = "stays"  # the loss left its level and did not come back
    PASSES = "passes"  # a spike that came back
    STALLS = "stalls"  # the loss never fell to speak of
    NONE = "none"  # nothing to reproduce: only measurements


@dataclass(frozen=True)
class Start:
    """A checkpoint to load."""

    path: str
    """Relative to the run directory."""
    step: int | None


@dataclass(frozen=True)
class Logged:
    """One logged quantity."""

    steps: tuple[int, ...]
    values: tuple[float, ...]
    digits: int | None = None
    """Decimals the logger printed; None: not rounded."""

    def at(self, step: int) -> float | None:
        """The value logged at a step."""
        place = int(np.searchsorted(self.steps, step))
        here = place < len(self.steps) and self.steps[place] == step
        return self.values[place] if here else None

    @property
    def interval(self) -> int:
        """Median steps between points, at least 1."""
        gaps = np.diff(self.steps)
        return max(1, int(np.median(gaps))) if len(gaps) else 1


@dataclass(frozen=True)
class Settings:
    """The run's own settings, as far as it left them."""

    precision: str = "fp32"
    optimizer: str | None = None
    lr: float | None = None
    betas: tuple[float, float] | None = None
    eps: float | None = None
    weight_decay: float | None = None
    momentum: float | None = None
    """Of SGD."""
    clip: float | None = None
    """Threshold of the global norm; None or 0: no clipping."""
    clip_p90: float | None = None
    """90th percentile of the norms logged before the onset."""
    warmup_steps: int | None = None
    grad_accum: int | None = None
    world_size: int | None = None
    loss_scale: float | None = None
    seed: int | None = None


@dataclass(frozen=True)
class ReplayPlan:
    """Everything the child process needs."""

    root: str
    source: str
    """Path of the replay file, or the name of an adapter."""
    device: str
    budget: float
    """Seconds."""
    failure: Failure
    suspect_step: int | None
    """Step whose batch is suspect; None: nothing went wrong at a step."""
    search_from: int | None
    """With sparse logs the suspect lies in [search_from, suspect_step]."""
    last_step: int
    """Last step the run logged."""
    level: float
    """Median loss before the onset; the first logged one where there is nothing before it."""
    noise: float
    """Robust standard deviation of the loss around that level."""
    before: Start | None
    """Last healthy checkpoint before the onset."""
    earlier: Start | None
    """A much earlier healthy one."""
    usable: Start | None
    """Any finite checkpoint, where none is from before the onset."""
    loss: Logged
    norm: Logged | None
    rate: Logged | None
    settings: Settings
    batches: tuple[str, ...] = ()
    """Captured batches, relative to the run directory."""
    limits: Limits = field(default_factory=Limits)
    """What the model takes, for the audit of batches."""
    resumed_at: tuple[int, ...] = ()
    """First steps of later attempts."""

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return Path(self.root)


def make_plan(
    run: Run,
    timeline: Timeline,
    judgement: Judgement,
    episodes: Sequence[Episode],
    healthy: Sequence[Start],
    finite: Sequence[Start],
    *,
    source: str,
    device: str,
    budget: float,
    suspect: int | None = None,
    limits: Limits | None = None,
) -> ReplayPlan:
    """Decide what to replay.

    Args:
        run: The run.
        timeline: Its tracks.
        judgement: Where it failed.
        episodes: What happened.
        healthy: Checkpoints from before the onset that may be trusted, by step.
        finite: Other finite checkpoints, by step.
        source: Path of the replay file or name of an adapter.
        device: ``auto``, ``cpu`` or ``cuda:N``.
        budget: Seconds the replay may take.
        suspect: The step whose batch is suspect, where the user names it.
        limits: What the model takes, where it is known.
    """
    loss = timeline.get(Signal.TRAIN_LOSS)
    onset = judgement.onset_step
    if suspect is None:
        suspect, search_from = _suspect(judgement, episodes)
    else:
        search_from = suspect
        healthy = [h for h in healthy if h.step is not None and h.step < suspect]
    level, noise = _level(loss, onset)
    root = run.path if run.path.is_dir() else run.path.parent
    return ReplayPlan(
        root=str(root),
        source=source,
        device=device,
        budget=budget,
        failure=_failure(judgement),
        suspect_step=suspect,
        search_from=search_from,
        last_step=int(loss.step[-1]) if loss is not None and len(loss) else onset or 0,
        level=level,
        noise=noise,
        before=healthy[-1] if healthy else None,
        earlier=_much_earlier(healthy),
        usable=next(iter(finite), None),
        loss=_logged(loss) or Logged((), ()),
        norm=_logged(timeline.get(Signal.GRAD_NORM)),
        rate=_logged(timeline.get(Signal.LR)),
        settings=_settings(run, timeline, onset),
        batches=run.batches,
        limits=limits or Limits(),
        resumed_at=tuple(r.step for r in timeline.resumes),
    )


def _suspect(judgement: Judgement, episodes: Sequence[Episode]) -> tuple[int | None, int | None]:
    """The step of the suspect batch, and where a search for it would begin."""
    onset = judgement.onset_step
    if onset is None:
        return None, None
    shown = [
        e
        for e in episodes
        if e.kind in (EpisodeKind.LOSS_SPIKE, EpisodeKind.GRADIENT_SPIKE, EpisodeKind.NON_FINITE)
        and onset <= e.onset_step <= onset + TAIL
    ]
    step = min((e.onset_step for e in shown), default=onset)
    after = judgement.after_step
    return step, step if after is None else min(after + 1, step)


def _failure(judgement: Judgement) -> Failure:
    decisive = judgement.decisive
    match judgement.outcome:
        case Outcome.NON_FINITE:
            return Failure.NON_FINITE
        case Outcome.DIVERGED | Outcome.SPIKED_UNRECOVERED:
            return Failure.STAYS
        case Outcome.SPIKED_RECOVERED:
            if decisive is not None and decisive.kind is EpisodeKind.NON_FINITE:
                return Failure.NON_FINITE
            return Failure.PASSES
        case Outcome.STALLED:
            return Failure.STALLS
        case _ if decisive is not None and decisive.ending is Ending.DIVERGED:
            return Failure.STAYS
        case _:
            return Failure.NONE


def _level(loss: Track | None, onset: int | None) -> tuple[float, float]:
    """Level and noise of the finite loss just before the onset, or at its start."""
    if loss is None or not loss.finite.any():
        return math.nan, math.nan
    step, value = loss.step[loss.finite], loss.value[loss.finite]
    before = value if onset is None else value[step < onset]
    points = before[-LEVEL_POINTS:] if len(before) else value[:1]
    level = float(np.median(points))
    return level, 1.4826 * float(np.median(np.abs(points - level)))


def _much_earlier(healthy: Sequence[Start]) -> Start | None:
    """The latest that lies at least 100 steps and a third of the way before the last one."""
    if len(healthy) < 2:
        return None
    last = healthy[-1].step
    if last is None:
        return healthy[0]
    early = [
        h for h in healthy[:-1] if h.step is not None and h.step <= min(last - 100, last / 1.5)
    ]
    return early[-1] if early else healthy[0]


def _logged(track: Track | None) -> Logged | None:
    if track is None or not len(track):
        return None
    return Logged(tuple(track.step.tolist()), tuple(track.value.tolist()), track.digits)


def _settings(run: Run, timeline: Timeline, onset: int | None) -> Settings:
    config = run.config
    scale = timeline.get(Signal.LOSS_SCALE)
    return Settings(
        precision=config.precision or ("fp16" if scale is not None else "fp32"),
        optimizer=config.optimizer,
        lr=config.lr_peak,
        betas=config.betas,
        eps=config.eps,
        weight_decay=config.weight_decay,
        momentum=_momentum(config),
        clip=config.clip_threshold,
        clip_p90=_usual_norm(timeline.get(Signal.GRAD_NORM), onset),
        warmup_steps=config.warmup_steps,
        grad_accum=config.grad_accum,
        world_size=config.world_size,
        loss_scale=float(scale.value[0]) if scale is not None and len(scale) else config.loss_scale,
        seed=config.seed,
    )


def _momentum(config: Config) -> float | None:
    """SGD's, under whatever heading the configuration has it."""
    found = [v for key, v in config.raw.items() if key.rpartition(".")[2].lower() == "momentum"]
    return next((float(v) for v in found if isinstance(v, int | float)), None)


def _usual_norm(norm: Track | None, onset: int | None) -> float | None:
    """The 90th percentile of the gradient norm before the onset (Google's tuning playbook)."""
    if norm is None:
        return None
    usual = norm.finite if onset is None else norm.finite & (norm.step < onset)
    return float(np.quantile(norm.value[usual], 0.9)) if usual.sum() >= 8 else None
