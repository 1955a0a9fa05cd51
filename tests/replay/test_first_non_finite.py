import math

import pytest

from tests.replay.planted import INF, Attention, F, causal, gpt2, nn, search, torch, weight

# -- what must not be found ------------------------------------------------------------------


def test_causal_mask_of_infinities_is_not_found():
    model = Attention()
    x = torch.randn(2, 4, 8)
    assert search(model, lambda: model(x, causal(4)).pow(2).mean()).found is None


def test_masks_given_with_the_batch_or_kept_in_a_buffer_are_not_found():
    model = Attention()
    model.register_buffer("mask", causal(4))
    batch = {"x": torch.randn(2, 4, 8), "mask": causal(4)}
    loss = search(model, lambda: model(batch["x"], batch["mask"] + model.mask).sum(), batch=batch)
    assert loss.found is None


@pytest.mark.parametrize("where", ["constant", "masked_fill", "full", "fill_", "tensor", "numpy"])
def test_logits_put_to_minus_infinity_on_purpose_are_not_found(where):
    head = nn.Linear(4, 6)
    x, keep = torch.randn(5, 4), torch.tensor([True, True, False, True, False, True])
    constant = torch.full((6,), -INF)

    def cut(logits):
        if where == "constant":
            return torch.where(keep, logits, constant)
        if where == "masked_fill":
            return logits.masked_fill(~keep, -INF)
        if where == "full":
            return torch.where(keep, logits, torch.full_like(logits, -INF))
        if where == "fill_":
            logits = logits.clone()
            logits[:, ~keep] = -INF
            return logits
        if where == "tensor":
            return torch.where(keep, logits, torch.tensor(-INF))
        return logits + torch.from_numpy(constant.numpy().copy()).masked_fill(keep, 0.0)

    labels = torch.tensor([0, 1, 3, 5, 0])
    assert search(head, lambda: F.cross_entropy(cut(head(x)), labels)).found is None


def test_top_k_with_infinite_thresholds_is_not_found():
    gate = nn.Linear(4, 8)
    x = torch.randn(5, 4)

    def loss():
        logits = gate(x)
        kept = logits.topk(2, dim=-1)
        sparse = torch.full_like(logits, -INF).scatter(-1, kept.indices, kept.values)
        return sparse.softmax(dim=-1).pow(2).sum()

    assert search(gate, loss).found is None


def test_square_root_guarded_on_the_inside_is_not_found():
    model = weight([0.0, 4.0])

    def loss():
        x = model()
        safe = torch.where(x > 0, x, torch.ones_like(x))
        return torch.where(x > 0, safe.sqrt(), torch.zeros_like(x)).sum()

    assert search(model, loss).found is None


def test_infinity_that_nothing_depends_on_is_not_found():
    model = weight([1.0, 2.0])

    def loss():
        x = model()
        (x.detach() * 0).log()  # thrown away
        return torch.where(x > 0, x, torch.zeros_like(x).log()).sum()

    assert search(model, loss).found is None


def test_uninitialised_memory_is_not_found():
    model = weight([1.0, 2.0])

    def loss():
        memory = torch.empty(4).fill_(math.nan)  # as bad as memory can be
        memory = torch.empty_like(memory)
        memory[:2] = 1.0
        memory[2:] = model()
        return memory.new_empty(4).copy_(memory).sum()

    assert search(model, loss).found is None


@pytest.mark.parametrize("kind", ["flash", "math"])
def test_fused_attention_with_fully_masked_rows_that_stays_finite_is_not_found(kind):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backend = {"flash": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}[kind]
    proj = nn.Linear(8, 8)
    x = torch.randn(1, 2, 4, 8)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    mask[0] = False

    def loss():
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(proj(x), x, x, attn_mask=mask).sum()

    assert search(proj, loss).found is None


def test_padding_of_nan_that_is_replaced_is_not_found():
    layer = nn.Linear(2, 2)
    batch = {"x": torch.tensor([[1.0, math.nan], [0.0, 1.0]])}
    loss = search(layer, lambda: layer(batch["x"].nan_to_num()).sum(), batch=batch)
    assert loss.found is None


def test_row_of_nan_that_is_never_looked_up_is_not_found():
    table = nn.Embedding(5, 3)
    table.weight.data[4] = math.nan
    assert search(table, lambda: table(torch.tensor([0, 1])).sum()).found is None


def test_tiny_sums_of_huge_numbers_are_not_taken_for_infinity():
    model = weight([3e38, 3e38, -3e38])
    assert search(model, lambda: (model() * 1e-38).sum()).found is None
    half = weight([3.0])
    assert search(
        half, lambda: (half().half() * torch.ones(60000).half()).float().mean()
    ).found is (None)


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("autocast", [None, torch.float16, torch.bfloat16])
def test_healthy_language_model_with_padding_is_not_found(attention, autocast):
    model = gpt2(attn_implementation=attention)
    ids = torch.randint(0, 50, (2, 12))
    mask = torch.ones_like(ids)
    mask[0, 7:] = 0

    def loss():
        with torch.autocast("cpu", dtype=autocast or torch.bfloat16, enabled=autocast is not None):
            return model(input_ids=ids, attention_mask=mask, labels=ids).loss

    scale = 1024.0 if autocast is torch.float16 else 1.0
    assert search(model, loss, loss_scale=scale).found is None


def test_integer_complex_sparse_and_double_steps_are_not_found():
    model = weight([1.0, 2.0])

    def loss():
        x = model()
        spectrum = torch.fft.rfft(torch.complex(x, x).real).abs().sum()
        sparse = torch.sparse_coo_tensor([[0, 1], [1, 0]], x, (2, 2))
        slope = torch.autograd.grad(x.pow(3).sum(), x, create_graph=True)[0]
        count = torch.arange(4).bitwise_and(1).sum()
        return spectrum + torch.sparse.mm(sparse, torch.ones(2, 2)).sum() + slope.sum() + count

    assert search(model, loss).found is None


# -- the model stays as it was ---------------------------------------------------------------


def test_gradients_buffers_and_hooks_are_as_before():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    model[0].weight.grad = torch.full((3, 3), 5.0)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    search(model, lambda: model(torch.randn(4, 3)).pow(2).sum())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert model[0].weight.grad.eq(5).all()
    assert model[0].bias.grad is None
    assert not model[0]._forward_hooks
    assert not model[0]._forward_pre_hooks


def test_what_a_loss_raises_is_raised_and_leaves_nothing_behind():
    model = nn.Linear(2, 2)

    def loss():
        model(torch.ones(1, 2))
        raise KeyError("labels")

    with pytest.raises(KeyError, match="labels"):
        search(model, loss)
    assert not model._forward_hooks
    assert search(model, lambda: model(torch.ones(1, 2)).sum()).found is None


def test_hook_that_raises_is_passed_on():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))

    def hook(*_):
        raise RuntimeError("not today")

    model[0].register_forward_hook(hook)
    with pytest.raises(RuntimeError, match="not today"):
        search(model, lambda: model(torch.ones(1, 2)).sum())
    assert not model[1]._forward_hooks
