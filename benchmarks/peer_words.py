"""What the peers' words mean in the terms of `forensics causes`.

Peers name causes in prose, in the likely causes and in the fixes they print. Each row below is a
phrase any of them uses and the causes it can stand for. The reading is generous: a fix counts as a
named cause ("Lower the LR" names a rate that is too high), and a phrase that fits two causes names
both.
"""

import re

WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    # optimisation
    (
        r"(?:lr|learning rate)(?: is)? too high"
        r"|lower(?:ing)?(?: the)?(?: peak)? (?:lr|learning rate)\b|lr bug"
        r"|lr that kept rising|lr schedule never stops increasing",
        ("learning_rate_too_high",),
    ),
    (
        r"(?:lr|learning rate) (?:far )?too low|rais(?:e|ing)(?: the)? lr"
        r"|higher (?:lr|learning rate)|(?:lr|learning rate) is (?:zero|0)|lr schedule collapsed",
        ("learning_rate_too_low",),
    ),
    (r"(?:no|missing|add|add/extend)\b[^.;]{0,10}warmup", ("warmup_missing",)),
    (
        r"(?:add|tighten|enable|add/tighten|enable or lower)\b[^.;]{0,12}clipping|clip gradients",
        ("gradient_clipping_missing",),
    ),
    (r"adam with very small eps|optimizer state blew up", ("adam_instability",)),
    (r"weight decay applied", ("weight_decay_too_high",)),
    (
        r"weights are not updated|frozen|actually (?:getting grads|training)"
        r"|no gradient reached the weights|optimizer never steps",
        ("weights_not_updated",),
    ),
    # model
    (r"poor init|bad initialization|check init", ("poor_initialization",)),
    (r"vanishing gradients", ("vanishing_gradients",)),
    (r"dead/saturated units|dead relu|dead/poor init", ("dead_units",)),
    (r"attention logits", ("attention_logit_growth",)),
    # precision
    (r"fp16|bf16|loss-scaler|mixed precision", ("fp16_overflow",)),
    (r"clip after `scaler\.unscale_", ("clip_before_unscale",)),
    (r"log\(0\)|divi(?:sion|de)[ -]by[ -]zero|unstable op|log/sqrt", ("unstable_loss_function",)),
    # data
    (
        r"bad batch|outlier batch|outlier example|data shard|corrupted"
        r"|(?:inspect|look at|check) the batch(?:es)?|data or tokenization bug",
        ("bad_batch", "hard_but_valid_batch"),
    ),
    (r"inputs for nans|nan/inf in inputs", ("non_finite_input",)),
    (r"extreme-length", ("overlong_sequence",)),
    (r"empty batch after filtering", ("labels_all_masked",)),
    (r"labels are misaligned", ("label_misalignment",)),
    (r"data/labeling issue", ("label_misalignment", "label_noise")),
    (r"wrong labels", ("label_noise",)),
    (r"same prediction for every input", ("class_imbalance",)),
    (r"data order changed|unshuffled|distribution shift", ("data_order",)),
    # training chain
    (
        r"resume/logging logic|after a checkpoint resume|for a checkpoint resume",
        ("resume_state_lost", "schedule_restart"),
    ),
    (r"re-warming", ("schedule_restart",)),
    (r"out of memory|worker crashed|killed by|nccl", ("process_killed",)),
    # objective
    (r"overfit|memoriz", ("overfitting",)),
    (
        r"leak|overlaps? with train|train/eval overlap|validation set is easier",
        ("validation_mismatch",),
    ),
    # nothing wrong
    (r"logging artifact|logging_nan_inf_filter", ("logging_artifact",)),
)
"""A pattern, case ignored, and our names for what it says."""


def causes_named(text: str) -> tuple[str, ...]:
    """Our causes that the text names, in the order in which it first names them."""
    found = (
        (match.start(), rank, cause)
        for rank, (pattern, causes) in enumerate(WORDS)
        if (match := re.search(pattern, text, re.IGNORECASE))
        for cause in causes
    )
    return tuple(dict.fromkeys(cause for _, _, cause in sorted(found, key=lambda f: f[:2])))
