"""Diagnosis: what ``forensics.analyze`` returns."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.findings import Episode, Hypothesis, Outcome, Symptom
from forensics.replay_facts import ReplayFacts
from forensics.report import html_report, json_report, markdown_report
from forensics.report.figures import draw_timeline
from forensics.tables import counterfactual_table, tensor_table
from forensics.verdict import CheckpointVerdict, Recommendation, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """One run, diagnosed; shows itself in a notebook."""

    verdict: Verdict
    """Everything below, and what the report shows besides."""

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return self.verdict.case.judgement.outcome

    @property
    def symptom(self) -> Symptom:
        """What a person saw."""
        return self.verdict.case.judgement.symptom

    @property
    def onset_step(self) -> int | None:
        """Where the failure began, in the run's own numbering."""
        return self.verdict.case.judgement.onset_step

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """What happened, in step order."""
        return self.verdict.case.episodes

    @property
    def checkpoints(self) -> tuple[CheckpointVerdict, ...]:
        """Every checkpoint found, judged."""
        return self.verdict.checkpoints

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Root causes by rank; the first is the diagnosis."""
        return self.verdict.hypotheses

    @property
    def recommendation(self) -> Recommendation:
        """Where to resume, what to change and what to skip."""
        return self.verdict.recommendation

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read or checked."""
        return self.verdict.warnings

    @property
    def tensors(self) -> "pd.DataFrame":
        """One row per scanned tensor; no rows where no checkpoint was scanned."""
        return tensor_table(self.verdict.case.tensors or ())

    @property
    def replay(self) -> ReplayFacts | None:
        """What replaying the run told; None where nothing was replayed."""
        return self.verdict.case.replay

    @property
    def counterfactuals(self) -> "pd.DataFrame":
        """One row for each change that was replayed; no rows where none was."""
        facts = self.verdict.case.replay
        return counterfactual_table(facts.counterfactuals if facts is not None else ())

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as CONTRACT.md's JSON object."""
        return json_report.to_dict(self.verdict)

    def to_json(self) -> str:
        """The same as strict JSON text."""
        return json_report.to_json(self.verdict)

    def to_markdown(self) -> str:
        """The diagnosis for an issue tracker."""
        return markdown_report.render(self.verdict)

    def to_html(self, path: str | Path) -> Path:
        """Write the self-contained report.

        Raises:
            OSError: ``path`` cannot be written.
        """
        target = Path(path)
        target.write_text(html_report.render(self.verdict), encoding="utf-8")
        return target

    def plot(self) -> "Figure":
        """The timeline figure."""
        return draw_timeline(self.verdict)

    def __repr__(self) -> str:
        return f"<Diagnosis {self.outcome}: {self.verdict.sentence}>"

    def _repr_html_(self) -> str:
        return html_report.html_fragment(self.verdict)
