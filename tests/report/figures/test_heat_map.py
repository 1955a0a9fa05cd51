from dataclasses import replace

import pytest

from forensics.case import Case
from forensics.findings import TensorStats
from forensics.report.figures import NARROW, WIDE, draw_heat_map, figure_svg, has_non_finite
from forensics.report.figures._depth import by_depth
from forensics.report.figures._heat_map import MOST_COLUMNS, MOST_ROWS
from forensics.run import FoundCheckpoint
from tests.causes.cases import make_case

NAMES = ["lm_head.weight", *(f"model.layers.{n}.mlp.up_proj.weight" for n in (0, 1, 10, 2))]


def _stats(step: int, name: str, nan: int, role: str = "param") -> TensorStats:
    return TensorStats(
        checkpoint=f"checkpoint-{step}",
        step=step,
        name=name,
        role=role,
        dtype="F32",
        shape=(10,),
        size=10,
        nan=nan,
        pos_inf=0,
        neg_inf=0,
        zero=0,
        abs_max=1.0,
        rms=0.5,
        first_bad=0 if nan else None,
    )


def _case(steps: range, bad_from: int, names: list[str] = NAMES) -> Case:
    case = make_case([1.0] * 50)
    found = tuple(FoundCheckpoint(f"checkpoint-{s}", s, 1, 0.0) for s in steps)
    tensors = tuple(
        _stats(s, name, 5 if s >= bad_from else 0, role)
        for s in steps
        for name in names
        for role in ("param", "exp_avg")
    )
    return replace(case, run=replace(case.run, checkpoints=found), tensors=tensors)


def test_finite_checkpoints_have_no_map() -> None:
    assert not has_non_finite(_case(range(10, 40, 10), bad_from=99))
    assert not has_non_finite(make_case([1.0] * 9))


def test_rows_run_from_input_to_output() -> None:
    names = ["lm_head.weight", "model.norm.weight", *NAMES[1:], "model.embed_tokens.weight"]
    labels = [label for label, _ in by_depth(names, 20)]
    assert labels == [
        "model.embed_tokens",
        "layer 0",
        "layer 1",
        "layer 2",
        "layer 10",
        "model.norm",
        "lm_head",
    ]


def test_a_stack_of_modules_is_ordered_by_its_numbers() -> None:
    assert [label for label, _ in by_depth(["10.weight", "2.weight", "0.weight"], 9)] == [
        "0",
        "2",
        "10",
    ]


@pytest.mark.parametrize("count", [1, 36, 37, 200, 1000])
def test_many_layers_share_rows_and_none_is_lost(count: int) -> None:
    names = [f"layers.{n}.weight" for n in range(count)]
    rows = by_depth(names, MOST_ROWS)
    assert len(rows) <= MOST_ROWS
    assert sorted(name for _, held in rows for name in held) == sorted(names)


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_same_map_is_drawn_twice_and_stays_small(size) -> None:
    case = _case(range(10, 510, 10), 300, [f"layers.{n}.weight" for n in range(120)])
    first = figure_svg(draw_heat_map(case, size))
    assert first == figure_svg(draw_heat_map(case, size))
    assert len(first) < 60_000


def test_columns_are_few_and_the_first_bad_one_is_among_them() -> None:
    figure = draw_heat_map(_case(range(10, 1010, 10), 310), WIDE)
    labels = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert len(figure.axes) == 2
    assert len(labels) <= MOST_COLUMNS
    assert figure.axes[0].get_xlim()[1] <= MOST_COLUMNS


def test_damaged_cells_are_red_and_sound_ones_green() -> None:
    figure = draw_heat_map(_case(range(10, 40, 10), bad_from=30), WIDE)
    assert [(p.get_x(), p.get_height()) for p in figure.axes[0].patches] == [
        (pytest.approx(-0.46), 5),
        (pytest.approx(0.54), 5),
        (pytest.approx(1.54), 5),
    ]
    colours = [p.get_facecolor()[:3] for p in figure.axes[0].patches]
    assert colours[0] == colours[1] != colours[2]
