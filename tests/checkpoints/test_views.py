import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.checkpoints._base import DType
from forensics.checkpoints._views import MAX_RUNS, Storage, is_possible, tensor_of

BASE = np.arange(360, dtype=np.int64)
STORAGE = Storage("file", 1000, BASE.nbytes, BASE.nbytes)


def covered(tensor):
    """Elements of ``BASE`` that the extents cover, in order."""
    found = []
    for extent in tensor.extents:
        first = (extent.offset - STORAGE.offset) // 8
        found += BASE[first : first + extent.nbytes // 8].tolist()
    return found


def view_of(array):
    start = (array.__array_interface__["data"][0] - BASE.__array_interface__["data"][0]) // 8
    strides = [step // 8 for step in array.strides]
    return tensor_of(STORAGE, DType.I64, 8, array.shape, strides, start)


@pytest.mark.parametrize("shape", [(-1,), (2**62,), (2**40, 2**40), (1,) * 65, ("3",), (True,)])
def test_shapes_that_cannot_be(shape):
    assert not is_possible(shape)


def test_a_view_in_too_many_pieces_is_one_range():
    storage = Storage("file", 0, 10**6, 10**6)
    tensor = tensor_of(storage, DType.U8, 1, (MAX_RUNS + 1,), (2,))
    assert [extent.nbytes for extent in tensor.extents] == [2 * MAX_RUNS + 1]


def test_a_cut_leaves_whole_elements():
    storage = Storage("file", 0, 21, 32)
    tensor = tensor_of(storage, DType.F64, 8, (4,))
    assert [extent.nbytes for extent in tensor.extents] == [16]
    assert tensor.missing == "cut off: 16 of its 32 bytes are there"


SLICES = st.builds(
    lambda start, length, step: slice(start, start + length, step),
    st.integers(0, 3), st.integers(0, 8), st.integers(1, 3),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.permutations(range(3)), st.tuples(SLICES, SLICES, SLICES), st.data())
def test_a_view_covers_its_elements_and_no_others(order, slices, data):
    array = BASE.reshape(5, 8, 9)[slices].transpose(order)
    if data.draw(st.booleans()):
        array = np.broadcast_to(array, (3, *array.shape))
    tensor = view_of(array)
    assert tensor.size == array.size
    assert sorted(set(covered(tensor))) == sorted(set(array.reshape(-1).tolist()))
    assert len(covered(tensor)) == len(set(covered(tensor)))


@settings(max_examples=100, deadline=None)
@given(st.tuples(SLICES, SLICES, SLICES))
def test_a_view_that_is_not_turned_comes_in_element_order(slices):
    array = BASE.reshape(5, 8, 9)[slices]
    assert covered(view_of(array)) == array.reshape(-1).tolist()
