"""Tells a file of settings from one of results, data or anything else, by the keys it writes."""

import re

TYPICAL_KEYS = frozenset(
    {
        *("learning_rate", "lr", "base_lr", "lr0", "max_lr", "min_lr", "lr_scheduler_type"),
        *("lr_scheduler", "scheduler", "sched", "param_scheduler", "warmup_steps", "warmup_ratio"),
        *("warmup_iters", "warmup_epochs", "warmup_updates", "weight_decay", "optimizer", "optim"),
        *("opt", "betas", "beta1", "beta2", "adam_beta1", "adam_beta2", "adam_epsilon", "momentum"),
        *("max_grad_norm", "grad_clip", "clip_grad", "clip_norm", "gradient_clipping"),
        *("gradient_clip_val", "batch_size", "train_batch_size", "micro_batch_size"),
        *("per_device_train_batch_size", "train_micro_batch_size_per_gpu", "global_batch_size"),
        *("gradient_accumulation_steps", "accumulate_grad_batches", "accum_iter", "max_steps"),
        *("max_iters", "max_iter", "train_iters", "num_train_epochs", "epochs", "max_epochs"),
        *("num_epochs", "seed", "rng_seed", "random_seed", "fp16", "bf16", "amp", "precision"),
        *("mixed_precision", "zero_optimization", "dropout", "dropout_rate", "label_smoothing"),
        *("max_seq_length", "block_size", "seq_length", "n_layer", "n_embd", "n_head"),
        *("num_hidden_layers", "hidden_size", "num_attention_heads", "vocab_size", "num_labels"),
        *("num_classes", "architectures", "model_name_or_path", "base_model", "pretrained"),
        *("lora_r", "lora_alpha", "lora_rank", "peft_type", "logging_steps", "save_steps"),
        *("eval_steps", "eval_interval", "log_interval", "max_global_steps", "optim_wrapper"),
        *("ims_per_batch", "step_hint", "total_steps", "init_from", "data_dir", "output_dir"),
        *("num_workers", "base_lr", "gamma", "finetuning_type", "world_size", "num_gpus"),
    }
)
"""Keys that settings of a training have and little else does."""

_CONFIG_NAMES = re.compile(
    r"(?:.*[._-])?(?:config|configs|cfg|args|arguments|hparams?|hyper_?param(?:eter)?s?|params|"
    r"settings|options|opts?|flags(?:_\d+)?|meta_?data(?:_\d+)?|setup|overrides|recipe)",
    re.IGNORECASE,
)
_OTHER_NAMES = re.compile(
    r"(?:all|train|eval|test|final|val|predict)?_?results?|submission|.*summary|.*metrics?|"
    r".*tokenizer.*|.*vocab.*|special_tokens.*|added_tokens|generation_config|.*processor.*|"
    r".*\.index|package(?:-lock)?|tsconfig|error|model_index|dataset_infos?|dataset_dict|.*lock|"
    r"environment|conda|.*requirements.*|docker-compose|mkdocs|\.pre-commit-config|codecov|"
    r"chat_template|modules|.*report|latest|(?:trainer_)?state",
    re.IGNORECASE,
)
_KEY = re.compile(rb"""["']?([A-Za-z_][\w./-]{0,80})["']?[ \t]*[:=]""")


def looks_like_settings(name: str, head: bytes) -> bool:
    """True where the file's keys, or its name and a key, say that it holds settings.

    Args:
        name: File name without its suffix.
        head: The beginning of the file.
    """
    if _OTHER_NAMES.fullmatch(name):
        return False
    keys = {key.decode("ascii").lower() for key in _KEY.findall(head)}
    last = {
        part for key in keys for part in (key.replace("-", "_").replace("/", ".").split(".")[-1],)
    }
    return len(last & TYPICAL_KEYS) >= (1 if _CONFIG_NAMES.fullmatch(name) else 3)
