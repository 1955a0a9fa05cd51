"""Runs of the Trainer of transformers, which hold all that a replay file would give.

The model comes from the checkpoint's config.json and transformers' own classes, batches from
``batches/``, the optimizer from ``training_args.bin``; no code that the run names is run.
"""

from functools import partial
from pathlib import Path

from forensics.replay.adapters._captured import CapturedBatches
from forensics.replay.adapters._hf_loss import compute_loss
from forensics.replay.adapters._hf_model import build_model, read_config, version_of
from forensics.replay.errors import ReplayError
from forensics.replay.spec import ReplaySpec

NAME = "the Hugging Face Trainer run itself"


def adapt(run_dir: Path, checkpoint: Path, batches: tuple[str, ...]) -> ReplaySpec:
    """The functions of a replay file, from the run.

    Args:
        run_dir: The run.
        checkpoint: Folder of a checkpoint in it.
        batches: Captured batches, relative to the run.

    Raises:
        ReplayError: The run does not hold what is needed; says what.
    """
    from forensics.replay.adapters._hf_optimizer import build_optimizer, is_known, read_arguments

    config = read_config(checkpoint)
    captured = CapturedBatches(run_dir, batches)
    if not captured.steps:
        raise ReplayError(
            f"{run_dir}: no batch was captured in batches/; name a replay file, or record batches "
            "with forensics.recorder next time"
        )
    arguments = read_arguments(checkpoint, run_dir)
    if float(arguments.get("label_smoothing_factor") or 0.0) > 0:
        raise ReplayError(
            f"{run_dir}: it trained with label smoothing, which the model's own loss lacks; "
            "name a replay file"
        )
    return ReplaySpec(
        build_model=partial(build_model, config, checkpoint / "config.json"),
        load_batch=captured.load,
        compute_loss=partial(compute_loss, version=version_of(config)),
        build_optimizer=partial(build_optimizer, arguments=arguments, checkpoint=checkpoint)
        if is_known(arguments)
        else None,
        first_step=1,
        source=NAME,
        steps=captured.steps,
    )
