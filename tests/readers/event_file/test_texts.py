"""Settings written as text, in the forms that programs give them."""

import json

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.plugins.hparams import plugin_data_pb2

from forensics.readers._base import no_progress
from forensics.readers._event_file.collect import collect
from forensics.readers._event_file.texts import MAX_VALUE
from tests.readers.event_file.twin import VERSION, record

DT_STRING = 7


def text(tag, *parts):
    """A framed event of the text plugin."""
    event = Event(step=0)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = DT_STRING
    value.tensor.string_val.extend(part.encode() for part in parts)
    return record(event.SerializeToString())


def hparams(fill, tag="_hparams_/session_start_info"):
    """A framed event of the hparams plugin; ``fill`` sets its content."""
    content = plugin_data_pb2.HParamsPluginData()
    fill(content)
    event = Event(step=0)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name = "hparams"
    value.metadata.plugin_data.content = content.SerializeToString()
    return record(event.SerializeToString())


def settings_in(path, *records):
    path.write_bytes(VERSION + b"".join(records))
    found = collect(path, no_progress)
    assert not found.scalars
    return found.settings


@pytest.mark.parametrize(
    "written", ["", "  ", "word " * MAX_VALUE, '{"a": ' * 50_000, "{" * 900_000]
)
def test_prose_and_endless_nesting_are_no_settings(tmp_path, written):
    assert settings_in(tmp_path / "f", text("sample/text_summary", written)) == {}


def test_strings_of_other_plugins_are_not_read(tmp_path):
    event = Event()
    value = event.summary.value.add(tag="images")
    value.metadata.plugin_data.plugin_name = "images"
    value.tensor.dtype = DT_STRING
    value.tensor.string_val.append(b'{"a": 1}')
    assert settings_in(tmp_path / "f", record(event.SerializeToString())) == {}


def test_other_messages_of_the_hparams_plugin_say_nothing(tmp_path):
    records = [
        hparams(lambda c: c.experiment.hparam_infos.add(name="lr"), "_hparams_/experiment"),
        hparams(lambda c: setattr(c.session_end_info, "status", 1), "_hparams_/session_end_info"),
    ]
    assert settings_in(tmp_path / "f", *records) == {}


def test_transformers_writes_json(tmp_path):
    args = {"learning_rate": 5e-05, "optim": "adamw_torch", "nested": {"a": [1, None]}}
    got = settings_in(
        tmp_path / "f",
        text("args/text_summary", json.dumps(args, indent=2)),
        text("model_config/text_summary", '{"vocab_size": 100, "nan": NaN}'),
    )
    assert got["args"] == args
    assert got["model_config"]["vocab_size"] == 100


@pytest.mark.parametrize(
    "written",
    [
        "{'lr': 0.1, 'name': None}",
        '```json\n{"lr": 0.1, "name": null}\n```',
        '    {"lr": 0.1,\n    "name": null}',
    ],
)
def test_dictionaries_however_they_are_spelled(tmp_path, written):
    got = settings_in(tmp_path / "f", text("config/text_summary", written))
    assert got == {"config": {"lr": 0.1, "name": None}}


def test_nothing_in_a_text_is_executed(tmp_path):
    written = "{'a': __import__('os').mkdir('made')}"
    got = settings_in(tmp_path / "f", text("config/text_summary", written))
    assert got == {"config": written}


def test_markdown_table(tmp_path):
    table = "|param|value|\n|-|-|\n|learning_rate|0.0003|\n|env|a|b|\n|odd|"
    got = settings_in(tmp_path / "f", text("hyperparameters/text_summary", table))
    assert got == {"hyperparameters": {"learning_rate": "0.0003", "env": "a|b"}}


def test_one_value_a_tag_and_the_first_one_counts(tmp_path):
    got = settings_in(tmp_path / "f", *(text("lr/text_summary", v) for v in ("0.01", "0.2", "3")))
    assert got == {"lr": "0.01"}


def test_several_strings_are_lines_of_one_text(tmp_path):
    assert settings_in(tmp_path / "f", text("cmd", "train.py", "--lr 1")) == {
        "cmd": "train.py\n--lr 1"
    }


def test_bytes_that_are_no_text_survive(tmp_path):
    event = Event()
    value = event.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.dtype = DT_STRING
    value.tensor.string_val.append(b"\xff<b>")
    assert settings_in(tmp_path / "f", record(event.SerializeToString())) == {"t": r"\xff<b>"}


def test_hparams_of_every_type(tmp_path):
    def fill(content):
        found = content.session_start_info.hparams
        found["lr"].number_value = 0.5
        found["opt"].string_value = "adam"
        found["amp"].bool_value = True
        found["none"].null_value = 0
        found["betas"].list_value.values.add().number_value = 0.9
        found["inner"].struct_value.fields["a"].number_value = 1.0

    got = settings_in(tmp_path / "f", hparams(fill))
    assert got == {
        "hparams": {
            "lr": 0.5,
            "opt": "adam",
            "amp": True,
            "none": None,
            "betas": [0.9],
            "inner": {"a": 1.0},
        }
    }
