import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest

from forensics.report import figures
from forensics.report.figures._scale import scale_of
from forensics.run import Axis
from forensics.signals import Signal
from forensics.timeline import Resume
from forensics.verdict import Verdict
from tests.report import samples

ROOT = Path(__file__).parents[3]
EXTREMES = {
    "one point": np.array([3.0]),
    "all NaN": np.full(20, np.nan),
    "all infinite": np.full(20, np.inf),
    "constant": np.full(20, 2.5),
    "zeros": np.zeros(20),
    "negative": -np.geomspace(1, 1e6, 20),
    "both signs": np.array([-1e9, -1.0, 0.0, 1.0, 1e9]),
    "huge": np.array([1e308, -1e308, 1e-308]),
    "tiny": np.array([5e-324, 1e-310, 1e-300]),
    "from tiny to huge": np.geomspace(1e-300, 1e300, 30),
    "alternating": np.where(np.arange(5000) % 2, 1.0, np.nan),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("signal", [Signal.TRAIN_LOSS, Signal.GRAD_NORM, Signal.LR])
def test_no_values_break_a_figure(name: str, signal: Signal) -> None:
    verdict = samples.only_numbers(EXTREMES[name], signal)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = figures.figure_svg(figures.draw_timeline(verdict))
    ElementTree.fromstring(svg)
    assert "inf" not in svg.replace("Inf", "")
    assert "nan" not in svg


def test_nothing_logged_gives_a_sentence_instead() -> None:
    svg = figures.figure_svg(figures.draw_timeline(samples.bare()))
    assert "No loss, gradient norm or learning rate was logged." in svg


@pytest.mark.parametrize(
    "sample", ["diverged_finetune", "healthy_pretraining", "hidden_nan", "huge"]
)
def test_a_figure_is_small_and_repeats_byte_for_byte(sample: str) -> None:
    verdict: Verdict = getattr(samples, sample)()
    first, second = (figures.figure_svg(figures.draw_timeline(verdict)) for _ in range(2))
    assert first == second
    assert len(first) < 300_000


def test_another_process_with_other_settings_draws_the_same(tmp_path: Path) -> None:
    code = (
        "import matplotlib as m; m.rcParams.update({'font.size': 40, 'lines.linewidth': 9,"
        " 'axes.facecolor': 'red', 'svg.hashsalt': None});"
        "from forensics.report import figures; from tests.report import samples; import sys;"
        "sys.stdout.write(figures.figure_svg(figures.draw_timeline(samples.hidden_nan())))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONHASHSEED": "77", "MPLCONFIGDIR": str(tmp_path), "PATH": ""},
    )
    assert run.stdout == figures.figure_svg(figures.draw_timeline(samples.hidden_nan()))


def test_pyplot_and_the_users_settings_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    figures.figure_svg(figures.draw_timeline(samples.hidden_nan()))
    assert dict(mpl.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


def test_colours_are_variables_and_text_is_text() -> None:
    svg = figures.figure_svg(figures.draw_timeline(samples.diverged_finetune()))
    assert "var(--fig-loss, #2f6fd0)" in svg
    assert "onset 1,240, gradient norm first" in svg
    assert "DejaVu" not in svg
    assert "<metadata" not in svg


def test_what_was_found_is_marked() -> None:
    svg = figures.figure_svg(figures.draw_timeline(samples.diverged_finetune()))
    for text in (
        "resume 810",
        "peak 11.2",
        "peak 71.4",
        "Validation loss",
        "log scale",
        "checkpoint",
    ):
        assert text in svg, text
    assert "NaN" in figures.figure_svg(figures.draw_timeline(samples.hidden_nan()))


def test_a_single_spike_among_a_million_points_is_drawn() -> None:
    figure = figures.draw_timeline(samples.huge())
    loss = figure.axes[1]
    tops = [path.vertices[:, 1].max() for band in loss.collections for path in band.get_paths()]
    assert max(tops) == 4_000.0


def test_resumes_by_the_thousand_stay_small() -> None:
    verdict = samples.hidden_nan()
    resumes = tuple(Resume(20 + n // 10, None, n) for n in range(8000))
    line = replace(verdict.case.timeline, resumes=resumes)
    many = replace(verdict, case=replace(verdict.case, timeline=line))
    svg = figures.figure_svg(figures.draw_timeline(many))
    assert "first of 8000" in svg
    assert len(svg) < 300_000


def test_a_case_alone_can_be_drawn() -> None:
    svg = figures.figure_svg(figures.draw_timeline(samples.diverged_finetune().case))
    assert "checkpoint" in svg


def test_the_time_axis_is_named_after_what_the_run_counts_by() -> None:
    verdict = samples.hidden_nan()
    line = replace(verdict.case.timeline, axis=Axis.EPOCH)
    epochs = replace(verdict, case=replace(verdict.case, timeline=line))
    assert ">epoch<" in figures.figure_svg(figures.draw_timeline(epochs))


def test_ids_of_two_figures_on_a_page_differ() -> None:
    figure = figures.draw_timeline(samples.hidden_nan())
    one, two = (str(figures.inline_svg(figure, name, "<t>")) for name in ("a", "b"))
    assert 'id="a-axes_1"' in one
    assert 'id="b-axes_1"' in two
    assert "http" not in one
    assert 'aria-label="&lt;t&gt;"' in one


def test_a_second_figure_only_where_it_shows_more() -> None:
    assert figures.zoom_window(samples.healthy_pretraining().case) is None
    assert figures.zoom_window(samples.hidden_nan().case) is None
    window = figures.zoom_window(samples.diverged_finetune().case)
    assert window is not None
    assert window[0] < 1240 < 1310 < window[1]


@pytest.mark.parametrize(
    ("values", "signal", "scale"),
    [
        ([1.0, 2.0, 11.0], Signal.TRAIN_LOSS, "linear"),
        ([0.01, 2.0], Signal.TRAIN_LOSS, "log"),
        ([0.0, 1.0, 1.1, 1e6], Signal.GRAD_NORM, "symlog"),
        ([-5.0, 0.0, 5.0], Signal.TRAIN_LOSS, "linear"),
        ([1e-9, 1e-3], Signal.LR, "linear"),
        ([], Signal.TRAIN_LOSS, "linear"),
    ],
)
def test_the_scale_follows_the_range(values: list[float], signal: Signal, scale: str) -> None:
    assert scale_of(np.array(values), signal)[0] == scale
