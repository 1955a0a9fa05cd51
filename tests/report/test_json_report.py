import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.report import json_report
from forensics.report.json_report import plain
from tests.report import samples

SCHEMA = json.loads(Path(__file__).with_name("diagnosis.schema.json").read_text(encoding="utf-8"))
NAMES = [name for name in samples.__all__ if name != "only_numbers"]


class _Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class _Point:
    x: float
    when: tuple[int, ...]


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("name", NAMES)
def test_the_contract_is_kept(name: str) -> None:
    text = json_report.to_json(getattr(samples, name)())
    found = json.loads(text, parse_constant=_refuse)
    jsonschema.validate(found, SCHEMA)
    assert text.isascii()


def test_the_schema_itself_refuses_what_the_contract_does() -> None:
    found = json_report.to_dict(samples.diverged_finetune())
    for broken in (
        found | {"outcome": "exploded"},
        found | {"schema_version": 2},
        {key: value for key, value in found.items() if key != "warnings"},
        found | {"hypotheses": [found["hypotheses"][0] | {"probability": "0.8"}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, SCHEMA)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (np.float32("-inf"), "-Infinity"),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([1.0, np.nan]), [1.0, "NaN"]),
        (_Colour.RED, "red"),
        (PurePosixPath("a/b"), "a/b"),
        ({1: {2.5}}, {"1": [2.5]}),
        (_Point(float("nan"), (1, 2)), {"x": "NaN", "when": [1, 2]}),
        ("a\udcff", "a\\udcff"),
        (b"raw", "b'raw'"),
        (None, None),
    ],
)
def test_values_become_plain(value: object, said: object) -> None:
    assert plain(value) == said


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(alphabet=st.characters(codec=None))
)


@settings(deadline=None)
@given(
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_anything_becomes_strict_json(value: Any) -> None:
    text = json.dumps(plain(value), allow_nan=False)
    text.encode("utf-8")
    json.loads(text, parse_constant=_refuse)


def test_the_run_is_described() -> None:
    run = json_report.to_dict(samples.several_runs())["run"]
    assert run == {
        "path": "runs/sft-lr2e-4",
        "name": "lr2e-4",
        "formats": [
            "Hugging Face trainer state",
            "Hugging Face training arguments",
            "JSON settings",
            "training text",
        ],
        "first_step": 10,
        "last_step": 3000,
        "points": 906,
    }


def test_hypotheses_keep_rank_and_weight() -> None:
    found = json_report.to_dict(samples.diverged_finetune())
    ranks = [h["rank"] for h in found["hypotheses"]]
    assert ranks == sorted(ranks)
    assert sum(h["probability"] for h in found["hypotheses"]) <= 1
    against = [e for e in found["hypotheses"][0]["evidence"] if not e["supports"]]
    assert [e["weight"] for e in against] == [-0.6]


def test_changes_keep_their_types() -> None:
    advice = json_report.to_dict(samples.hidden_nan())["recommendation"]
    assert advice["changes"][0] == {"setting": "bf16", "from": False, "to": True}
    assert advice["skip_steps"] == [401, 402, 403]
    assert advice["resume_from"] is None
