"""A spike that a replay traced to one batch."""

import numpy as np

from forensics.case import Case
from forensics.findings import Outcome, Status, Symptom
from forensics.replay_facts import ReplayFacts
from forensics.run import Config, FileRecord
from forensics.signals import Signal
from forensics.verdict import CheckpointState, Verdict
from tests import replay_facts_of as of
from tests.report.samples import build


def replayed(facts: ReplayFacts | None = None, status: Status = Status.CONFIRMED) -> Verdict:
    """The verdict on a run whose loss leaps at one step, with these facts of its replay."""
    rng = np.random.default_rng(5)
    step = np.arange(1, 601)
    loss = 0.3 + 2 * np.exp(-step / 60) + rng.normal(0, 0.01, step.size)
    loss[of.SUSPECT - 1] = 16.7
    tracks = (
        build.track(Signal.TRAIN_LOSS, step, loss),
        build.track(Signal.GRAD_NORM, step, np.where(step == of.SUSPECT, 15.6, 0.7)),
    )
    case = Case(
        run=build.run(
            "runs/bad batch",
            build.timeline(tracks),
            Config(framework="torch", precision="fp32"),
            (FileRecord("log.csv", 20_000, "CSV", "2 series"),),
            (build.found("checkpoints/step_000200.pt", 200),),
        ),
        timeline=build.timeline(tracks),
        episodes=(),
        judgement=build.judgement(
            Outcome.SPIKED_RECOVERED,
            Symptom.SINGLE_SPIKE_RECOVERS,
            "the loss came back within one step",
            of.SUSPECT,
        ),
        replay=of.everything() if facts is None else facts,
    )
    first = build.hypothesis(1, "bad_batch", "Bad batch", 0.97, family="data", status=status)
    healthy = build.judged("checkpoints/step_000200.pt", 200, CheckpointState.HEALTHY, "finite")
    return build.verdict(
        case, "The training left its band at step 317.", hypotheses=(first,), checkpoints=(healthy,)
    )
