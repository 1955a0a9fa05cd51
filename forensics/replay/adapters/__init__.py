"""Stand-ins for a replay file, for runs that hold all that one would give."""

from forensics.replay.errors import ReplayError
from forensics.replay.plan import ReplayPlan
from forensics.replay.spec import ReplaySpec


def adapted(plan: ReplayPlan) -> ReplaySpec:
    """The functions of a replay file, from the run itself.

    Raises:
        ReplayError: The run is of no kind that holds model and batches.
    """
    from forensics.replay.adapters.hf_trainer import adapt

    start = plan.before or plan.usable
    if start is None:
        raise ReplayError(
            f"{plan.root}: without a checkpoint there is no model; name a replay file"
        )
    if not (plan.folder / start.path / "config.json").is_file():
        raise ReplayError(
            f"{start.path}: it is no checkpoint of the Trainer of transformers, and only those can "
            "be replayed without a replay file (--replay FILE)"
        )
    return adapt(plan.folder, plan.folder / start.path, plan.batches)
