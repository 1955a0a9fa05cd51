import math

import pytest

from forensics.readers._settings import closeness, conflicts, looks_like_settings, make_config
from forensics.readers._settings.fields import FIELDS
from forensics.readers._settings.flat import MAX_KEYS, flatten
from forensics.run import Config


def config(**settings):
    return make_config([("args.json", settings)])


def test_nothing_is_said_where_nothing_was_written():
    assert make_config([]) == Config()
    assert make_config([("args.json", {})]) == Config()


@pytest.mark.parametrize("unset", [None, "", "auto", -1, "null", [], {}, float("nan"), "none"])
def test_a_setting_that_is_not_set_gives_no_value(unset):
    made = config(learning_rate=unset, max_steps=unset, seed=unset, batch_size=unset, optim=unset)
    assert (made.lr_peak, made.total_steps, made.micro_batch) == (None, None, None)
    assert (made.seed, made.optimizer) == (None, None)


@pytest.mark.parametrize(
    ("key", "field"),
    [
        ("eval.batch_size", "micro_batch"),
        ("teacher.learning_rate", "lr_peak"),
        ("rollout.seed", "seed"),
        ("vision_config.hidden_size", "hidden_size"),
    ],
)
def test_a_setting_of_something_else_is_not_taken(key, field):
    assert getattr(config(**{key: 4}), field) is None


def test_a_switch_is_no_number():
    made = config(grad_clip=True, warmup_steps=True, seed_everything=True)
    assert (made.clip_threshold, made.warmup_steps, made.seed) == (None, None, None)


def test_how_a_model_is_stored_is_not_how_it_is_trained():
    model = {"architectures": ["Qwen2ForCausalLM"], "torch_dtype": "bfloat16", "dtype": "bfloat16"}
    made = make_config([("config.json", {**model, "vocab_size": 100, "rms_norm_eps": 1e-6})])
    assert made.precision is None
    assert (made.vocab_size, made.normalization, made.num_classes) == (100, "rmsnorm", None)


def test_factors_on_the_first_learning_rate_are_no_length_of_the_warmup():
    assert make_config([("c.yaml", {"SOLVER": {"WARMUP_FACTOR": 0.001}})]).warmup_ratio is None
    assert make_config([("c.py", {"lr_config": {"warmup_ratio": 0.001}})]).warmup_ratio is None


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"step_size": 30}, "lr_peak"),  # of StepLR, in epochs
        ({"warmup": True}, "warmup_steps"),
        ({"warmup": 5, "epochs": 90}, "warmup_steps"),
        ({"warmup_epochs": 5}, "warmup_steps"),
        ({"clip": 0.2, "gae_lambda": 0.95}, "clip_threshold"),
        ({"clip": "ViT-B/32"}, "clip_threshold"),
        ({"steps": [30, 60, 90]}, "total_steps"),
        ({"sampler": {"steps": 50}}, "total_steps"),
        ({"bf16": True, "fp16": False, "initial_loss_scale": 2.0**32}, "loss_scale"),
        ({"bf16": False, "fp16": False, "initial_loss_scale": 2.0**32}, "loss_scale"),
    ],
)
def test_a_short_name_that_means_something_else_is_not_taken(settings, field):
    assert getattr(config(**settings), field) is None


def test_clipping_by_value_is_no_threshold_of_the_norm():
    assert config(gradient_clip_val=0.5, gradient_clip_algorithm="value").clip_threshold is None


@pytest.mark.parametrize("off", [0, None, "None", 0.0, -1.0])
def test_clipping_that_is_off_is_zero(off):
    assert config(max_grad_norm=off).clip_threshold == 0.0


