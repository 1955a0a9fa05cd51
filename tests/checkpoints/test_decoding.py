import zlib

import numpy as np
import pytest

from forensics.checkpoints import DType, Extent, Role, StoredTensor, decoded_chunks
from forensics.errors import UnreadableFile


def stored(path, *extents, dtype=DType.F32, decoder="", size=0):
    ranges = tuple(Extent(str(path), *extent) for extent in extents)
    return StoredTensor("w", Role.PARAM, dtype, (size,), ranges, decoder=decoder)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "data").write_bytes(bytes(range(256)))
    return tmp_path / "data"


def test_an_unknown_decoder_is_said_plainly(file):
    with pytest.raises(UnreadableFile, match="not known"):
        list(decoded_chunks(stored(file, (0, 8), decoder="rot13:1")))


def test_damaged_compressed_bytes_are_said_plainly(file):
    with pytest.raises(UnreadableFile, match="compressed data is damaged"):
        list(decoded_chunks(stored(file, (0, 200), decoder="deflate:0:8")))


def test_a_tensor_without_bytes_has_no_pieces(file):
    assert list(decoded_chunks(stored(file))) == []


def test_extents_come_one_behind_the_other_in_whole_elements(file):
    pieces = list(decoded_chunks(stored(file, (4, 6), (100, 6)), chunk=5))
    assert b"".join(pieces) == bytes([*range(4, 10), *range(100, 106)])
    assert all(len(piece) % 4 == 0 for piece in pieces)


@pytest.mark.parametrize(("first", "nbytes"), [(0, 4000), (0, 400_000), (1000, 800), (399_992, 8)])
def test_a_part_of_what_is_compressed(tmp_path, first, nbytes):
    values = np.arange(100_000, dtype=np.float32).tobytes()
    machine = zlib.compressobj(6, zlib.DEFLATED, -15)
    packed = machine.compress(values) + machine.flush()
    (tmp_path / "z").write_bytes(b"head" + packed)
    tensor = stored(tmp_path / "z", (4, len(packed)), decoder=f"deflate:{first}:{nbytes}")
    assert b"".join(decoded_chunks(tensor)) == values[first : first + nbytes]


def test_elements_of_the_other_byte_order(tmp_path):
    values = np.arange(70_000, dtype=">f8")
    (tmp_path / "be").write_bytes(values.tobytes())
    tensor = stored(tmp_path / "be", (0, values.nbytes), dtype=DType.F64, decoder="swap:8")
    found = np.frombuffer(b"".join(decoded_chunks(tensor, chunk=1001)), "<f8")
    assert np.array_equal(found, values)
