"""Decides what is to be replayed: the suspect step, where to begin, what must go away."""

import math
from collections.abc import Sequence

import numpy as np

from forensics.batches import Limits
from forensics.findings import Ending, Episode, EpisodeKind, Judgement, Outcome
from forensics.medians import MAD_TO_SD, deviation
from forensics.replay.plan import TAIL, Failure, Logged, ReplayPlan, Settings, Start
from forensics.run import Config, Run
from forensics.signals import Signal
from forensics.timeline import Timeline, Track

LEVEL_POINTS = 32
"""Logged points before the onset that give the level of the loss."""


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
    root = run.home
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
    return level, MAD_TO_SD * deviation(points)


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