def test_an_alias_in_yaml_cannot_make_a_small_file_infinite():
    level: dict[str, object] = {"lr": 1}
    for _ in range(60):
        level = {str(name): level for name in range(10)}
    assert len(flatten(level)) <= MAX_KEYS
    endless: dict[str, object] = {}
    endless["again"] = endless
    assert len(flatten(endless)) == 1


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        ({"learning_rate": "1e-4"}, "lr_peak", 1e-4),
        ({"optimizer": {"params": {"lr": 3e-4}}}, "lr_peak", 3e-4),
        ({"SOLVER": {"BASE_LR": 0.02}}, "lr_peak", 0.02),
        ({"learning-rate": 0.0}, "lr_peak", 0.0),
        ({"optimization": {"lr": [0.0005]}}, "lr_peak", 0.0005),
        ({"warmup_steps": 0.03, "learning_rate": 1}, "warmup_ratio", 0.03),
        ({"warmup_steps": 100}, "warmup_steps", 100),
        ({"warmup_steps": 0, "warmup_ratio": 0.1}, "warmup_steps", None),
        ({"warmup_steps": 0}, "warmup_steps", 0),
        ({"warmup_steps_fraction": 0.1}, "warmup_ratio", 0.1),
        ({"one_minus_beta1": 0.05, "beta2": 0.995}, "betas", (0.95, 0.995)),
        ({"adam_betas": "(0.9, 0.98)"}, "betas", (0.9, 0.98)),
        ({"optimizer": {"type": "AdamW", "betas": [0.9, 0.95]}}, "betas", (0.9, 0.95)),
        ({"beta2": 0.95}, "betas", None),
        ({"fp16": True, "bf16": False}, "precision", "fp16"),
        ({"bf16": True}, "precision", "bf16"),
        ({"fp16": False, "bf16": False}, "precision", "fp32"),
        ({"fp16": {"enabled": True, "loss_scale": 0}}, "precision", "fp16"),
        ({"precision": "16-mixed"}, "precision", "fp16"),
        ({"precision": "bf16-mixed"}, "precision", "bf16"),
        ({"precision": 32}, "precision", "fp32"),
        ({"dtype": "bfloat16"}, "precision", "bf16"),
        ({"dtype_policy": "mixed_float16"}, "precision", "fp16"),
        ({"amp": True}, "precision", "fp16"),
        ({"amp": True, "amp_dtype": "bfloat16"}, "precision", "bf16"),
        ({"amp": False, "amp_dtype": "float16"}, "precision", None),
        ({"opt_level": "O1"}, "precision", "fp16"),
        ({"opt_level": "O0"}, "precision", "fp32"),
        ({"opt_level": 3}, "precision", None),
        ({"fp16": False, "opt_level": "O1"}, "precision", "fp32"),
        ({"amp": False, "amp_opt_level": "O2"}, "precision", None),
        ({"mixed_precision": "no"}, "precision", "fp32"),
        ({"optim_wrapper": {"type": "AmpOptimWrapper"}}, "precision", "fp16"),
        ({"fp16": {"initial_scale_power": 16}}, "loss_scale", 65536.0),
        ({"fp16": {"loss_scale": 0}}, "loss_scale", 0.0),
        ({"loss_scale": 128}, "loss_scale", 128.0),
        ({"optim": "adamw_torch_fused"}, "optimizer", "adamw"),
        ({"optim": "adamw_bnb_8bit"}, "optimizer", "adamw_8bit"),
        ({"optimizer": {"_target_": "torch.optim.SGD"}}, "optimizer", "sgd"),
        ({"opt": "momentum"}, "optimizer", "sgd"),
        ({"lr_scheduler_type": "cosine"}, "schedule", "cosine"),
        ({"lr_scheduler": {"_target_": "lr_scheduler.OneCycleLR"}}, "schedule", "onecycle"),
        ({"scheduler": "CosineAnnealingLR"}, "schedule", "cosine"),
        ({"decay_lr": False}, "schedule", "constant"),
        ({"train_batch_size": 8}, "micro_batch", 8),
        ({"train_batch_size": 64, "train_micro_batch_size_per_gpu": 4}, "global_batch", 64),
        ({"SOLVER": {"IMS_PER_BATCH": 16}}, "global_batch", 16),
        ({"devices": [0, 1, 2], "num_nodes": 2}, "world_size", 6),
        ({"gpus": "0,1"}, "world_size", 2),
        ({"max_steps": -1, "num_train_epochs": 3.0}, "epochs", 3.0),
        ({"max_steps": 500, "num_train_epochs": 3.0}, "epochs", None),
        ({"id2label": {"0": "a", "1": "b", "2": "c"}}, "num_classes", 3),
        ({"architectures": ["BertForSequenceClassification"]}, "num_classes", 2),
        ({"problem_type": "regression", "num_labels": 3}, "num_classes", None),
        ({"peft_type": "LORA", "r": 8}, "lora", True),
        ({"finetuning_type": "full"}, "lora", False),
        ({"init_from": "gpt2-xl"}, "pretrained", True),
        ({"init_from": "scratch"}, "pretrained", False),
        ({"model_name_or_path": "Qwen/Qwen2.5-1.5B"}, "pretrained", True),
        ({"save_strategy": "epoch", "save_steps": 500}, "save_interval", None),
        ({"save_strategy": "steps", "save_steps": 500}, "save_interval", 500),
        ({"disable_shuffling": True}, "shuffle", False),
        ({"norm_cfg": {"type": "SyncBN"}}, "normalization", "batchnorm"),
        ({"per_device_train_batch_size": 2}, "framework", "transformers"),
        ({"tuning_ruleset": "external", "framework": "jax"}, "framework", "algoperf"),
        ({"start_time": 1_700_000_000_000}, "started", 1_700_000_000.0),
        ({"lr": {"desc": None, "value": 0.1}}, "lr_peak", 0.1),
        ({"max_train_steps": "1,000,000"}, "total_steps", 1_000_000),
        ({"eta": 0.004}, "lr_peak", 0.004),
        ({"step_size": 0.05}, "lr_peak", 0.05),
        ({"step_size": 30, "lr": 0.1}, "lr_peak", 0.1),
        ({"warmup": 0}, "warmup_steps", 0),
        ({"warmup": 250}, "warmup_steps", 250),
        ({"warmup": 0.1}, "warmup_ratio", 0.1),
        ({"warmup_epochs": 0}, "warmup_steps", 0),
        ({"wd": 0.1}, "weight_decay", 0.1),
        ({"clip": 0.25}, "clip_threshold", 0.25),
        ({"clip": 0.0}, "clip_threshold", 0.0),
        ({"bsz": 20}, "micro_batch", 20),
        ({"accum": 4}, "grad_accum", 4),
        ({"n_epochs": 4}, "epochs", 4.0),
        ({"steps": 500}, "total_steps", 500),
        ({"training": {"steps": 300, "max_norm": 1.0}}, "total_steps", 300),
        ({"training": {"steps": 300, "max_norm": 1.0}}, "clip_threshold", 1.0),
        ({"fp16": True, "initial_loss_scale": 2.0**32}, "loss_scale", 2.0**32),
        (
            {"param_scheduler": [
                {"type": "LinearLR", "by_epoch": False, "end": 500},
                {"type": "MultiStepLR", "milestones": [8, 11]},
            ]},
            "warmup_steps",
            500,
        ),
    ],
)  # fmt: skip
def test_each_framework_spells_it_its_own_way(settings, field, value):
    found = getattr(make_config([("args.json", settings)]), field)
    assert found == pytest.approx(value) if isinstance(value, float) else found == value


