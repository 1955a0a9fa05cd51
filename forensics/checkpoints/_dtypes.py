"""Element types by the names under which formats write them."""

from forensics.checkpoints._base import DType

SAFETENSORS: dict[str, tuple[DType, int]] = {
    **{t.value: (t, 8 * t.size) for t in DType if t is not DType.OTHER},
    "F8_E8M0": (DType.OTHER, 8),
    "F6_E2M3": (DType.OTHER, 6),
    "F6_E3M2": (DType.OTHER, 6),
    "F4": (DType.OTHER, 4),
}
"""Name -> (type, bits of one element)."""

TORCH: dict[str, tuple[DType, int]] = {
    "float64": (DType.F64, 8),
    "double": (DType.F64, 8),
    "float32": (DType.F32, 4),
    "float": (DType.F32, 4),
    "float16": (DType.F16, 2),
    "half": (DType.F16, 2),
    "bfloat16": (DType.BF16, 2),
    "float8_e4m3fn": (DType.F8_E4M3, 1),
    "float8_e5m2": (DType.F8_E5M2, 1),
    "float8_e4m3fnuz": (DType.F8_E4M3FNUZ, 1),
    "float8_e5m2fnuz": (DType.F8_E5M2FNUZ, 1),
    "float8_e8m0fnu": (DType.OTHER, 1),
    "float4_e2m1fn_x2": (DType.OTHER, 1),
    "complex32": (DType.OTHER, 4),
    "complex64": (DType.C64, 8),
    "complex128": (DType.C128, 16),
    "int64": (DType.I64, 8),
    "long": (DType.I64, 8),
    "int32": (DType.I32, 4),
    "int": (DType.I32, 4),
    "int16": (DType.I16, 2),
    "short": (DType.I16, 2),
    "int8": (DType.I8, 1),
    "char": (DType.I8, 1),
    "uint64": (DType.U64, 8),
    "uint32": (DType.U32, 4),
    "uint16": (DType.U16, 2),
    "uint8": (DType.U8, 1),
    "byte": (DType.U8, 1),
    "bool": (DType.BOOL, 1),
    "qint8": (DType.OTHER, 1),
    "quint8": (DType.OTHER, 1),
    "qint32": (DType.OTHER, 4),
    "quint4x2": (DType.OTHER, 1),
    "quint2x4": (DType.OTHER, 1),
}
"""torch's name, without ``torch.`` -> (type, bytes of one element)."""

_STORAGES = {
    "BFloat16Storage": "bfloat16",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QInt8Storage": "qint8",
    "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32",
    "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
    "UntypedStorage": "byte",
}


def of_torch(name: str) -> tuple[DType, int]:
    """Type and bytes of an element for ``torch.float32`` or ``torch.FloatStorage``."""
    last = name.rpartition(".")[2]
    if last.endswith("Storage"):
        last = _STORAGES.get(last, last.removesuffix("Storage").lower())
    return TORCH.get(last, (DType.OTHER, 1))


_NUMPY = {
    **{"f8": DType.F64, "f4": DType.F32, "f2": DType.F16, "c8": DType.C64, "c16": DType.C128},
    **{"i8": DType.I64, "i4": DType.I32, "i2": DType.I16, "i1": DType.I8},
    **{"u8": DType.U64, "u4": DType.U32, "u2": DType.U16, "u1": DType.U8, "b1": DType.BOOL},
    "bfloat16": DType.BF16,
    "float8_e4m3fn": DType.F8_E4M3,
    "float8_e5m2": DType.F8_E5M2,
}


def of_numpy(code: str) -> tuple[DType, int, bool]:
    """Type, bytes of an element and whether these are swapped, for ``<f4`` or ``|b1``."""
    bare = code.lstrip("<>|=")
    dtype = _NUMPY.get(bare, DType.OTHER)
    if dtype is DType.OTHER and bare[:1] in "VSU" and bare[1:].isdecimal():
        return dtype, min(int(bare[1:9]), 1 << 20) * (4 if bare[0] == "U" else 1), False
    return dtype, dtype.size or 1, code.startswith(">") and dtype.size > 1
