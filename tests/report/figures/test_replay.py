"""The figure of the replayed trajectories."""

import numpy as np
import pytest

from forensics.replay_facts import Variant
from forensics.report import figures
from forensics.report.figures import NARROW, WIDE
from forensics.report.replay_caption import replay_caption
from tests import replay_facts_of as of
from tests.report import samples


def case_of(**parts):
    return samples.replayed(of.facts(**parts)).case


def test_nothing_replayed_is_nothing_drawn():
    assert figures.replay_lines(samples.bare().case) == ()
    assert figures.replay_lines(case_of(as_run=None)) == ()


def test_log_and_run_are_drawn_and_each_effective_change_has_its_colour():
    removing = tuple(of.change(v, removes=True) for v in list(Variant)[:4])
    kept = (of.change(Variant.EPSILON, removes=False),)
    lines = figures.replay_lines(case_of(counterfactuals=removing + kept))
    assert [line.kind for line in lines] == ["kept", "logged", "as_run", *["removed"] * 4]
    colours = [line.colour for line in lines]
    assert len(set(colours)) == len(colours)


def test_more_effective_changes_than_colours_are_drawn_muted():
    removing = tuple(of.change(v, removes=True) for v in Variant)
    lines = figures.replay_lines(case_of(counterfactuals=removing))
    assert sum(line.kind == "removed" for line in lines) == 5
    assert len(lines) == len(Variant) + 2


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_text_stays_inside_and_apart(size):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for parts in ({}, {"suspect_step": 310}, {"suspect_step": 325}):
        case = case_of(**parts)
        figure = figures.draw_replay(case, figures.replay_lines(case), size)
        renderer = FigureCanvasAgg(figure).get_renderer()
        boxes = [
            text.get_window_extent(renderer)
            for axes in figure.axes
            for text in axes.texts
            if text.get_text()
        ]
        width, height = figure.bbox.width, figure.bbox.height
        assert all(b.x0 >= 0 and b.x1 <= width and b.y1 <= height for b in boxes)
        apart = [a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[n + 1 :]]
        assert not any(apart)


def test_points_that_are_not_finite_are_marked():
    case = case_of(as_run=of.as_run(trajectory=of.blown_up()), counterfactuals=())
    lines = figures.replay_lines(case)
    figure = figures.draw_replay(case, lines, WIDE)
    marks = [
        (line.get_marker(), line.get_xdata()[0])
        for axes in figure.axes
        for line in axes.lines
        if line.get_linestyle() == "None"
    ]
    assert ("x", of.SUSPECT) in marks
    assert replay_caption(lines).notes


def test_one_point_and_nothing_finite_are_drawn_too():
    alone = of.trajectory(first=317, last=317)
    assert figures.draw_replay(
        *(lambda case: (case, figures.replay_lines(case)))(
            case_of(as_run=of.as_run(trajectory=alone), counterfactuals=())
        ),
        WIDE,
    ).axes
    lost = of.trajectory(first=317, last=317, peak=np.nan)
    case = case_of(as_run=of.as_run(trajectory=lost), counterfactuals=())
    svg = figures.figure_svg(figures.draw_replay(case, figures.replay_lines(case), NARROW))
    assert svg.count("<svg") == 1


def test_the_drawing_repeats_byte_for_byte():
    case = samples.replayed().case
    first, second = (
        figures.figure_svg(figures.draw_replay(case, figures.replay_lines(case), WIDE))
        for _ in range(2)
    )
    assert first == second


def test_the_key_names_every_line_once():
    lines = figures.replay_lines(case_of())
    told = replay_caption(lines)
    assert [item.text for item in told.key] == [
        "logged",
        "replayed as it was run",
        "skip: 1 → 2",
        "every other change",
    ]
