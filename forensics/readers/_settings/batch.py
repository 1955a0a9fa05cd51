"""Fields about how many samples make a step."""

from typing import Any

from forensics.readers._settings import values
from forensics.readers._settings.flat import FlatSettings


def micro_batch(settings: FlatSettings) -> int | None:
    """Samples per device and forward pass."""
    ambiguous = () if _is_deepspeed(settings) else ("train_batch_size",)
    return settings.first(
        values.count,
        *("per_device_train_batch_size", "micro_batch_size", "train_micro_batch_size_per_gpu"),
        *("local_batch_size", "device_batch_size", "samples_per_gpu", "batch_size_per_gpu"),
        *("micro_batch", "per_gpu_train_batch_size", "train_dataloader.batch_size"),
        *ambiguous,
        *("batch_size", "bs", "batch", "batch_size_train", "minibatch_size", "bsz", "batchsize"),
        *("mini_batch_size", "mbs", "batch_size_per_device", "per_device_batch_size", "bsize"),
        *("per_gpu_batch_size", "train_bs", "train_bsz", "imgs_per_gpu"),
    )


def global_batch(settings: FlatSettings) -> int | None:
    """Samples per optimizer step over all devices."""
    own = ("train_batch_size",) if _is_deepspeed(settings) else ()
    named = ("global_batch_size", "effective_batch_size", "ims_per_batch", "global_batch", "gbs")
    return settings.first(values.count, *named, *own)


def _is_deepspeed(settings: FlatSettings) -> bool:
    """True for DeepSpeed's own file, whose ``train_batch_size`` is over all devices."""
    keys = ("train_micro_batch_size_per_gpu", "zero_optimization.stage")
    return any(settings.has(key) for key in keys)


def world_size(settings: FlatSettings) -> int | None:
    """Number of processes, or devices a node times nodes where that is what was written."""
    given = settings.first(
        values.count,
        *("world_size", "distributed_world_size", "dp_world_size", "num_processes"),
    )
    if given:
        return given
    keys = ("num_gpus", "devices", "gpus", "n_gpus", "ngpus", "gpus_per_node")
    devices = settings.first(_devices, *keys)
    return devices * (settings.first(values.count, "num_nodes", "nnodes") or 1) if devices else None


def _devices(raw: Any) -> int | None:
    """A number of devices, or a list of them, also as text: ``0,1``."""
    if isinstance(raw, str) and "," in raw:
        raw = [part for part in raw.split(",") if part.strip()]
    return len(raw) if isinstance(raw, (list, tuple)) and raw else values.count(raw)
