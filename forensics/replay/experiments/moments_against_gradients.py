"""Does the optimizer's state fit the gradients?

sqrt(sum of vhat) is the root mean square of the norm the optimizer was fed; divided by the norm of
a replayed batch it is 1, or it names a factor: accumulation, world size, loss scale. RMS_t per
tensor tells whether the second moment was stale for the suspect batch (arXiv 2304.13013).
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch

from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.measures import controls_of
from forensics.replay.session import Session
from forensics.replay_facts import MomentCheck

LARGEST = 10
"""Tensors that are told."""
FIRST_POINTS = 5
"""Logged norms compared, from the first replayed step on: later ones drift apart."""


def _run(session: Session) -> Iterator[Fields]:
    suspect = session.suspect if session.suspect is not None else session.probe_step
    ratio, spread = _logged_ratio(session)
    session.begin()
    norms, usual = [], []
    for step in controls_of(session, suspect):
        session.check_time()
        norms.append(session.backward(session.batches.load(step)).grad_norm)
        usual.append(_rms(session))
    session.backward(session.batches.load(suspect))
    largest = dict(sorted(_rms(session).items(), key=lambda item: -item[1])[:LARGEST])
    finite = [n for n in norms if math.isfinite(n) and n > 0]
    factor = _clip_factor(session, finite)
    fed = _fed_norm(session)
    if ratio is None and not fed:
        raise NotDone("no gradient norm was logged and no second moments were saved")
    session.begin()
    yield {
        "moments": MomentCheck(
            step=suspect,
            logged_ratio=ratio,
            logged_spread=spread,
            moment_ratio=fed / float(np.median(finite)) if fed and finite else None,
            clip_factor=factor,
            suspect_rms=largest,
            control_rms=_medians(usual, largest),
        )
    }


def _logged_ratio(session: Session) -> tuple[float | None, float | None]:
    """Logged over replayed norm in the first steps of the stretch, and how much it varies."""
    logged = session.plan.norm
    if logged is None:
        return None, None
    session.begin()
    ratios: list[float] = []
    last = session.next_step + FIRST_POINTS * logged.interval
    for since, step in enumerate(range(session.next_step, last)):
        if session.spec.steps is not None and step not in session.spec.steps:
            break
        norm, target = session.train_step(step, since=since).grad_norm, logged.at(step)
        if target and norm and math.isfinite(target) and math.isfinite(norm):
            ratios.append(target / norm)
    if len(ratios) < 2:
        return None, None
    middle = float(np.median(ratios))
    return middle, max(max(r / middle, middle / r) for r in ratios)


def _fed_norm(session: Session) -> float | None:
    """Root of the sum of vhat over all tensors: the clipped norm that the optimizer was fed."""
    total = 0.0
    for state, beta2, _ in _moments(session).values():
        total += float(state["exp_avg_sq"].double().sum()) / _grown(beta2, state)
    return math.sqrt(total) if total > 0 else None


def _rms(session: Session) -> dict[str, float]:
    """RMS_t of every tensor for the gradient at hand."""
    found = {}
    for name, (state, beta2, eps) in _moments(session).items():
        gradient = session.model.get_parameter(name).grad
        if gradient is None:
            continue
        v = (state["exp_avg_sq"].double() / _grown(beta2, state)).clamp_min(eps**2)
        found[name] = math.sqrt(float((gradient.double() ** 2 / v).mean()))
    return found


def _moments(session: Session) -> dict[str, tuple[Mapping[str, torch.Tensor], float, float]]:
    """Parameter name -> Adam's state, beta2 and epsilon."""
    names = {id(p): name for name, p in session.model.named_parameters()}
    return {
        names[id(p)]: (session.optimizer.state[p], group["betas"][1], group["eps"])
        for group in session.optimizer.param_groups
        for p in group["params"]
        if "exp_avg_sq" in session.optimizer.state.get(p, {}) and id(p) in names
    }


def _grown(beta2: float, state: Mapping[str, torch.Tensor]) -> float:
    return float(max(1 - beta2 ** float(state.get("step", 1)), 1e-12))


def _clip_factor(session: Session, norms: Sequence[float]) -> float | None:
    clip = session.plan.settings.clip
    if not norms:
        return None
    return float(np.mean([min(1.0, clip / norm) for norm in norms])) if clip else 1.0


def _medians(usual: Sequence[Mapping[str, float]], names: Mapping[str, float]) -> dict[str, float]:
    found = {name: [u[name] for u in usual if name in u] for name in names}
    return {name: float(np.median(values)) for name, values in found.items() if values}


EXPERIMENT = Experiment("optimizer state against gradients", 26, _run)
