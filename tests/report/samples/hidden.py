"""A NaN that transformers' filter hides: the log shows 0.0 and a gradient norm of NaN."""

import numpy as np

from forensics.case import Case
from forensics.findings import Change, Ending, Episode, EpisodeKind, Outcome, Severity, Symptom
from forensics.run import Config, FileRecord, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.verdict import (
    CheckItem,
    CheckpointState,
    Cost,
    Monitor,
    Recommendation,
    Scale,
    Verdict,
)
from tests.report.samples import build

ONSET, LAST = 420, 900
_SOURCE = "trainer_state.json"


def _case() -> Case:
    rng = np.random.default_rng(11)
    step = np.arange(20, LAST + 1, 20)
    loss = np.round(2.1 + 1.4 * np.exp(-step / 150) + rng.normal(0, 0.05, step.size), 4)
    loss[step >= ONSET] = 0.0
    grad = 2.0 + np.abs(rng.normal(0, 0.4, step.size))
    grad[step >= ONSET] = np.nan
    grad[step == ONSET - 20] = np.inf
    line = build.timeline(
        (
            build.track(Signal.TRAIN_LOSS, step, loss, "loss", _SOURCE),
            build.track(Signal.GRAD_NORM, step, grad, "grad_norm", _SOURCE),
        )
    )
    config = Config(
        framework="transformers",
        precision="fp16",
        lr_peak=1e-5,
        nan_filter=True,
        log_interval=20,
        model="gemma-2b",
        sources={"precision": "training_args.bin", "lr_peak": "training_args.bin"},
    )
    episodes = (
        Episode(
            EpisodeKind.NON_FINITE,
            Signal.GRAD_NORM,
            ONSET - 20,
            Severity.FAILURE,
            Ending.PERSISTED,
            ONSET - 40,
            ONSET - 20,
            float("inf"),
            None,
            2.3,
            details={
                "kind": "nan",
                "persistent": True,
                "count": 26,
                "share": 0.58,
                "at_start": False,
                "last_finite": 2.41,
            },
        ),
        Episode(
            EpisodeKind.HIDDEN_NON_FINITE,
            Signal.TRAIN_LOSS,
            ONSET,
            Severity.FAILURE,
            Ending.PERSISTED,
            ONSET - 20,
            None,
            None,
            None,
            2.18,
            None,
            Signal.GRAD_NORM,
            ONSET - 20,
            {"how": "nan_filter", "shown": "0.0"},
        ),
    )
    files = (
        FileRecord(_SOURCE, 12_040, "Hugging Face trainer state", "2 series, 90 points"),
        FileRecord("events.out.tfevents.1", 0, "", "empty"),
    )
    text = (
        TextEvidence(
            TextKind.OVERFLOW,
            "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 32768.0",
            "slurm-88123.out",
            1042,
            400,
        ),
    )
    reason = (
        "The gradient norm is infinite at step 400 and NaN from step 420 on; the loss reads 0.0."
    )
    return Case(
        build.run(
            "experiments/gemma_fp16",
            line,
            config,
            files,
            text=text,
            checkpoints=(build.found("checkpoint-800", 800),),
        ),
        line,
        episodes,
        build.judgement(
            Outcome.NON_FINITE,
            Symptom.LATE_NON_FINITE,
            reason,
            ONSET - 20,
            after_step=ONSET - 40,
            first_mover=Signal.GRAD_NORM,
            decisive=episodes[1],
        ),
        skipped=("Learning rate: it was not logged.",),
    )


def hidden_nan() -> Verdict:
    """The third sample: one poisoned checkpoint, no way back, and very many warnings."""
    bad = tuple(f"model.layers.{n}.mlp.down_proj.weight" for n in range(18))
    poisoned = build.judged(
        "checkpoint-800", 800, CheckpointState.POISONED, "164 tensors hold NaN", bad
    )
    first = build.hypothesis(
        1,
        "fp16_overflow",
        "fp16 overflow",
        0.62,
        (
            build.seen("The run used fp16.", 1.3, "configuration"),
            build.seen(
                "A step was skipped for overflow right before the onset.", 2.0, "text", (400,)
            ),
            build.seen(
                "gemma-2b was pretrained in bf16; its activations exceed 65,504.",
                1.0,
                "configuration",
            ),
        ),
        family="precision",
        missing=("Loss scale: it was not logged.", "Largest activations: nothing was replayed."),
        verify="python train.py \\\n    --bf16 --max_steps 500   # same seed and data\n"
        "and see whether step 420 passes with a finite gradient norm",
        fix=("Train in bf16.", "Set `logging_nan_inf_filter=False`, so that a NaN shows at once."),
        changes=(Change("bf16", False, True), Change("fp16", True, False)),
    )
    second = build.hypothesis(
        2,
        "non_finite_input",
        "Non-finite values in the input",
        0.21,
        (build.seen("The onset is sudden: no rise of the gradient norm before it.", 0.9),),
        family="data",
        missing=("No batch was captured.",),
        verify="Check the batches of steps 381 to 400.",
        fix=("Filter the data.",),
    )
    return build.verdict(
        _case(),
        "The run became NaN at step 400 and nobody was told: the logger replaced the loss by 0.0. "
        "fp16 overflow is the likely cause.",
        hypotheses=(first, second, *build.ruled_out(3, {"Overfitting": ("No validation.", -2.0)})),
        unexplained=0.09,
        checkpoints=(poisoned,),
        first_bad=poisoned,
        recommendation=Recommendation(
            None,
            None,
            "The only checkpoint holds NaN: start again from the pretrained weights.",
            (401, 402, 403),
            (
                Change("bf16", False, True),
                Change("fp16", True, False),
                Change("logging_nan_inf_filter", True, False),
            ),
        ),
        checklist=(
            CheckItem("Precision", "bf16 rather than fp16.", "fp16", False),
            CheckItem("Gradient clipping", "Clip the global norm near 1.0.", "unknown", None),
        ),
        pilot=("Run 500 steps in bf16 with the same seed.",),
        monitors=(Monitor(Scale.STEP, "stop when the gradient norm is not finite", 400),),
        cost=Cost(500, None, 0.56),
        warnings=tuple(
            f"slurm-88123.out: line {1000 + n} could not be read: 'garbled {n}'" for n in range(240)
        ),
    )
