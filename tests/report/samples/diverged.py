"""A full fine-tune whose learning rate is too high: gradient norm first, then the loss."""

import numpy as np

from forensics.case import Case
from forensics.findings import (
    Change,
    ClipFacts,
    Ending,
    Episode,
    EpisodeKind,
    LearningRateFacts,
    Outcome,
    Severity,
    Symptom,
)
from forensics.run import Config, FileRecord, TextEvidence, TextKind
from forensics.signals import Signal
from forensics.timeline import Attempt, Resume
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

ONSET, AFTER, PEAK, LAST = 1240, 1230, 1310, 3000
_SOURCE = "checkpoint-3000/trainer_state.json"


def _tracks() -> tuple[build.Track, ...]:
    rng = np.random.default_rng(7)
    step = np.arange(10, LAST + 1, 10)
    after = np.maximum(step - ONSET, 0)
    calm = 1.15 + 1.9 * np.exp(-step / 260) + rng.normal(0, 0.035, step.size)
    burst = 7.9 * np.exp(-(((step - PEAK) / 46) ** 2))
    ending = 3.1 * (1 - np.exp(-after / 70)) + rng.normal(0, 0.16, step.size)
    loss = np.where(step < ONSET + 20, calm, calm + burst + ending)
    grad = 1.3 + 2.2 * np.exp(-step / 180) + np.abs(rng.normal(0, 0.22, step.size))
    grad = np.where(step < ONSET, grad, grad * (1 + 45 * np.exp(-after / 110) + 3))
    warm = np.minimum(step / 90, 1.0)
    lr = 2e-4 * warm * 0.5 * (1 + np.cos(np.pi * step / LAST))
    at = np.arange(500, LAST + 1, 500)
    evaluated = np.array([1.62, 1.31, 5.11, 4.62, 4.40, 4.31])
    loss[step == PEAK], grad[step == 1250] = 11.2, 71.4
    return (
        build.track(Signal.TRAIN_LOSS, step, loss, "loss", _SOURCE),
        build.track(Signal.GRAD_NORM, step, grad, "grad_norm", _SOURCE),
        build.track(Signal.LR, step, lr, "learning_rate", _SOURCE),
        build.track(Signal.EVAL_LOSS, at, evaluated, "eval_loss", _SOURCE),
    )


def _episodes() -> tuple[Episode, ...]:
    return (
        Episode(
            EpisodeKind.GRADIENT_SPIKE,
            Signal.GRAD_NORM,
            ONSET,
            Severity.WARNING,
            Ending.SETTLED,
            AFTER,
            1250,
            71.4,
            None,
            1.31,
            58.0,
            details={"ratio": 54.5, "extreme": True},
        ),
        Episode(
            EpisodeKind.DIVERGENCE,
            Signal.TRAIN_LOSS,
            ONSET + 20,
            Severity.FAILURE,
            Ending.DIVERGED,
            ONSET + 10,
            PEAK,
            11.2,
            None,
            1.17,
            91.0,
            Signal.GRAD_NORM,
            ONSET,
            {
                "form": "after_spike",
                "ratio": 3.73,
                "best_step": 1210,
                "best_value": 1.094,
                "initial": 3.02,
                "final": 4.26,
            },
        ),
        Episode(
            EpisodeKind.CLIP_SATURATION,
            Signal.GRAD_NORM,
            10,
            Severity.WARNING,
            Ending.PERSISTED,
            details={"share": 0.93, "threshold": 1.0},
        ),
        Episode(
            EpisodeKind.LOSS_SPIKE,
            Signal.TRAIN_LOSS,
            640,
            Severity.INFO,
            Ending.RECOVERED,
            630,
            640,
            1.61,
            660,
            1.33,
            6.2,
            details={"ratio": 1.21, "points": 2, "speed": "fast", "recovery_steps": 20},
        ),
    )


