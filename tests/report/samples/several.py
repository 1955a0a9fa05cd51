"""A sweep in one folder: the run that failed worst is diagnosed, the others are listed."""

from dataclasses import replace

from forensics.findings import Outcome
from forensics.verdict import OtherRun, Verdict
from tests.report.samples.diverged import diverged_finetune


def several_runs() -> Verdict:
    """The diverged fine-tune as one of five."""
    base = diverged_finetune()
    case = replace(base.case, run=replace(base.case.run, name="lr2e-4"))
    others = (
        OtherRun("lr1e-5", Outcome.HEALTHY, "no_failure"),
        OtherRun("lr5e-5", Outcome.SPIKED_RECOVERED, "hard_but_valid_batch"),
        OtherRun("lr1e-4/seed 1", Outcome.SPIKED_UNRECOVERED, "learning_rate_too_high"),
        OtherRun("lr2e-4 (2)", Outcome.CRASHED, "process_killed"),
    )
    return replace(base, case=case, other_runs=others)
