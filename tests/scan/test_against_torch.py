"""Files of the real libraries, counted by torch itself."""

import math

import pytest

import forensics
from forensics.scan.paths import scan_path

torch = pytest.importorskip("torch", reason="torch is not installed")
DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
    *(torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz),
    *(torch.complex64, torch.complex128),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
]
SPECIAL = [0.0, -0.0, 1e-40, 6e-8, 448.0, 57344.0, 65504.0, 3e38, math.nan, math.inf, -math.inf]


def tensors():
    """One tensor of each type, with special values where there are such."""
    generator = torch.Generator().manual_seed(0)
    made = {}
    for dtype in DTYPES:
        value = torch.randn(5000, generator=generator, dtype=torch.float64)
        if dtype.is_floating_point:
            value[::97][: len(SPECIAL)] = torch.tensor(SPECIAL, dtype=torch.float64)
        if dtype.is_complex:
            value = torch.complex(value, value.flip(0))
        made[str(dtype).removeprefix("torch.")] = (value * 3).to(dtype).reshape(50, 100)
    return made


def expected(tensor):
    """(NaN, infinite, zero, largest, RMS) by torch."""
    wide = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)
    finite = wide[torch.isfinite(wide)]
    parts = torch.view_as_real(finite).flatten() if tensor.is_complex() else finite
    return (
        int(torch.isnan(wide).sum()),
        int((torch.isinf(wide) & ~torch.isnan(wide)).sum()),
        int((wide == 0).sum()),
        float(parts.abs().max()),
        float(parts.pow(2).mean().sqrt()) if float(parts.abs().max()) < 1e150 else None,
    )


def check(table, made):
    found = dict(zip(table.name, table.itertuples(index=False), strict=True))
    assert set(found) == set(made)
    for name, tensor in made.items():
        row = found[name]
        nan, infinite, zero, largest, rms = expected(tensor)
        assert (row.nan, row.pos_inf + row.neg_inf, row.zero) == (nan, infinite, zero), name
        assert row.abs_max == largest, name
        assert rms is None or row.rms == pytest.approx(rms, rel=1e-12), name
        assert row.shape == tuple(tensor.shape)


def test_a_file_of_torch(tmp_path):
    made = tensors()
    torch.save(made, tmp_path / "model.pt")
    check(forensics.scan(tmp_path / "model.pt"), made)


def test_a_legacy_file_of_torch(tmp_path):
    made = {n: t for n, t in tensors().items() if "8" not in n}
    torch.save(made, tmp_path / "model.pt", _use_new_zipfile_serialization=False)
    check(forensics.scan(tmp_path / "model.pt"), made)


def test_a_file_of_safetensors(tmp_path):
    save_file = pytest.importorskip("safetensors.torch").save_file
    made = {n: t for n, t in tensors().items() if "complex128" not in n}
    save_file(made, tmp_path / "model.safetensors")
    check(forensics.scan(tmp_path / "model.safetensors"), made)


def test_tied_weights_are_counted_once(tmp_path):
    weight = torch.randn(40, 8)
    torch.save({"embed.weight": weight, "head.weight": weight}, tmp_path / "model.pt")
    scan = scan_path(tmp_path / "model.pt")
    assert [t.shared for t in scan.tensors] == [False, True]
    assert scan.tensors[0].rms == scan.tensors[1].rms


def test_an_expanded_tensor_is_not_laid_out(tmp_path):
    torch.save({"w": torch.ones(1, 1).expand(1000, 1000)}, tmp_path / "model.pt")
    (stats,) = scan_path(tmp_path / "model.pt").tensors
    assert (stats.size, stats.nbytes, stats.mean) == (1_000_000, 4, 1.0)


def test_a_cut_file_gives_what_is_whole(tmp_path):
    path = tmp_path / "model.pt"
    torch.save({f"layers.{i}.weight": torch.full((100,), float(i)) for i in range(8)}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3])
    scan = scan_path(path)
    good = [t for t in scan.tensors if not t.missing]
    assert 0 < len(good) < 8
    assert all(t.mean == float(t.name.split(".")[1]) for t in good)
    assert scan.notes
