"""Which public bug reports can be given as files, how, and why the others cannot.

A card can be given where it states what the failed run logged, a value (NaN included) or a line,
and where the tool has a name for its cause.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Given:
    """How a card becomes files.

    Attributes:
        causes: Our names that fit the cause the card establishes.
        rows: Finds what was logged in the card: each named group is one field of a line, and one
            called ``line`` is the line itself. Empty: the card holds a table of steps.
        settings: Find settings that the card states outside its ``config`` line, or in it without
            a colon.
        meant: Settings that the card states in other words than a configuration does.
        lasts: Lines that the value stayed for, where the card says that it did.
        first: The first line, where the card only says that it was normal and it can be no other.
        counter: What the lines are counted by, from 1, where the card says it of them all.
        saved: Finds the name and the value of a tensor that a checkpoint held.
    """

    causes: frozenset[str]
    rows: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] = ()
    lasts: int = 1
    first: str = ""
    counter: str = ""
    saved: str = ""


RATE = frozenset({"learning_rate_too_high"})
HALF = frozenset({"fp16_overflow"})
OPERATION = frozenset({"unstable_loss_function"})
SOUND = frozenset({"no_failure", "logging_artifact"})
NUMBER = r"[\d.]+(?:e-?\d+)?"
TABLES = {
    "001": Given(HALF),
    # A fused kernel whose backward pass has no finite value for padded rows.
    "002": Given(OPERATION),
    "008": Given(
        frozenset({"gradient_accumulation_scaling"}),
        (
            rf"ga=2.*?e(?P<epoch>{NUMBER})\s*\|\s*(?P<loss>{NUMBER})\s*"
            rf"\|\s*(?P<grad_norm>{NUMBER})\s*\|\s*(?P<lr>{NUMBER})",
        ),
        (r"ga=(?P<gradient_accumulation_steps>2)", r"(?P<model>small causal LM)"),
    ),
    "019": Given(SOUND),
    "089": Given(frozenset({"no_failure", "hard_but_valid_batch"})),
    "119": Given(
        OPERATION,
        tuple(
            rf"default +\| {'nan ' * before}(?P<loss>nan).*@ lr (?:{NUMBER}, ){{{before}}}"
            rf"(?P<lr>{NUMBER})"
            for before in range(4)
        ),
        (r"config: \{(?P<precision>Float8)", r"per-row, (?P<adapter>LoRA)"),
    ),
}
# Single values and lines told in words: what the run must have printed, nothing in between.
STATED = {
    "004": Given(HALF | RATE, (r"loss -> (?P<loss>0)",), lasts=10),
    "006": Given(
        HALF,
        (r"iter (?P<iter>\d+) -> (?P<loss>nan)",),
        (r"precision: apex (?P<opt_level>O\d)",),
    ),
    "011": Given(
        RATE,
        (r"(?P<loss>nan) at ~(?P<iter>\d+)",),
        (
            r"(?P<warmup_iters>(?<=warmup_iters )\d+)",
            rf"peak lr (?P<learning_rate>{NUMBER})",
        ),
    ),
    "018": Given(
        SOUND,
        (r"'(?P<line>gradient overflow \.\.\. reducing loss scale to \d+)'",),
        (r"config: \{(?P<model>GPT-2)",),
        lasts=3,
    ),
    "022": Given(
        RATE,
        (r"loss (?P<loss>NaN)",),
        (r"initial lr = (?P<learning_rate>\d+)", r"Keras/(?P<optimizer>Adam)"),
    ),
    # DPO begins at ln 2: the policy is still its own reference.
    "047": Given(
        HALF,
        (r"step >=(?P<step>\d+): (?P<loss>[\d.]+)",),
        lasts=10,
        first="step: 1 loss: 0.6931",
    ),
    "048": Given(
        HALF,
        (r"step (?P<step>\d+) loss (?P<loss>[\d.]+)", r"step (?P<step>\d+) logits (?P<loss>nan)"),
    ),
    "052": Given(
        RATE,
        (
            r"nan @(?P<iter>\d+) \(loss_cls (?P<loss_cls>nan), "
            r"loss_box_reg (?P<loss_box_reg>[\d.]+)",
        ),
        (rf"base_lr (?P<base_lr>{NUMBER}) -> nan",),
    ),
    "056": Given(
        frozenset({"batchnorm_instability"}),
        (r"(?P<val_loss>NaN) in eval only",),
        (r"config: \{(?P<normalization>BatchNorm)",),
        saved=r"(?P<name>running_var) = (?P<value>nan)",
    ),
    "062": Given(
        RATE,
        (rf"(?P<step>\d+)/\d+ \| (?P<loss>{NUMBER}) *\| (?P<learning_rate>{NUMBER})",),
        (
            r"\d+/(?P<max_steps>\d+) \|",
            r"config: \{(?P<model>LLaVA-1.5-7B) (?P<peft_type>LoRA)",
            r"lr 2e-4 (?P<lr_scheduler_type>cosine)",
        ),
    ),
    # At the bounds that the card states, which claim the least.
    "063": Given(
        RATE,
        (r"5e-4 \| 0\.95 .*normal <(?P<loss>[\d.]+)", r"then >(?P<loss>\d+M)"),
        (
            r"(?P<learning_rate>5e-4) \| 0\.95",
            r"5e-4 \| (?P<gamma>0\.95)",
            r"config: \{(?P<model>WaveGrad)",
        ),
    ),
    "065": Given(
        RATE,
        (
            r"1 +\| (?P<step>\d+) \| (?P<loss>[\d.]+)",
            r"1 +\| (?P<step>\d+) \| 1.2 \| (?P<loss>\d+)",
        ),
        (r"(?P<lr_scheduler_type>constant) lr",),
    ),
    "067": Given(
        frozenset({"learning_rate_too_low"}),
        (rf"buggy: (?P<loss>{NUMBER}) flat",),
        (rf"initial lr (?P<learning_rate>{NUMBER})", r"config: \{(?P<model>AlexNet)"),
        (("lr_scheduler_type", "step"),),  # "/10 every 10 epochs"
        lasts=3,
        counter="epoch",
    ),
    "078": Given(
        frozenset({"weights_not_updated"}),
        (r"'(?P<line>None of the inputs have requires_grad)'",),
        (r"config: \{(?P<model>ViT-B-32)",),
    ),
    "108": Given(
        frozenset({"gradient_clipping_missing"}),
        (r"(?P<loss>NaN) cross-entropy at ~(?P<iter>\d+)",),
        (r"clip (?P<max_grad_norm>[\d.]+) -> still nan", r"config: \{(?P<model>projected LSTM)"),
    ),
    "121": Given(
        OPERATION,
        (r"train loss (?P<loss>NaN)",),
        (r"batch (?P<batch_size>\d+), \d+ -> nan", r"(?P<loss_fn>semi-hard triplet loss)"),
    ),
}
GIVEN = TABLES | STATED

NOT_GIVEN = {
    "the cause is outside the table of causes": "013 055 088 095 115 130",
    "told in words or charts, without a value that the run logged": (
        "009 024 027 028 031 032 035 036 044 045 096 100 107 116 126"
    ),
    "needs the batch, its labels or its lengths": "069 071 110 112 124",
    "holds values of other or mended runs only": "051 077 080 084",
    "distinct values, without their order": "098",
}
