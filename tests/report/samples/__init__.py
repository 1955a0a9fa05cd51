"""Verdicts to render: synthetic, yet as a real analysis would fill them."""

from tests.report.samples.diverged import diverged_finetune
from tests.report.samples.extremes import bare, hostile, huge, only_numbers
from tests.report.samples.healthy import healthy_pretraining
from tests.report.samples.hidden import hidden_nan
from tests.report.samples.replayed import replayed
from tests.report.samples.several import several_runs

__all__ = [
    "bare",
    "diverged_finetune",
    "healthy_pretraining",
    "hidden_nan",
    "hostile",
    "huge",
    "only_numbers",
    "replayed",
    "several_runs",
]
