from dataclasses import replace

import pytest

from forensics.findings import Ending, Episode, EpisodeKind, Outcome, Severity
from forensics.report.names import Tone
from forensics.report.view import build_page
from forensics.report.view._episodes import describe
from forensics.report.view._folding import fold
from forensics.signals import Signal
from forensics.verdict import Cost
from tests.report import samples


def _episode(what: EpisodeKind, details: dict[str, object]) -> Episode:
    return Episode(what, Signal.TRAIN_LOSS, 5, Severity.INFO, Ending.CENSORED, details=details)


def test_a_fold_words_only_what_it_keeps() -> None:
    worded: list[int] = []

    def show(item: int) -> str:
        worded.append(item)
        return str(item)

    folded = fold(range(10**6), show, "file", shown=3, limit=10)
    assert len(worded) == 10
    assert (folded.shown, len(folded.folded)) == (("0", "1", "2"), 7)
    assert folded.fold_label == "7 more files"
    assert folded.omitted == "999,990 further files not listed here."
    assert folded.total == "1,000,000 files"


def test_a_short_list_is_not_folded() -> None:
    folded = fold([1, 2], str, "file")
    assert (folded.folded, folded.omitted) == ((), "")


def test_details_of_unforeseen_keys_or_types_do_not_break_an_episode() -> None:
    details = {"ratio": "many", "points": None, "unheard_of": object(), "count": [1]}
    strange = _episode(EpisodeKind.LOSS_SPIKE, details)
    assert describe(strange) == "many; [1]"


@pytest.mark.parametrize(
    ("kind", "details", "said"),
    [
        (
            EpisodeKind.LOSS_SPIKE,
            {"ratio": 3.2, "points": 4, "speed": "fast"},
            "3.2 times its baseline; 4 points; fast recovery",
        ),
        (
            EpisodeKind.DIVERGENCE,
            {"form": "drift", "ratio": 2.0, "best_step": 1200, "best_value": 1.5},
            "by drifting upwards; 2 times its best level at the end; best 1.5 at 1,200",
        ),
        (
            EpisodeKind.HIDDEN_NON_FINITE,
            {"how": "nan_filter", "shown": "0.0"},
            "hidden by the logger's NaN filter; the log shows 0.0",
        ),
        (
            EpisodeKind.NON_FINITE,
            {"kind": "nan", "persistent": False, "count": 1},
            "NaN; passing; 1 value",
        ),
        (
            EpisodeKind.LOSS_SCALE_COLLAPSE,
            {"from_scale": 65536.0, "to_scale": 1.0, "at_minimum": True},
            "from 65,536; to 1; at the minimum",
        ),
        (
            EpisodeKind.LEVEL_SHIFT,
            {"before": 2.0, "after": 3.0, "validation_moved": None},
            "2 before, 3 after (worse)",
        ),
        (
            EpisodeKind.PLATEAU,
            {"level": 2.3, "level_name": "ln(10) = 2.303", "improvement": 0.02},
            "level 2.3; ln(10) = 2.303; 2 % below where it began",
        ),
    ],
)
def test_details_are_said_in_words(
    kind: EpisodeKind, details: dict[str, object], said: str
) -> None:
    assert describe(_episode(kind, details)).replace("\u00a0", " ") == said


def test_nothing_known_gives_a_page_all_the_same() -> None:
    page = build_page(samples.bare())
    assert page.head.diagnosis is None
    assert page.hypotheses.in_full == ()
    assert page.loss.facts == ()
    assert page.actions.resume == ""


def test_the_diagnosis_is_shown_in_full_even_where_it_is_improbable() -> None:
    verdict = samples.diverged_finetune()
    page = build_page(replace(verdict, hypotheses=verdict.hypotheses[3:]))
    assert [h.title for h in page.hypotheses.in_full] == ["Warm-up missing"]
    assert len(page.hypotheses.ruled_out.folded) == 6


def test_evidence_is_split_and_ordered_by_weight() -> None:
    first = build_page(samples.diverged_finetune()).hypotheses.in_full[0]
    assert [clue.strength for clue in first.supporting] == [
        "strong",
        "moderate",
        "moderate",
        "weak",
    ]
    assert [clue.steps for clue in first.opposing] == ["step 1,240"]


def test_no_failure_is_good_news() -> None:
    page = build_page(samples.healthy_pretraining())
    assert page.head.diagnosis is not None
    assert page.head.diagnosis.status.tone is Tone.GOOD
    assert page.actions.resume_title == "Go on from"
    assert page.loss.earliest == ()


def test_a_cost_of_nothing_is_not_unknown_cost() -> None:
    verdict = replace(samples.diverged_finetune(), cost=Cost(0, 0.0, 0.0))
    assert [f.value.replace("\u00a0", " ") for f in build_page(verdict).loss.facts] == [
        "no steps",
        "0 s",
        "0 %",
    ]


def test_the_earliest_monitor_of_each_scale_is_told() -> None:
    told = build_page(samples.diverged_finetune()).loss.earliest
    assert [line.partition(" would")[0] for line in told] == [
        "A per-step monitor",
        "A per-window monitor",
        "A per-validation monitor",
    ]
    assert "1,500 steps before" in told[2]


def test_long_lists_are_bounded() -> None:
    page = build_page(samples.huge())
    assert len(page.inventory.read.shown) + len(page.inventory.read.folded) == 1333
    assert len(page.warnings.folded) < 1000
    assert page.warnings.omitted
    assert len(page.actions.skip_all) < 4000
    assert page.hypotheses.in_full[0].supporting[0].steps.endswith("and 9,994 more")


def test_settings_the_run_does_not_give_are_named_not_guessed() -> None:
    config = build_page(samples.hidden_nan()).configuration
    assert "optimizer" in config.unknown
    assert "optimizer" not in {row.name for row in config.known}
    row = next(row for row in config.known if row.name == "precision")
    assert (row.value, row.source) == ("fp16", "training_args.bin")


def test_an_unknown_outcome_is_neutral() -> None:
    page = build_page(samples.bare())
    assert page.head.outcome.tone is Tone.NEUTRAL
    assert samples.bare().case.judgement.outcome is Outcome.UNKNOWN


def test_a_broken_validation_is_nothing_to_resume_from() -> None:
    verdict = samples.diverged_finetune()
    judged = replace(verdict.case.judgement, outcome=Outcome.VALIDATION_FAILED)
    todo = build_page(replace(verdict, case=replace(verdict.case, judgement=judged))).actions
    assert todo.resume_title == "Keep the trained weights"
    assert (todo.resume, todo.resume_step) == ("", "")


def test_levels_are_told_by_their_side() -> None:
    plateau = {"improvement": -0.4}
    assert describe(_episode(EpisodeKind.PLATEAU, plateau)) == "40 % above where it began"
    shift = {"before": 0.57, "after": 0.47}
    assert "0.47 after (better)" in describe(_episode(EpisodeKind.LEVEL_SHIFT, shift))
