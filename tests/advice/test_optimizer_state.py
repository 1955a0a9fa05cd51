from dataclasses import replace

from forensics.advice.checkpoints import judge_checkpoints, last_healthy
from forensics.advice.optimizer_state import judge_optimizer
from forensics.case import Case
from forensics.checkpoint_facts import (
    CheckpointFacts,
    CheckpointSurvey,
    MomentFacts,
    StateFacts,
    WeightFacts,
)
from forensics.findings import TensorStats
from forensics.verdict import CheckpointState
from tests.advice.checkpointed import exploded, with_checkpoints


def _moments(beyond: int = 0) -> MomentFacts:
    top = 20.0 if beyond else 2.0
    return MomentFacts("w", 100, 100, True, 0.3, top, 7.27, beyond, 0, 0.0, 0.0, 1.0)


def _weights(top: float) -> WeightFacts:
    return WeightFacts("w", "param", (100,), 100, 0, 50, 0.1, top, 3, 0.4)


def _facts(step: int, *, beyond: int = 0, top: float = 0.5, **more) -> CheckpointFacts:
    settings = {
        "state": StateFacts(global_step=step, optimizer_steps=(float(step), float(step))),
        "weights": (_weights(top),),
        "moments": (_moments(beyond),),
        "trained": frozenset({"w"}),
        "optimizer": True,
    }
    return CheckpointFacts(f"checkpoint-{step}", step, **(settings | more))


def _stats(step: int, nan: int = 0, role: str = "param", missing: str = "") -> TensorStats:
    name = f"checkpoint-{step}"
    return TensorStats(
        name, step, "w", role, "F32", (100,), 100, nan, 0, 0, 0, 1.0, 1.0, None, missing=missing
    )


def _case(*facts: CheckpointFacts, tensors: tuple[TensorStats, ...] = ()) -> Case:
    scanned = tensors or tuple(_stats(f.step or 0) for f in facts)
    case = with_checkpoints(exploded())
    return replace(case, tensors=scanned, survey=CheckpointSurvey(facts))


def _advice(case: Case):
    checkpoints = judge_checkpoints(case)
    healthy = last_healthy(case, checkpoints)
    assert healthy is not None
    return healthy, *judge_optimizer(case, healthy)


def test_sound_moments_are_kept() -> None:
    healthy, keep, why = _advice(_case(_facts(100), _facts(150)))
    assert healthy.state is CheckpointState.HEALTHY
    assert (healthy.path, keep) == ("checkpoint-150", True)
    assert "bound" in why


def test_nothing_is_claimed_where_nothing_was_looked_at() -> None:
    _, keep, why = _advice(with_checkpoints(exploded()))
    assert keep is None
    assert "not looked at" in why


def test_impossible_moments_make_a_checkpoint_suspect_and_its_weights_are_still_used() -> None:
    healthy, keep, why = _advice(_case(_facts(100), _facts(150, beyond=3)))
    assert (healthy.path, healthy.state) == ("checkpoint-150", CheckpointState.SUSPECT)
    assert keep is False
    assert "anew" in why


def test_damaged_weights_are_not_resumed_from() -> None:
    healthy, keep, _ = _advice(_case(_facts(100), _facts(150, top=1e6)))
    assert (healthy.path, keep) == ("checkpoint-100", True)


def test_weights_alone_start_the_moments_anew() -> None:
    empty = {"moments": (), "trained": frozenset(), "optimizer": False}
    _, keep, why = _advice(_case(_facts(150, **empty)))
    assert keep is False
    assert "warm-up" in why


def test_moments_that_cannot_be_read_are_not_kept() -> None:
    tensors = (_stats(150), _stats(150, role="exp_avg", missing="cut off"))
    _, keep, _ = _advice(_case(_facts(150), tensors=tensors))
    assert keep is False


def test_weights_that_cannot_be_read_make_it_unreadable() -> None:
    case = _case(_facts(100), tensors=(_stats(100), _stats(150, missing="cut off")))
    states = {c.path: c.state for c in judge_checkpoints(case)}
    assert states["checkpoint-150"] is CheckpointState.UNREADABLE
    assert states["checkpoint-100"] is CheckpointState.HEALTHY


def test_a_checkpoint_that_could_not_be_opened_is_unreadable() -> None:
    case = replace(_case(_facts(100)), unreadable=("checkpoint-150",))
    states = {c.path: c.state for c in judge_checkpoints(case)}
    assert states["checkpoint-150"] is CheckpointState.UNREADABLE


def test_poisoned_moments_poison_the_checkpoint() -> None:
    case = _case(_facts(100), tensors=(_stats(100), _stats(150), _stats(150, 1, "exp_avg_sq")))
    found = {c.path: c for c in judge_checkpoints(case)}
    assert found["checkpoint-150"].state is CheckpointState.POISONED
    assert "optimizer state" in found["checkpoint-150"].reason
    assert found["checkpoint-50"].state is CheckpointState.NOT_SCANNED
