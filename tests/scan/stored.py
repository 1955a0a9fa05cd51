"""Tensors in files of the tests' own making, and passes to count them with."""

import json
import struct

import numpy as np

from forensics.checkpoints import DType, Extent, Opened, Role, StoredTensor


def write_safetensors(path, tensors):
    """Write {name: (dtype, shape, bytes)} in the format's own layout."""
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": str(dtype), "shape": list(shape), "data_offsets": offsets}
        body += data
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def f32(*values):
    """(dtype, shape, bytes) of a float32 vector."""
    return DType.F32, (len(values),), np.array(values, "<f4").tobytes()


def tensor_in(path, data, dtype, name="w", **more):
    """A tensor that is the whole of a new file."""
    path.write_bytes(data)
    extents = (Extent(str(path), 0, len(data)),) if data else ()
    return StoredTensor(
        name, Role.PARAM, dtype, (len(data) // dtype.size,), extents, storage=name, **more
    )


def opened(*tensors, **more):
    return Opened("somewhere", "test", tuple(tensors), **more)
