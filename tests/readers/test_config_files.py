import io
import json
import os
import pickle

import pytest

from forensics.errors import UnreadableFile
from forensics.readers import (
    config_json,
    config_yaml,
    hf_training_args,
    launch_script,
    mlflow_store,
    python_config,
)
from forensics.readers._base import Probe, no_progress
from forensics.readers._settings import make_config


def probe(folder, name, data):
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return Probe(path, folder, path.stat().st_size)


def config_of(reader, found):
    return make_config([(found.source, reader.READER.read(found, no_progress).settings)])


@pytest.mark.parametrize(
    "text",
    [
        '{"epoch": 1.0, "train_loss": 0.3, "train_runtime": 12}',
        '{"step": 1, "lr": 0.1, "loss": 2}\n{"step": 2, "lr": 0.1, "loss": 2, "seed": 1}\n',
        '[{"lr": 1}]',
        "",
        "not json",
    ],
)
def test_json_that_is_no_configuration_is_left_alone(tmp_path, text):
    assert not config_json.sniff(probe(tmp_path, "x.json", text))


@pytest.mark.parametrize("text", ['{"lr": 0.1, "seed": 1, "opt": ', '{"lr": ' + '{"a":' * 5000])
def test_damaged_json_is_one_plain_error(tmp_path, text):
    with pytest.raises(UnreadableFile, match=r"^config.json: not valid JSON"):
        config_json.read(probe(tmp_path, "config.json", text), no_progress)


def test_json_settings_are_read_with_a_byte_order_mark_and_literals_of_python(tmp_path):
    text = b"\xef\xbb\xbf" + b'{"learning_rate": 1e-4, "eps": NaN, "optimizer": {"name": "lion"}}'
    found = probe(tmp_path, "args.json", text)
    assert config_json.sniff(found)
    made = config_of(config_json, found)
    assert (made.lr_peak, made.eps, made.optimizer) == (1e-4, None, "lion")


@pytest.mark.parametrize(
    "text",
    [
        "lr: [1, 2",
        "- a\n- b\n",
        "lr: 1\n\tseed: 2",
        "a: " + "[" * 3000,
        "&a [*a, *b]",
        "? [a]\n: 1",
    ],
)
def test_damaged_yaml_is_one_plain_error(tmp_path, text):
    with pytest.raises(UnreadableFile, match=r"^config.yaml: "):
        config_yaml.read(probe(tmp_path, "config.yaml", text), no_progress)


def test_yaml_never_makes_an_object(tmp_path):
    marker = tmp_path / "made"
    text = f"lr: 0.1\ncall: !!python/object/apply:os.system ['touch {marker}']\nseed: 2\n"
    text += "cls: !!python/name:os.system ''\nnew: !!python/object/new:os.system [x]\n"
    settings = config_yaml.read(probe(tmp_path, "c.yaml", text), no_progress).settings
    assert not marker.exists()
    assert settings["cls"] == "os.system"
    assert settings["lr"] == 0.1


def test_yaml_of_lightning_with_a_namespace(tmp_path):
    text = (
        "lr: 1e-4\nbetas: !!python/tuple [0.9, 0.95]\n"
        "args: !!python/object:argparse.Namespace\n  batch_size: 32\n  max_epochs: 3\n"
    )
    found = probe(tmp_path, "hparams.yaml", text)
    assert config_yaml.sniff(found)
    made = config_of(config_yaml, found)
    assert (made.lr_peak, made.betas, made.micro_batch, made.epochs) == (1e-4, (0.9, 0.95), 32, 3)


def test_python_is_parsed_and_never_run(tmp_path):
    marker = tmp_path / "made"
    text = (
        f"import os\nlearning_rate = 6e-4\nbatch_size = 4 * 8\nopen({str(marker)!r}, 'w')\n"
        "max_iters = int('5')\nbig = 10 ** 10 ** 10\nwd = 1 / 0\nseed: int = 7\n"
        "optim_wrapper = dict(type='OptimWrapper', clip_grad=dict(max_norm=35))\n"
    )
    found = probe(tmp_path, "config.py", text)
    assert python_config.sniff(found)
    made = config_of(python_config, found)
    assert not marker.exists()
    assert (made.lr_peak, made.micro_batch, made.seed) == (6e-4, 32, 7)
    assert (made.total_steps, made.clip_threshold) == (None, 35.0)


def test_a_training_script_is_no_configuration(tmp_path):
    assert not python_config.sniff(
        probe(tmp_path, "train.py", "lr = 1\nseed = 2\nbatch_size = 3\n")
    )
    assert not python_config.sniff(probe(tmp_path, "config.py", "lr = 1\ndef f():\n  seed = 2\n"))


class Hostile:
    def __reduce__(self):
        return os.system, ("touch pickle_was_run",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04",
        b"PK\x03\x04" + b"\0" * 40,
        b"\x80\x02.",
        pickle.dumps([1, 2]),
        pickle.dumps({"a": 1})[:-3],
        b"\x80\x02" + b"]" * 2_000_000,
        bytes.fromhex("80028a0a6cfc9c46f9206aa85019") + b".",
    ],
)
def test_a_damaged_or_hostile_pickle_is_one_plain_error(tmp_path, data):
    with pytest.raises(UnreadableFile, match=r"^training_args.bin: "):
        hf_training_args.read(probe(tmp_path, "training_args.bin", data), no_progress)


