"""Which keys each framework writes for each field of `forensics.run.Config`.

One entry per field: the keys, most telling first, and how their value is read. Keys are compared
by their last parts and without regard to case (`flat.canonical`). A field that takes more than
one key to settle has a function of its own.
"""

from collections.abc import Callable, Mapping
from typing import Any

from forensics.readers._settings import batch, model, names, schedule, training, values
from forensics.readers._settings.flat import FlatSettings

Field = Callable[[FlatSettings], Any]


def _first(parser: Callable[[Any], Any], *keys: str) -> Field:
    return lambda settings: settings.first(parser, *keys)


FIELDS: Mapping[str, Field] = {
    "framework": training.framework,
    "optimizer": _first(
        names.optimizer,
        *("optim", "optimizer", "optimizer_name", "optimizer_type", "opt", "optimizer.type"),
        *("optimizer.name", "optimizer._target_", "optimizer.class_path", "optim.name"),
        *("optim._target_", "optim.type", "optimizer.class_name", "optimizer_class", "optim_type"),
        *("optim_name", "solver.optimizer", "optimizer._name", "opt_name"),
    ),
    "precision": training.precision,
    "loss_scale": training.loss_scale,
    "lr_peak": schedule.lr_peak,
    "lr_min": _first(
        values.not_negative,
        *("min_lr", "lr_min", "eta_min", "end_learning_rate", "min_learning_rate", "end_lr"),
        *("minimum_lr", "final_lr", "lr_end"),
    ),
    "schedule": schedule.schedule,
    "warmup_steps": schedule.warmup_steps,
    "warmup_ratio": schedule.warmup_ratio,
    "total_steps": schedule.total_steps,
    "epochs": schedule.epochs,
    "betas": training.betas,
    "eps": _first(
        values.positive,
        *("adam_epsilon", "adam_eps", "adamw_epsilon", "optimizer_eps", "opt_eps"),
        *("optimizer.eps", "optim.eps", "optimizer.epsilon", "optimizer.params.eps"),
        *("optimizer.config.epsilon", "optimizer.kwargs.eps", "eps", "epsilon"),
    ),
    "weight_decay": _first(
        values.not_negative,
        *("weight_decay", "wd", "weight_decay_rate", "optimizer_weight_decay", "l2_reg"),
        *("adamw_weight_decay", "weightdecay", "l2_penalty", "l2_weight_decay"),
    ),
    "clip_threshold": training.clip_threshold,
    "micro_batch": batch.micro_batch,
    "grad_accum": _first(
        values.count,
        *("gradient_accumulation_steps", "accumulate_grad_batches", "grad_accum_steps"),
        *("gradient_accumulation", "update_freq", "accumulative_counts", "accum_iter"),
        *("accumulation_steps", "grad_accumulation_steps", "grad_accum", "accum_steps"),
        *("grad_acc_steps", "accumulate_steps", "acc_steps", "accum", "grad_accumulation"),
        *("gradient_accumulation_step", "accum_grad", "grad_acc", "accumulate", "accumulation"),
        *("iter_size", "accumulate_grad", "accum_freq", "accum_grad_iters"),
    ),
    "world_size": batch.world_size,
    "global_batch": batch.global_batch,
    "seq_len": _first(
        values.count,
        *("max_seq_length", "max_seq_len", "seq_length", "seq_len", "block_size", "cutoff_len"),
        *("sequence_len", "sequence_length", "tokens_per_sample", "context_length", "max_length"),
        *("max_sequence_length", "context_len", "ctx_len", "train_seq_len", "model_max_length"),
        *("max_source_length", "context_size", "max_len", "n_ctx", "seqlen", "max_seqlen", "bptt"),
    ),
    "seed": _first(
        values.whole,
        *("seed", "random_seed", "rng_seed", "seed_everything", "manual_seed", "global_seed"),
    ),
    "num_classes": model.num_classes,
    "vocab_size": _first(
        values.count, "vocab_size", "padded_vocab_size", "n_vocab", "vocabulary_size"
    ),
    "num_layers": _first(
        values.count,
        *("num_hidden_layers", "num_layers", "n_layer", "n_layers", "depth", "encoder_layers"),
        *("num_encoder_layers", "decoder_layers", "nlayers", "layers"),
    ),
    "hidden_size": _first(
        values.count,
        *("hidden_size", "n_embd", "d_model", "embed_dim", "hidden_dim", "emb_dim", "dim"),
        *("model_dim", "encoder_embed_dim", "n_embed", "nhid", "emsize"),
    ),
    "model": model.model,
    "pretrained": model.pretrained,
    "lora": model.lora,
    "normalization": model.normalization,
    "activation": _first(
        names.activation,
        *("hidden_act", "activation_function", "activation", "activation_fn", "act_layer"),
        *("act", "hidden_activation", "act_fn", "nonlinearity"),
    ),
    "nan_filter": _first(values.flag, "logging_nan_inf_filter"),
    "log_interval": _first(
        values.count,
        *("logging_steps", "log_interval", "log_every_n_steps", "log_freq", "print_freq"),
        *("steps_per_print", "log_every", "logging_interval", "log_every_steps", "log_steps"),
        *("log_iters", "log_period", "print_every", "logger.interval"),
    ),
    "save_interval": schedule.save_interval,
    "eval_interval": schedule.eval_interval,
    "save_total_limit": _first(
        values.count,
        *("save_total_limit", "max_keep_ckpts", "keep_last_n_checkpoints", "max_to_keep"),
        *("keep_latest_k", "keep_interval_updates", "checkpoint_hist", "keep_last_k"),
    ),
    "shuffle": training.shuffle,
    "resume_from": _first(
        values.text,
        *("resume_from_checkpoint", "resume_from", "ckpt_path", "resume_path", "resume"),
        *("restore_file", "resume_checkpoint", "load_checkpoint", "restore_from", "resume_ckpt"),
    ),
    "started": training.started,
}
"""Every field of `forensics.run.Config` but ``sources`` and ``raw``."""