def _case() -> Case:
    line = build.timeline(
        _tracks(),
        attempts=(Attempt(0, 10, 860, "train.log"), Attempt(1, 810, LAST, "train.log")),
        resumes=(Resume(810, 860, 1),),
        superseded=(
            build.track(Signal.TRAIN_LOSS, np.arange(810, 861, 10), np.linspace(1.26, 1.19, 6)),
        ),
    )
    config = Config(
        framework="transformers 4.46.1",
        optimizer="adamw_torch",
        precision="bf16",
        lr_peak=2e-4,
        schedule="cosine",
        warmup_steps=90,
        total_steps=LAST,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        clip_threshold=1.0,
        micro_batch=4,
        grad_accum=8,
        world_size=2,
        seq_len=2048,
        seed=42,
        model="Qwen2-0.5B",
        pretrained=True,
        lora=False,
        log_interval=10,
        save_interval=500,
        save_total_limit=6,
        nan_filter=True,
        sources={
            **dict.fromkeys(("lr_peak", "schedule", "optimizer", "eps"), "training_args.bin"),
            **dict.fromkeys(("warmup_steps", "betas", "seed"), "training_args.bin"),
            **dict.fromkeys(("model", "pretrained", "seq_len"), "config.json"),
        },
        raw={
            "learning_rate": 2e-4,
            "lr_scheduler_type": "cosine",
            "max_grad_norm": 1.0,
            "model_type": "qwen2",
            "output_dir": "runs/sft-lr2e-4",
            "report_to": ["tensorboard"],
        },
    )
    files = (
        FileRecord(_SOURCE, 214_332, "Hugging Face trainer state", "4 series, 906 points"),
        FileRecord(
            "checkpoint-500/trainer_state.json",
            36_110,
            "Hugging Face trainer state",
            "a prefix of checkpoint-3000's history",
        ),
        FileRecord("training_args.bin", 5_368, "Hugging Face training arguments", "112 settings"),
        FileRecord("config.json", 727, "JSON settings", "24 settings"),
        FileRecord("train.log", 1_882_410, "training text", "2 attempts, 1 resume, 906 points"),
        FileRecord(
            "model.safetensors", 988_097_824, "", "weights; not scanned, see the checkpoints"
        ),
        FileRecord("README.md", 1_210, "", "no reader takes it"),
    )
    steps = (500, 1000, 1500, 2000, 2500, 3000)
    text = (
        TextEvidence(
            TextKind.RESUMED,
            "Continuing training from checkpoint, will skip to global step 800",
            "train.log",
            412,
            860,
        ),
    )
    return Case(
        build.run(
            "runs/sft-lr2e-4",
            line,
            config,
            files,
            tuple(build.found(f"checkpoint-{s}", s) for s in steps),
            text,
        ),
        line,
        _episodes(),
        build.judgement(
            Outcome.DIVERGED,
            Symptom.SPIKE_NEVER_RECOVERS,
            "The training loss rose from 1.17 to 11.2 and ends at 4.26, above its start at 3.02.",
            ONSET,
            after_step=AFTER,
            first_mover=Signal.GRAD_NORM,
            decisive=_episodes()[1],
        ),
        lr=LearningRateFacts(2e-4, 90, 2.2e-5, 0.0, 90, False, None, (), ()),
        clip=ClipFacts(1.0, 0.93, 0.97),
        skipped=(
            "Adam's second moment: no optimizer state was scanned.",
            "Replay: no replay file was given.",
        ),
    )


def _hypotheses() -> tuple[build.Hypothesis, ...]:
    first = build.hypothesis(
        1,
        "learning_rate_too_high",
        "Learning rate too high",
        0.84,
        (
            build.seen(
                "The peak learning rate 2e-4 is 10 times the upper end of what full fine-tuning "
                "usually takes (1e-5 to 2e-5).",
                2.1,
                "configuration",
            ),
            build.seen(
                "The gradient norm rose 54-fold one logged point before the loss moved.",
                1.1,
                "logs",
                (1240, 1250),
            ),
            build.seen(
                "93 % of the logged steps hit the clipping threshold 1.0: clipping has become "
                "the step size.",
                1.0,
                "logs",
            ),
            build.seen("The loss never came back, although the rate went on falling.", 0.5, "logs"),
            build.seen(
                "The rate had already decayed to 63 % of its peak at the onset.",
                -0.6,
                "logs",
                (1240,),
            ),
        ),
        missing=(
            "Update-to-weight ratio: it was not logged.",
            "A replay from checkpoint-1000 at half the rate.",
        ),
        verify="Resume checkpoint-1000 at `learning_rate=2e-5` for 400 steps, same data order: "
        "if the loss stays under 1.4 past step 1,320, it was the rate.",
        fix=(
            "Lower the peak learning rate from 2e-4 to 2e-5.",
            "Keep clipping at 1.0; expect it to act on fewer than 20 % of steps.",
            "Log the update-to-weight ratio; about 1e-3 is healthy.",
        ),
        changes=(Change("learning_rate", 2e-4, 2e-5), Change("warmup_steps", 90, 150)),
    )
    second = build.hypothesis(
        2,
        "bad_batch",
        "Bad batch",
        0.07,
        (
            build.seen("The onset lies within one logged interval.", 0.5, "logs", (1240,)),
            build.seen(
                "The loss did not recover within 1,760 steps; a single batch usually lets go "
                "within a hundred.",
                -1.4,
                "logs",
            ),
        ),
        family="data",
        missing=("The batches of steps 1,230 to 1,250 were not captured.",),
        verify="Replay steps 1,230 to 1,250 from checkpoint-1000 with these batches left out.",
        fix=("Skip the batches of steps 1,231 to 1,240.",),
        skip_steps=tuple(range(1231, 1241)),
    )
    third = build.hypothesis(
        3,
        "adam_instability",
        "Adam's second moment went stale",
        0.05,
        (
            build.seen(
                "beta2 is 0.999: the second moment needs about 1,000 steps to follow a rise.",
                0.6,
                "configuration",
            ),
            build.seen("The gradient norm had not fallen for long before the onset.", -0.5, "logs"),
        ),
        missing=("Adam's moments at step 1,000: the optimizer state was not scanned.",),
        verify="Run `forensics scan checkpoint-1000` and look at exp_avg_sq.",
        fix=("Set beta2 to 0.95.",),
        changes=(Change("adam_beta2", 0.999, 0.95),),
    )
    out = build.ruled_out(
        4,
        {
            "Warm-up missing": (
                "The rate warmed up over 90 steps and the onset came 1,150 later.",
                -2.2,
            ),
            "fp16 overflow": ("The run used bf16.", -4.0),
            "Gradient clipping missing": ("Clipping was on, at 1.0.", -4.0),
            "Resume lost its state": (
                "Loss and rate were continuous over the resume at step 810.",
                -2.0,
            ),
            "Overfitting": ("Training and validation loss rose together.", -2.3),
            "Process killed": ("The log runs to the planned last step.", -4.0),
            "Labels all masked": ("The loss moved with the data until the onset.", -1.2),
            "No failure": ("The run ends above the loss it began with.", -4.0),
        },
    )
    return (first, second, third, *out)


