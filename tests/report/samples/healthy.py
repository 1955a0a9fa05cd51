"""A small pretraining run that did what it should: 20,000 steps, one spike that recovered."""

import numpy as np

from forensics.case import Case
from forensics.findings import (
    ClipFacts,
    Ending,
    Episode,
    EpisodeKind,
    LearningRateFacts,
    Outcome,
    Severity,
    Symptom,
)
from forensics.run import Config, FileRecord
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

LAST = 20_000


def _case() -> Case:
    rng = np.random.default_rng(3)
    step = np.arange(1, LAST + 1)
    loss = 2.9 + 8.0 * np.exp(-step / 700) + 0.5 * np.exp(-step / 9000) + rng.normal(0, 0.05, LAST)
    loss[7400:7408] += [0.5, 1.4, 1.1, 0.7, 0.5, 0.3, 0.2, 0.1]
    loss[7401] = 4.61
    grad = 0.35 + 3.0 * np.exp(-step / 500) + np.abs(rng.normal(0, 0.05, LAST))
    grad[7398:7404] *= [3, 9, 6, 3, 2, 1.5]
    lr = 6e-4 * np.minimum(step / 700, 1) * (0.1 + 0.45 * (1 + np.cos(np.pi * step / LAST)))
    at = np.arange(1000, LAST + 1, 1000)
    source = "events.out.tfevents.1750000000.node3.0"
    line = build.timeline(
        (
            build.track(Signal.TRAIN_LOSS, step, loss, "train/loss", source),
            build.track(Signal.GRAD_NORM, step, grad, "train/grad_norm", source),
            build.track(Signal.LR, step, lr, "train/lr", source),
            build.track(Signal.EVAL_LOSS, at, loss[at - 1] + 0.04, "val/loss", source),
        )
    )
    config = Config(
        framework="PyTorch",
        optimizer="AdamW",
        precision="bf16",
        lr_peak=6e-4,
        schedule="cosine",
        warmup_steps=700,
        total_steps=LAST,
        betas=(0.9, 0.95),
        eps=1e-8,
        weight_decay=0.1,
        clip_threshold=1.0,
        micro_batch=12,
        grad_accum=40,
        world_size=8,
        seq_len=1024,
        seed=1337,
        vocab_size=50304,
        num_layers=12,
        hidden_size=768,
        model="gpt2-124M",
        pretrained=False,
    )
    spike = Episode(
        EpisodeKind.LOSS_SPIKE,
        Signal.TRAIN_LOSS,
        7401,
        Severity.INFO,
        Ending.RECOVERED,
        7400,
        7402,
        4.61,
        7409,
        3.12,
        27.0,
        Signal.GRAD_NORM,
        7399,
        {"ratio": 1.46, "points": 8, "speed": "fast", "recovery_steps": 8},
    )
    files = (
        FileRecord(source, 4_102_774, "TensorBoard events", "4 series, 60,020 points"),
        FileRecord("config.yaml", 1_204, "YAML settings", "38 settings"),
    )
    points = tuple(
        build.found(f"ckpt_{s:06d}.pt", s, 1_490_000_000) for s in range(2000, 20001, 2000)
    )
    reason = "The training loss fell from 11.3 to 2.95 and was falling still at the end."
    return Case(
        build.run("out/gpt2-124M", line, config, files, points),
        line,
        (spike,),
        build.judgement(Outcome.HEALTHY, Symptom.NONE, reason),
        LearningRateFacts(6e-4, 700, 8.6e-7, 6e-5, 700, False, None, (), ()),
        ClipFacts(1.0, 0.05, 0.0),
    )


def healthy_pretraining() -> Verdict:
    """The second sample: nothing to mend, and the report says so without alarm."""
    checkpoints = tuple(
        build.judged(
            f"ckpt_{s:06d}.pt",
            s,
            CheckpointState.HEALTHY if s == LAST else CheckpointState.NOT_SCANNED,
            "every tensor is finite" if s == LAST else "not needed: a later one is finite",
        )
        for s in range(2000, 20001, 2000)
    )
    first = build.hypothesis(
        1,
        "no_failure",
        "No failure",
        0.96,
        (
            build.seen("The loss ends within 1 % of its best.", 2.4),
            build.seen(
                "The one spike, at step 7,401, recovered within 8 steps.", 1.0, "logs", (7401,)
            ),
            build.seen("Validation loss follows training loss to within 0.04.", 1.0),
        ),
        family="nothing wrong",
        verify="Nothing to verify.",
        fix=("Nothing to fix.", "Keep ckpt_020000.pt."),
    )
    return build.verdict(
        _case(),
        "The run trained as it should: the loss fell from 11.3 to 2.95 over 20,000 steps, and its "
        "one spike recovered within 8 steps.",
        hypotheses=(
            first,
            *build.ruled_out(
                2,
                {
                    "Learning rate too high": (
                        "No divergence, and 5 % of steps were clipped.",
                        -3.0,
                    ),
                    "Overfitting": ("Validation loss was falling at the end.", -2.6),
                    "Bad batch": ("The spike left no trace.", -1.0),
                },
            ),
        ),
        unexplained=0.01,
        checkpoints=checkpoints,
        last_healthy=checkpoints[-1],
        recommendation=Recommendation(
            "ckpt_020000.pt",
            LAST,
            "The last checkpoint is finite; training can go on from it.",
            (),
            (),
        ),
        checklist=(
            CheckItem("Gradient clipping", "Clip the global norm near 1.0.", "1.0", True),
            CheckItem("Warm-up", "About 3 % of the steps.", "700 of 20,000 steps (3.5 %)", True),
        ),
        pilot=("Run the warm-up of 700 steps and 300 steps at the peak rate 6e-4.",),
        monitors=(Monitor(Scale.STEP, "stop when the loss is not finite", None),),
        cost=Cost(None, None, None),
    )
