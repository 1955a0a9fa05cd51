"""What the replay measured of weights, optimizer state, statistics and ranks, in words."""

from forensics.replay_facts import LoadCheck, ModeCheck, MomentCheck, Ranks, ReplayFacts
from forensics.report.view._replayed_batches import Said
from forensics.report.wording import at, listing, number, percent, plural

NAMES_SHOWN = 4


def load(facts: ReplayFacts, odd: bool) -> Said:
    """How the checkpoints fit the model."""
    if not facts.loads:
        return None
    found = "; ".join(_loaded(load) for load in facts.loads)
    return found, "a part of the state is missing" if odd else "the model is that of the checkpoint"


def _loaded(load: LoadCheck) -> str:
    parts = [f"{load.checkpoint}: {plural(load.parameters, 'parameter')}"]
    for fault, names in (
        ("missing", load.missing),
        ("unexpected", load.unexpected),
        ("of another shape", load.mismatched),
    ):
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        if names:
            parts.append(f"{fault}: {', '.join(names[:NAMES_SHOWN])}{more}")
    if load.optimizer is None:
        parts.append("no optimizer state saved")
    elif load.optimizer:
        parts.append("optimizer state restored")
    else:
        parts.append(f"optimizer state does not fit: {load.optimizer_trouble or 'no reason known'}")
    return ", ".join(parts)


def moments(facts: ReplayFacts, odd: bool) -> Said:
    """Adam's state against replayed gradients."""
    found = facts.moments
    if found is None:
        return None
    return "; ".join(_ratios(found)), (
        "a factor is missing, or the second moment is stale" if odd else "the state fits"
    )


def _ratios(found: MomentCheck) -> list[str]:
    parts = []
    if found.logged_ratio is not None:
        spread = "" if found.logged_spread is None else f" (within × {found.logged_spread:.3g})"
        parts.append(
            f"logged gradient norm {number(found.logged_ratio, 3)} of the replayed{spread}"
        )
    if found.moment_ratio is not None:
        parts.append(f"√v̂ {number(found.moment_ratio, 3)} of the replayed norm")
    if found.clip_factor is not None and found.clip_factor < 1:
        parts.append(f"clipping leaves {percent(found.clip_factor)} of it")
    for name, rms in list(found.suspect_rms.items())[:1]:
        usual = found.control_rms.get(name)
        beside = "" if usual is None else f", {number(usual, 3)} for the controls"
        parts.append(f"RMS_t of {at(found.step)} up to {number(rms, 3)} in {name}{beside}")
    return parts or ["nothing could be compared"]


def modes(facts: ReplayFacts, odd: bool) -> Said:
    """BatchNorm in training and in evaluation."""
    found = facts.modes
    if found is None:
        return None
    return _both_modes(found), (
        "the running statistics do not describe the data" if odd else "the statistics fit"
    )


def _both_modes(found: ModeCheck) -> str:
    told = f"loss in training mode {number(found.train_loss)}, in evaluation mode "
    told += number(found.eval_loss)
    if found.recomputed_loss is not None:
        told += f", with the statistics taken anew {number(found.recomputed_loss)}"
    if found.batch_size is not None:
        told += f"; {plural(found.batch_size, 'sample')} a batch"
    return told


def ranks(facts: ReplayFacts, odd: bool) -> Said:
    """The gradient over several ranks."""
    found = facts.ranks
    if found is None:
        return None
    return _norms(found), "the gradient is not the mean over ranks" if odd else "a mean over ranks"


def _norms(found: Ranks) -> str:
    ways = [
        f"averaged {number(found.mean_norm, 3)}",
        f"summed {number(found.sum_norm, 3)}",
        f"of one rank {number(found.alone_norm, 3)}",
        f"as the run reduces it {number(found.reduced_norm, 3)}",
    ]
    apart = "" if found.weights_agree else "; after one step their weights differ"
    unlogged = found.logged_norm is None
    logged = "not logged" if unlogged else f"logged {number(found.logged_norm or 0.0, 3)}"
    ranks = f"gradient norm on {found.world} ranks ({found.wrapper})"
    return f"{ranks} {listing(ways)}; {logged}{apart}"
