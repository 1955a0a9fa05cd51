"""Whether a run trains a language model, whose loss is one per token of text."""

import re

from forensics.run import Config

_FAMILIES = re.compile(
    r"(?i:gpt|llama|llava|vicuna|alpaca|qwen|gemma|mistral|mixtral|bloom|falcon|olmo|deepseek"
    r"|internlm|baichuan|chatglm|pythia|causal[-_ ]?lm|language[-_ ]?model"
    r"|(?<![a-z])(?:opt|phi|yi|mpt)[-_\d])"
)
"""Names of models that continue a text token by token."""


def is_language_model(config: Config) -> bool:
    """True where the vocabulary is configured, or the model is named after such a family."""
    return bool(config.vocab_size) or _FAMILIES.search(config.model or "") is not None
