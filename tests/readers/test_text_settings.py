# ruff: noqa: E501 - the lines of logs are long
from pathlib import Path
from typing import Any

import pytest

from forensics.readers._text.commands import read_command
from forensics.readers._text.literals import read_arguments, read_value, split_arguments
from forensics.run import TextKind
from tests.readers.text_logs import kinds, read

STEPS = "step 1 loss 2.5\nstep 2 loss 2.4\n"


@pytest.mark.parametrize(
    "line",
    [
        "python is a language",
        "deepspeed info: version=0.12",
        "see train.py for details",
        "torchrun warning: something --happened",
        "the command was python",
    ],
)
def test_sentences_are_no_commands(line: str) -> None:
    assert read_command(line) is None or not read_command(line)


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        (
            "cmd = deepspeed main.py --data a b --learning_rate 5e-5 --num_warmup_steps 0 --deepspeed",
            {"data": ["a", "b"], "learning_rate": 5e-5, "num_warmup_steps": 0, "deepspeed": True},
        ),
        (
            "python train.py --lr=0.1 model.depth=4 +seed=7",
            {"lr": 0.1, "model.depth": 4, "seed": 7},
        ),
        (
            "+ torchrun --nproc_per_node=8 train.py --batch-size 32 --name 'my run' --bf16",
            {"nproc_per_node": 8, "batch_size": 32, "name": "my run", "bf16": True},
        ),
        (
            "CUDA_VISIBLE_DEVICES=0 accelerate launch --num_processes 4 train.py --lr 1e-4",
            {"num_processes": 4, "lr": 1e-4},
        ),
        ("$ python -m pkg.train --offset -0.5 --name 'cut", {"offset": -0.5, "name": "'cut"}),
    ],
)
def test_commands_give_their_settings(line: str, settings: dict[str, Any]) -> None:
    found = read_command(line)
    assert found is not None
    assert {key: found.get(key) for key in settings} == settings


def test_literals_are_read_and_nothing_is_run() -> None:
    body = "lr=0.1, betas=(0.9, 0.95), name='a, b=c', f=open('x', 'w'), layer=<class 'a.B'>, n=None, d={'a': 1}"
    assert read_arguments(body) == {
        "lr": 0.1,
        "betas": [0.9, 0.95],
        "name": "a, b=c",
        "f": "open('x', 'w')",
        "layer": "<class 'a.B'>",
        "n": None,
        "d": {"a": 1},
    }


@pytest.mark.parametrize(
    "text", ["(" * 3000, "[" * 1500 + "]" * 1500, "a" * 9000, "'", "1e", "{1:", "\\", "lambda: 0"]
)
def test_hostile_literals_are_text(text: str) -> None:
    assert isinstance(read_value(text), str | list)
    assert len(split_arguments(text)) >= 1


def test_numbers_of_a_table_are_no_settings(tmp_path: Path) -> None:
    assert read(tmp_path, STEPS + "seed: 5\nname: late\n").settings == {}


def test_sentences_with_a_colon_are_no_settings(tmp_path: Path) -> None:
    text = (
        "Note: this is a long remark about many things\nWarning: x is deprecated, use y\n" + STEPS
    )
    assert read(tmp_path, text).settings == {}


def test_the_layers_of_a_printed_model_are_no_settings(tmp_path: Path) -> None:
    text = "Net(\n  (conv): Conv2d(3, 64, kernel_size=(3, 3), stride=2)\n  (bn): BatchNorm2d(64, eps=1e-05, momentum=0.1)\n)\n"
    assert read(tmp_path, text + STEPS).settings == {}


HEADS = [
    ("Namespace(lr=0.1, opt='sgd', layers=[1, 2], resume=None)\n", {"lr": 0.1, "opt": "sgd", "layers": [1, 2], "resume": None}),
    ("Namespace(lr=0.1,\nopt='sgd',\nresume=None)\n", {"lr": 0.1, "opt": "sgd", "resume": None}),
    ("[10/01 10:00:00 d2.x]: Command line arguments: Namespace(lr=0.1, num_gpus=8)\n", {"lr": 0.1, "num_gpus": 8}),
    ("TrainingArguments(\nadam_beta1=0.9,\nlearning_rate=5e-05,\nfp16=False,\n)\n", {"adam_beta1": 0.9, "learning_rate": 5e-05, "fp16": False}),
    (
        "------------------------ arguments ------------------------\n"
        "  adam_beta1 ...................................... 0.9\n"
        "  lr .............................................. 0.00015\n"
        "  load ............................................ None\n"
        "-------------------- end of arguments ---------------------\n",
        {"adam_beta1": 0.9, "lr": 0.00015, "load": None},
    ),
    (
        "[2026-08-22 10:00:00,123] [INFO] [config.py:964:print]   gradient_clipping ............ 1.0\n"
        "[2026-08-22 10:00:00,123] [INFO] [config.py:950:print_user_config]   json = {\n"
        '    "train_batch_size": 64,\n    "fp16": {\n        "enabled": true\n    }\n}\n',
        {"gradient_clipping": 1.0, "train_batch_size": 64, "fp16": {"enabled": True}},
    ),
    ("{'lr': 0.1, 'batch_size': 32, 'name': 'x'}\n", {"lr": 0.1, "batch_size": 32, "name": "x"}),
    ("world_size:8 grad_accum_steps:1\nseed:42\n", {"world_size": 8, "grad_accum_steps": 1, "seed": 42}),
    ("stability: lr:0.003 clamp:6.0 on:True\n", {"stability.lr": 0.003, "stability.clamp": 6.0, "stability.on": True}),
    ("model:\n  depth: 12\n  width: 768\noptim:\n  lr: 3e-4\nseed: 1\n", {"model.depth": 12, "model.width": 768, "optim.lr": 3e-4, "seed": 1}),
    ("Overriding: batch_size = 32\n", {"batch_size": 32}),
    ("deepspeed main.py \\\n   --lr 5e-5 \\\n   --seed 7\n", {"lr": 5e-5, "seed": 7}),
]  # fmt: skip


@pytest.mark.parametrize(("head", "settings"), HEADS, ids=[head[:25] for head, _ in HEADS])
def test_heads_of_logs_give_settings(tmp_path: Path, head: str, settings: dict[str, Any]) -> None:
    reading = read(tmp_path, head + STEPS)
    assert {key: reading.settings.get(key, "absent") for key in settings} == settings
    assert [s.tag for s in reading.series] == ["loss"]


def test_a_dump_that_the_file_cuts_keeps_what_is_there(tmp_path: Path) -> None:
    assert read(tmp_path, "Namespace(lr=0.1,\nopt='sgd',\nwd=0.0").settings["lr"] == 0.1


def test_a_second_head_opens_another_attempt(tmp_path: Path) -> None:
    first, second = "Namespace(lr=0.1, seed=1)\n", "Namespace(lr=0.01, seed=1)\n"
    reading = read(tmp_path, first + first + STEPS + second + STEPS)
    started = [(e.line, e.step) for e in reading.text if e.kind is TextKind.RUN_STARTED]
    assert started == [(1, None), (5, 2)]
    assert reading.settings == {"lr": 0.01, "seed": 1}
    assert any("differ between attempts" in n.text and "lr" in n.text for n in reading.notes)


def test_heads_of_several_ranks_are_one_attempt(tmp_path: Path) -> None:
    text = (
        "python train.py --lr 0.1\n"
        + "Namespace(lr=0.1, rank=0)\nNamespace(lr=0.1, rank=1)\n***** Running training *****\n"
    )
    assert kinds(read(tmp_path, text + STEPS)) == [TextKind.RUN_STARTED]
