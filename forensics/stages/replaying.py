"""What training a stretch of the run again told."""

from dataclasses import dataclass, replace

from forensics.advice.checkpoints import starts
from forensics.batches import limits_of
from forensics.case import Case
from forensics.causes._completed import completed
from forensics.errors import UsageError
from forensics.remote import is_remote
from forensics.replay import Start, check_call, make_plan, run_replay


@dataclass(frozen=True)
class Ask:
    """What was asked to be replayed; refused at once where it cannot be."""

    source: str
    device: str
    budget: float
    suspect: int | None

    def __post_init__(self) -> None:
        check_call(self.source, self.device, self.budget)


def replayed(case: Case, ask: Ask) -> Case:
    """The case with what running the suspect batch again told."""
    line, run = case.timeline, case.run
    if is_remote(run.path):
        raise UsageError(f"{run.path}: a replay needs the run on this machine; copy it here first")
    if ask.suspect is not None and not line.first_step <= ask.suspect <= line.last_step:
        logged = f"steps {line.first_step} to {line.last_step}"
        raise UsageError(f"step {ask.suspect} cannot be replayed: the run logged {logged}")
    before, after = starts(case)
    plan = make_plan(
        run,
        line,
        case.judgement,
        case.episodes,
        [Start(c.path, c.step) for c in before],
        [Start(c.path, c.step) for c in after],
        source=ask.source,
        device=ask.device,
        budget=ask.budget,
        suspect=ask.suspect,
        limits=limits_of(run.config, case.tensors),
    )
    facts = run_replay(plan)
    return completed(replace(case, replay=facts, batches=case.batches or facts.audit))