def test_a_pickle_calls_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = probe(tmp_path, "training_args.bin", pickle.dumps({"seed": 3, "x": Hostile()}))
    assert hf_training_args.sniff(found)
    assert config_of(hf_training_args, found).seed == 3
    assert not (tmp_path / "pickle_was_run").exists()


@pytest.mark.parametrize("zipped", [True, False])
def test_arguments_of_a_trainer_are_read(tmp_path, zipped):
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    args = transformers.TrainingArguments(
        output_dir=str(tmp_path), learning_rate=3e-4, max_grad_norm=0.0, adam_beta2=0.95, seed=7
    )
    buffer = io.BytesIO()
    torch.save(args, buffer, _use_new_zipfile_serialization=zipped)
    found = probe(tmp_path, "training_args.bin", buffer.getvalue())
    made = config_of(hf_training_args, found)
    assert (made.lr_peak, made.clip_threshold, made.seed) == (3e-4, 0.0, 7)
    assert made.betas == (0.9, 0.95)
    assert (made.optimizer, made.schedule, made.nan_filter) == ("adamw", "linear", True)
    cut = probe(tmp_path, "training_args.bin", buffer.getvalue()[:-300])
    if zipped:  # the directory at the end is gone, the arguments are not
        assert config_of(hf_training_args, cut).seed == 7


def test_json_too_large_for_a_configuration_is_not_read(tmp_path):
    data = json.dumps({"lr": 1, "seed": 2, "opt": "sgd", "x": "y" * (17 << 20)})
    assert not config_json.sniff(probe(tmp_path, "config.json", data))


def test_overrides_of_hydra(tmp_path):
    found = probe(tmp_path, "overrides.yaml", "- optim.lr=1e-3\n- +trainer.max_steps=500\n")
    assert config_yaml.sniff(found)
    made = config_of(config_yaml, found)
    assert (made.lr_peak, made.total_steps) == (1e-3, 500)


def test_the_command_line_that_wandb_keeps(tmp_path):
    text = json.dumps(
        {"args": ["--lr", "0.001", "--epochs=3"], "startedAt": "2024-01-01T10:10:10Z"}
    )
    found = probe(tmp_path, "wandb-metadata.json", text)
    assert config_json.sniff(found)
    made = config_of(config_json, found)
    assert (made.lr_peak, made.epochs, made.started) == (0.001, 3.0, 1704103810.0)


def test_a_script_that_starts_nothing_is_left_alone(tmp_path):
    assert not launch_script.sniff(probe(tmp_path, "clean.sh", "rm -rf out\n"))
    assert not launch_script.sniff(probe(tmp_path, "train.py", "python train.py --lr 1\n"))
    assert not launch_script.sniff(probe(tmp_path, "args.txt", "python is asked for arguments\n"))
    assert not launch_script.sniff(probe(tmp_path, "notes.txt", "python train.py --lr 1\n"))


@pytest.mark.parametrize("name", ["args.txt", "cmd", "command_line.txt", "run_args.txt"])
@pytest.mark.parametrize(
    "text",
    [
        "python train.py --learning_rate 2e-5 --seed 7\n",
        "Namespace(learning_rate=2e-05, seed=7, name='a(b)')\n",
    ],
)
def test_the_command_that_was_kept_as_text(tmp_path, name, text):
    found = probe(tmp_path, name, text)
    assert launch_script.sniff(found)
    made = config_of(launch_script, found)
    assert (made.lr_peak, made.seed) == (2e-5, 7)


def test_a_launch_script_is_read_and_never_run(tmp_path):
    marker = tmp_path / "made"
    text = (
        f"#!/bin/bash\nLR=2e-5  # peak\nexport SEED='7'\nX=$(touch {marker})\n"
        "python prepare.py --out data\n"
        "torchrun --nproc_per_node 8 train.py --learning_rate $LR --seed ${SEED} \\\n"
        "    --bf16 True --max_grad_norm $UNKNOWN\n"
    )
    found = probe(tmp_path, "run.sh", text)
    assert launch_script.sniff(found)
    made = config_of(launch_script, found)
    assert not marker.exists()
    assert (made.lr_peak, made.seed, made.precision) == (2e-5, 7, "bf16")
    assert made.clip_threshold is None


def test_parameters_and_state_in_the_store_of_mlflow(tmp_path):
    run = tmp_path / "mlruns" / "0" / ("a" * 32)
    (run / "params").mkdir(parents=True)
    (run / "params" / "learning_rate").write_text("0.1\n")
    state = "run_id: x\nstatus: {}\nstart_time: 1700000000000\nend_time: null\n"
    (run / "meta.yaml").write_text(state.format(5))
    (tmp_path / "meta.yaml").write_text("version: 1\n")

    def at(path):
        return Probe(path, tmp_path, path.stat().st_size)

    assert not mlflow_store.sniff(at(tmp_path / "meta.yaml"))
    assert config_of(mlflow_store, at(run / "params" / "learning_rate")).lr_peak == 0.1
    reading = mlflow_store.read(at(run / "meta.yaml"), no_progress)
    assert [(t.kind.value, t.line) for t in reading.text] == [("killed", 2)]
    assert make_config([("meta.yaml", reading.settings)]).started == 1_700_000_000.0
    (run / "meta.yaml").write_text("run_id: x\nstatus: [")
    with pytest.raises(UnreadableFile, match=r"meta.yaml: not the description of a run"):
        mlflow_store.read(at(run / "meta.yaml"), no_progress)