def test_every_field_of_the_configuration_can_be_read():
    fields = set(Config.__dataclass_fields__) - {"sources", "raw"}
    assert set(FIELDS) == fields


def test_the_file_closest_to_what_ran_is_believed_and_named():
    order = ["config.yaml", "ds_config.json", "checkpoint-5/training_args.bin", "config.json"]
    assert min(order, key=closeness) == "checkpoint-5/training_args.bin"
    assert (
        closeness(".hydra/config.yaml")
        < closeness("conf/config.yaml")
        < closeness("ds_config.json")
    )
    made = make_config([("args.json", {"lr": 0.1}), ("config.yaml", {"lr": 0.2, "seed": 3})])
    assert (made.lr_peak, made.seed) == (0.1, 3)
    assert made.sources == {"lr_peak": "args.json", "seed": "config.yaml"}
    assert made.raw == {"lr": 0.1, "seed": 3}


def test_a_contradiction_is_noted_once():
    sources = [("a.json", {"lr": 0.1}), ("b.json", {"lr": 0.2}), ("c.json", {"lr": 0.3})]
    (note,) = conflicts(sources)
    assert note.source == "b.json"
    assert "0.2" in note.text
    assert "0.1 in a.json" in note.text
    assert conflicts([("a.json", {"lr": 0.1}), ("b.json", {"lr": "0.1"})]) == ()
    assert conflicts([("a.json", {"lr": 1e-4}), ("b.json", {"lr": 1e-4 * (1 + 1e-9)})]) == ()


def test_results_data_and_vocabularies_are_not_settings():
    assert not looks_like_settings("all_results", b'{"epoch": 3.0, "train_loss": 1.2, "seed": 1}')
    assert not looks_like_settings(
        "submission", b'{"val_loss": 2.07, "name": "x", "seed": 1, "lr": 2}'
    )
    assert not looks_like_settings("tokenizer_config", b'{"vocab_size": 3, "seed": 1, "lr": 1}')
    assert not looks_like_settings("notes", b'{"title": "a", "body": "lr"}')
    assert not looks_like_settings("data", b"names: [cat, dog]\ntrain: images/\nnc: 2\n")


def test_settings_are_known_by_their_keys():
    assert looks_like_settings("args", b'{"lr": 0.1}')
    assert looks_like_settings("anything", b"lr: 0.1\nseed: 3\noptimizer:\n  weight_decay: 0\n")


def test_effective_batch_follows_from_its_parts():
    made = config(per_device_train_batch_size=4, gradient_accumulation_steps=8, world_size=2)
    assert made.effective_batch == 64
    assert math.isclose(config(per_device_train_batch_size=4).effective_batch or 0, 4)
