"""What in Adam's moments no sequence of gradients can bring about."""

from forensics.checkpoint_facts import CheckpointFacts, CheckpointPair
from forensics.phrasing import count, number


def impossible_moments(checkpoint: CheckpointFacts) -> str:
    """What in the moments of a checkpoint contradicts Adam's definition, or ''."""
    exact = [m for m in checkpoint.moments if m.exact]
    negative = [m for m in checkpoint.moments if m.negative]
    if negative:
        return (
            f"{checkpoint.checkpoint}: the second moment of {negative[0].name} has "
            f"{count(negative[0].negative, 'negative value')}; a mean of squares has none."
        )
    broken = [m for m in exact if m.beyond_bound]
    if not broken:
        return ""
    top = max(broken, key=lambda m: m.update_max / m.bound)
    return (
        f"{checkpoint.checkpoint}: |m| / sqrt(v) reaches {number(top.update_max)} in {top.name}, "
        f"and Adam allows {number(top.bound)}; {count(len(broken), 'tensor')} of {len(exact):,} "
        "break the bound."
    )


def fallen(pair: CheckpointPair, share: float = 0.01) -> list[str]:
    """Tensors with more than ``share`` of v below what beta2 alone would leave."""
    return [m.name for m in pair.moments if m.compared and m.too_low > share]