def diverged_finetune() -> Verdict:
    """The first sample: everything a report can show, and a clear cause."""
    late = "written after the onset; finite, but the training had already failed"
    checkpoints = (
        build.judged("checkpoint-500", 500, CheckpointState.HEALTHY, "finite, before the onset"),
        build.judged("checkpoint-1000", 1000, CheckpointState.HEALTHY, "finite, before the onset"),
        build.judged("checkpoint-1500", 1500, CheckpointState.SUSPECT, late),
        build.judged(
            "checkpoint-2000", 2000, CheckpointState.NOT_SCANNED, "not needed for the bisection"
        ),
        build.judged(
            "checkpoint-2500", 2500, CheckpointState.NOT_SCANNED, "not needed for the bisection"
        ),
        build.judged("checkpoint-3000", 3000, CheckpointState.SUSPECT, late),
    )
    return build.verdict(
        _case(),
        "The training loss diverged at step 1,240, most likely because the learning rate of 2e-4 "
        "is too high for a full fine-tune.",
        hypotheses=_hypotheses(),
        unexplained=0.01,
        checkpoints=checkpoints,
        last_healthy=checkpoints[1],
        recommendation=Recommendation(
            "checkpoint-1000",
            1000,
            "The last checkpoint before the onset at step 1,240; every tensor in it is finite.",
            (),
            (Change("learning_rate", 2e-4, 2e-5), Change("warmup_steps", 90, 150)),
        ),
        checklist=(
            CheckItem("Gradient clipping", "Clip the global norm near 1.0.", "1.0", True),
            CheckItem(
                "Clipped steps",
                "Fewer than about 20 % of steps hit the threshold.",
                "93 % of logged steps",
                False,
            ),
            CheckItem("Learning rate", "1e-5 to 2e-5 for full fine-tuning.", "2e-4", False),
            CheckItem("Schedule", "A schedule that decays.", "cosine to 0", True),
            CheckItem("Warm-up", "About 3 % of the steps.", "90 of 3,000 steps (3 %)", True),
            CheckItem("Precision", "bf16 rather than fp16.", "bf16", True),
            CheckItem("Gradient norm logged", "Log it at every step.", "every 10 steps", True),
            CheckItem(
                "Checkpoints", "Save often and keep the last few.", "every 500 steps, 6 kept", True
            ),
            CheckItem("Data order", "Shuffled, with a fixed seed.", "unknown", None),
        ),
        pilot=(
            "Start from checkpoint-1000 with seed 42 and the new settings.",
            "Run the full warm-up of 150 steps.",
            "Stay at the peak rate 2e-5 for at least 300 steps.",
            "Use a representative share of the data, the longest sequences (2,048) included.",
            "Run one validation; expect about 1.31, the value at step 1,000.",
        ),
        monitors=(
            Monitor(
                Scale.STEP,
                "stop when the gradient norm exceeds 13.1 (10 times its median 1.31)",
                1240,
            ),
            Monitor(Scale.STEP, "stop when the loss is not finite", None),
            Monitor(
                Scale.WINDOW,
                "stop when the median loss of 64 points lies above its best by 5 errors",
                1290,
            ),
            Monitor(
                Scale.VALIDATION, "stop when the validation loss rises by 10 % over its best", 1500
            ),
        ),
        cost=Cost(1760, 4.6, 0.587),
        warnings=(
            "train.log: 14 lines could not be read as metrics and were skipped",
            "trainer_state.json: loss is rounded to 4 decimals",
        ),
    )
