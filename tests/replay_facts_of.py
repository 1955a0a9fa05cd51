"""Facts of a replay, made by hand: a bad batch by default, every field to be replaced."""

from typing import Any

from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.replay_facts import (
    AsRun,
    BatchMeasure,
    Comparison,
    Counterfactual,
    Determinism,
    LabelShifts,
    LineSearch,
    LoadCheck,
    ModeCheck,
    MomentCheck,
    NonFiniteOperation,
    NonFiniteSearch,
    Overfit,
    Phase,
    Ranks,
    ReplayFacts,
    Role,
    Trajectory,
    Variant,
)

NAN, INF = float("nan"), float("inf")
SUSPECT = 317


def trajectory(
    *, peak: float | None = 16.7, first: int = 310, last: int = 325, complete: bool = True
) -> Trajectory:
    """A flat loss of 0.3 with one peak at the suspect step; None: the step is left out."""
    steps = [s for s in range(first, last + 1) if peak is not None or s != SUSPECT]
    loss = [peak if s == SUSPECT and peak is not None else 0.3 for s in steps]
    norm = [15.6 if s == SUSPECT else 0.7 for s in steps]
    excess = 0.0 if peak is None else peak - 0.3
    return Trajectory(tuple(steps), tuple(loss), tuple(norm), excess, complete)


def blown_up(kind: float = NAN) -> Trajectory:
    """A loss that is not finite from the suspect step on."""
    steps = tuple(range(310, SUSPECT + 3))
    loss = tuple(kind if s >= SUSPECT else 0.3 for s in steps)
    return Trajectory(steps, loss, loss, INF)


def measure(step: int, loss: float, norm: float) -> BatchMeasure:
    """A batch with two groups of parameters."""
    groups = {"embedding": norm * 0.6, "head": norm * 0.8}
    return BatchMeasure(step, loss, norm, groups, 0.0049, 0.07)


def comparison(
    role: Role = Role.BEFORE, *, loss: float = 14.8, usual: float = 0.43, z: float = 613.0
) -> Comparison:
    """The suspect against three control batches."""
    controls = tuple(measure(s, usual, 0.8) for s in (314, 315, 316))
    suspect = measure(SUSPECT, loss, 12.7)
    return Comparison(
        role, "checkpoints/step_000200.pt", 200, suspect, controls, loss_z=z, grad_z=z
    )


def change(variant: Variant, *, removes: bool, **parts: Any) -> Counterfactual:
    """A change that removed the failure, or did not."""
    made: dict[str, Any] = {
        "setting": variant.value.partition("_")[0],
        "before": "1",
        "after": "2",
        "trajectory": trajectory(peak=None if removes else 16.0),
        "matches_log": 0.002,
    }
    return Counterfactual(variant=variant, removes=removes, **(made | parts))


def as_run(**parts: Any) -> AsRun:
    """The failure comes again."""
    made: dict[str, Any] = {
        "trajectory": trajectory(),
        "compared": 16,
        "exact": 9,
        "parts_at": 322,
        "logged_excess": 16.38,
        "reproduces": True,
        "matches_log": 0.0016,
    }
    return AsRun(**(made | parts))


def operation(precision: str = "fp16", **parts: Any) -> NonFiniteSearch:
    """A sum that overflows half precision."""
    made: dict[str, Any] = {
        "phase": Phase.FORWARD,
        "operation": "sum",
        "module": "encoder.layers.3",
        "kind": "inf",
        "inputs": ("float16 (16, 1024), -3.1 to 65504",),
        "culprit": "the sum is beyond 65504",
        "location": "model.py:41",
    }
    found = NonFiniteOperation(step=SUSPECT, precision=precision, **(made | parts))
    return NonFiniteSearch(SUSPECT, precision, found)


def audit(
    text: str = "the tokens are spread like noise", *, checked: tuple[Oddity, ...] = tuple(Oddity)
) -> BatchSurvey:
    """The suspect batch with one finding; with '' none."""
    finding = BatchFinding(Oddity.TOKEN_NOISE, "input_ids", text, 1.0, 4.49, 2.77)
    findings = (finding,) if text else ()
    return BatchSurvey((BatchAudit(SUSPECT, f"load_batch({SUSPECT})", True, findings, checked),))


def facts(**parts: Any) -> ReplayFacts:
    """The replay of a run with one bad batch; skipping it is the one change that helps."""
    made: dict[str, Any] = {
        "source": "replay.py",
        "device": "cpu (torch sees no CUDA device)",
        "precision": "fp32",
        "seconds": 30.7,
        "budget": 60.0,
        "suspect_step": SUSPECT,
        "checkpoint": "checkpoints/step_000200.pt",
        "checkpoint_step": 200,
        "next_step": 201,
        "alignment": "step 201 comes within 0 of its logged loss",
        "loads": (LoadCheck("checkpoints/step_000200.pt", 200, 36000, optimizer=True),),
        "comparisons": (comparison(),),
        "as_run": as_run(),
        "counterfactuals": (
            change(Variant.RATE_TENTH, removes=False),
            change(Variant.SKIP_BATCH, removes=True),
            change(Variant.EPSILON, removes=False),
        ),
        "seconds_of": {"counterfactuals": 24.5, "determinism": 0.08},
        "left_out": ("label shifts: the labels could not be told from the rest of the batch",),
    }
    return ReplayFacts(**(made | parts))


def everything() -> ReplayFacts:
    """Every experiment with a result, non-finite numbers among them."""
    return facts(
        precision="fp16",
        comparisons=(comparison(), comparison(Role.EARLIER, z=NAN)),
        determinism=Determinism(201, (0.44, 0.44, 0.45), (0.9, 0.9, 0.9), (0.46, NAN)),
        searches=(operation(), NonFiniteSearch(SUSPECT, "fp32", None)),
        counterfactuals=(
            change(Variant.FLOAT32, removes=True),
            change(Variant.RATE_THIRD, removes=False, trajectory=blown_up(INF)),
            change(Variant.WARMUP, removes=False, trajectory=trajectory(complete=False)),
        ),
        as_run=as_run(trajectory=blown_up()),
        shifts=LabelShifts({0: 3.2, -1: 0.4, 1: 3.3}, 3.4),
        overfit=Overfit(201, (0.44, 0.3, 0.02), (4.0, 3.0, 2.0)),
        line=LineSearch(201, (0.0, 1.0, 16.0), (0.44, 0.6, INF), 0.4),
        moments=MomentCheck(SUSPECT, 4.0, 1.1, 1.1, 0.5, {"head.weight": 40.0}, {"head.weight": 1}),
        modes=ModeCheck(201, 0.4, INF, 0.45, 2),
        ranks=Ranks(2, "DDP", (0.4, 0.5), 1.0, 2.0, 1.4, 2.0, None, False),
        audit=audit(),
        failures=("replay.py:12: load_batch: step 9 is not in the data",),
    )
