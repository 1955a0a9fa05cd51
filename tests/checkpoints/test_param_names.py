import itertools

import pytest

from forensics.checkpoints._param_names import Candidate, bare, bare_names, match

LLAMA_LAYER = {
    "self_attn.q_proj.weight": (8, 8), "self_attn.k_proj.weight": (4, 8),
    "self_attn.v_proj.weight": (4, 8), "self_attn.o_proj.weight": (8, 8),
    "mlp.gate_proj.weight": (20, 8), "mlp.up_proj.weight": (20, 8), "mlp.down_proj.weight": (8, 20),
    "input_layernorm.weight": (8,), "post_attention_layernorm.weight": (8,),
}  # fmt: skip
LLAMA = [
    ("model.embed_tokens.weight", (32, 8)),
    *((f"model.layers.{i}.{n}", s) for i in range(12) for n, s in LLAMA_LAYER.items()),
    ("model.norm.weight", (8,)),
    ("lm_head.weight", (32, 8)),
]
GPT2_LAYER = {
    "ln_1.weight": (8,), "ln_1.bias": (8,), "attn.c_attn.weight": (8, 24),
    "attn.c_attn.bias": (24,), "attn.c_proj.weight": (8, 8), "attn.c_proj.bias": (8,),
    "ln_2.weight": (8,), "ln_2.bias": (8,), "mlp.c_fc.weight": (8, 32), "mlp.c_fc.bias": (32,),
    "mlp.c_proj.weight": (32, 8), "mlp.c_proj.bias": (8,),
}  # fmt: skip
GPT2 = [
    ("transformer.wte.weight", (40, 8)),
    ("transformer.wpe.weight", (16, 8)),
    *((f"transformer.h.{i}.{n}", s) for i in range(12) for n, s in GPT2_LAYER.items()),
    ("transformer.ln_f.weight", (8,)),
    ("transformer.ln_f.bias", (8,)),
]
NEOX_LAYER = {
    "input_layernorm.weight": (8,), "input_layernorm.bias": (8,),
    "post_attention_layernorm.weight": (8,), "post_attention_layernorm.bias": (8,),
    "attention.query_key_value.weight": (24, 8), "attention.query_key_value.bias": (24,),
    "attention.dense.weight": (8, 8), "attention.dense.bias": (8,),
    "mlp.dense_h_to_4h.weight": (32, 8), "mlp.dense_h_to_4h.bias": (32,),
    "mlp.dense_4h_to_h.weight": (8, 32), "mlp.dense_4h_to_h.bias": (8,),
}  # fmt: skip
NEOX = [
    ("gpt_neox.embed_in.weight", (40, 8)),
    *((f"gpt_neox.layers.{i}.{n}", s) for i in range(3) for n, s in NEOX_LAYER.items()),
    ("gpt_neox.final_layer_norm.weight", (8,)),
    ("gpt_neox.final_layer_norm.bias", (8,)),
    ("embed_out.weight", (40, 8)),
]
MODELS = {"llama": LLAMA, "gpt2": GPT2, "neox": NEOX}


def has_decay(name, shape):
    return "bias" not in name and "norm" not in name and ".ln_" not in name


RULES = {
    "one group": lambda model: [model],
    "decay first": lambda model: [[p for p in model if has_decay(*p)],
                                  [p for p in model if not has_decay(*p)]],
    "decay last": lambda model: [[p for p in model if not has_decay(*p)],
                                 [p for p in model if has_decay(*p)]],
    "matrices first": lambda model: [[p for p in model if len(p[1]) > 1],
                                     [p for p in model if len(p[1]) < 2]],
    "an empty group": lambda model: [model, []],
    "head apart": lambda model: [model[-1:], model[:-1]],
}  # fmt: skip


def numbered(groups):
    """(keys by group, shape by key, name by key) of an optimizer over these groups."""
    count = itertools.count()
    keys = [[next(count) for _ in group] for group in groups]
    flat = [p for group in groups for p in group]
    return keys, {k: s for k, (_, s) in enumerate(flat)}, {k: n for k, (n, _) in enumerate(flat)}


def candidates(model):
    return [Candidate(name, shape) for name, shape in model]


def test_an_optimizer_of_another_model_has_no_match():
    keys, shapes, _ = numbered([[("a", (3, 5)), ("b", (7,))]])
    assert match(keys, shapes, candidates(LLAMA), ordered=True) is None
    assert match(keys, shapes, candidates(LLAMA), ordered=False) is None


def test_nothing_at_all_has_no_match():
    assert match([], {}, candidates(LLAMA), ordered=False) is None
    assert match([[0]], {0: (3,)}, [], ordered=False) is None


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("model", MODELS)
def test_in_the_models_own_order_all_is_certain(model, rule):
    keys, shapes, names = numbered(RULES[rule](MODELS[model]))
    found = match(keys, shapes, candidates(MODELS[model]), ordered=True)
    assert (dict(found.names), found.ambiguous) == (names, ())


@pytest.mark.parametrize("rule", [r for r in RULES if r != "head apart"])
@pytest.mark.parametrize("model", MODELS)
def test_without_an_order_the_usual_one_is_found_and_called_ambiguous(model, rule):
    keys, shapes, names = numbered(RULES[rule](MODELS[model]))
    shuffled = sorted(candidates(MODELS[model]), key=lambda one: one.name)
    found = match(keys, shapes, shuffled, ordered=False)
    assert dict(found.names) == names
    alone = [k for k, n in names.items() if n.endswith(("down_proj.weight", "c_attn.weight"))]
    assert not set(alone) & set(found.ambiguous)
    assert found.ambiguous


def test_shapes_that_occur_once_are_certain_without_an_order():
    model = [("z", (3, 4)), ("a", (5, 3)), ("m", (5,))]
    keys, shapes, names = numbered([model])
    found = match(keys, shapes, sorted(candidates(model), key=lambda c: c.name), ordered=False)
    assert (dict(found.names), found.ambiguous) == (names, ())


def test_frozen_parameters_are_passed_over():
    trained = LLAMA[-11:]
    keys, shapes, names = numbered([trained])
    found = match(keys, shapes, candidates(LLAMA), ordered=True)
    certain = {k: n for k, n in found.names.items() if k not in found.ambiguous}
    assert all(names[key] == name for key, name in certain.items())
    assert set(found.names) == set(names)


def test_parameters_that_were_never_stepped_have_no_shape():
    keys, shapes, names = numbered([GPT2])
    del shapes[3], shapes[7]
    found = match(keys, shapes, candidates(GPT2), ordered=True)
    assert dict(found.names) == names


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("module.layers.0.weight", "layers.0.weight"),
        ("_orig_mod.module.w", "w"),
        ("module._orig_mod.w", "w"),
        ("layers.0._fsdp_wrapped_module._checkpoint_wrapped_module.w", "layers.0.w"),
        ("my_module.w", "my_module.w"),
        ("submodule.w", "submodule.w"),
        ("layers.module_list.w", "layers.module_list.w"),
    ],
)
def test_names_of_wrappers_are_dropped_for_matching(name, own):
    assert bare(name) == own


def test_what_all_names_begin_with_may_be_left_out_too():
    names = bare_names(["model.a", "model.b"])
    assert (names["a"], names["model.b"]) == ("model.a", "model.b")
    assert "b" not in bare_names(["model.b", "other"])
