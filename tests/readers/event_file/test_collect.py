"""Scalars of every encoding, against TensorBoard's own classes."""

import math
import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.util import tensor_util

from forensics.readers._base import no_progress
from forensics.readers._event_file import wire
from forensics.readers._event_file.collect import collect
from tests.readers.event_file.twin import VERSION, naive_points, naive_records, record, scalar

TYPES = (
    *(np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64, np.bool_),
)


def collected(path, *records):
    """Points by tag of a file of these records."""
    path.write_bytes(VERSION + b"".join(records))
    return points(collect(path, no_progress))


def points(found):
    return {
        tagged.tag: list(
            zip(tagged.step.tolist(), tagged.value.tolist(), tagged.wall_time.tolist(), strict=True)
        )
        for tagged in found.scalars
    }


def same(one, other):
    """Equal, NaN being equal to itself."""
    return one.keys() == other.keys() and all(
        np.array_equal(np.array(one[tag]), np.array(other[tag]), equal_nan=True) for tag in one
    )


def tensor(tag, step, array, plugin="scalars", content=False):
    """A framed event of the newer encoding, the number listed or as it lies in memory."""
    event = Event(wall_time=2.5, step=step)
    value = event.summary.value.add(tag=tag)
    value.metadata.plugin_data.plugin_name = plugin
    array = np.asarray(array)
    proto = tensor_util.make_tensor_proto(array)
    if content:
        for name in ("float_val", "double_val", "int_val", "int64_val", "bool_val", "half_val"):
            proto.ClearField(name)
        proto.tensor_content = array.tobytes()
    value.tensor.CopyFrom(proto)
    return record(event.SerializeToString())


def test_histograms_images_and_tensors_of_several_numbers_are_no_scalars(tmp_path):
    event = Event(step=1)
    event.summary.value.add(tag="h").histo.bucket.extend([1.0, 2.0])
    event.summary.value.add(tag="i").image.encoded_image_string = b"png"
    records = [
        record(event.SerializeToString()),
        tensor("two", 1, [1.0, 2.0]),
        tensor("none", 1, np.zeros(0, np.float32)),
        tensor("curve", 1, 1.0, plugin="pr_curves"),
        tensor("name", 1, b"text"),
    ]
    assert collected(tmp_path / "f", *records) == {}


def test_a_payload_that_is_no_event_is_counted_and_passed_over(tmp_path):
    records = [record(b"\xff" * 30), scalar("a", 1, 1.0), record(b"\x0a\x7f"), record(b"\x0b")]
    (tmp_path / "f").write_bytes(VERSION + b"".join(records))
    found = collect(tmp_path / "f", no_progress)
    assert found.foreign == 3
    assert points(found) == {"a": [(1, 1.0, 1.7e9)]}


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_of_tensor(tmp_path, dtype, content):
    if content is False and dtype in (np.uint32, np.uint64):
        pytest.skip("TensorBoard's own writer does not list these")
    numbers = [0, 1, 3, 100] if np.dtype(dtype).kind in "bu" else [0, 1, -3, 100]
    records = [
        tensor("x", step, np.array(n, dtype), content=content) for step, n in enumerate(numbers)
    ]
    got = collected(tmp_path / "f", *records)["x"]
    assert [value for _, value, _ in got] == [float(np.array(n, dtype)) for n in numbers]


def test_bfloat16_listed_and_as_it_lies_in_memory(tmp_path):
    listed, content = Event(step=1), Event(step=2)
    for event in (listed, content):
        event.summary.value.add(tag="x").tensor.dtype = 14
    listed.summary.value[0].tensor.half_val.append(0xBFC0)
    content.summary.value[0].tensor.tensor_content = b"\xc0\xbf"
    got = collected(
        tmp_path / "f", *(record(event.SerializeToString()) for event in (listed, content))
    )
    assert [value for _, value, _ in got["x"]] == [-1.5, -1.5]


def test_unsigned_numbers_listed(tmp_path):
    event = Event(step=1)
    for dtype, name, number in ((22, "uint32_val", 2**32 - 1), (23, "uint64_val", 2**40)):
        tensor_proto = event.summary.value.add(tag=name).tensor
        tensor_proto.dtype = dtype
        getattr(tensor_proto, name).append(number)
    got = collected(tmp_path / "f", record(event.SerializeToString()))
    assert got == {
        "uint32_val": [(1, 2.0**32 - 1, 0.0)],
        "uint64_val": [(1, 2.0**40, 0.0)],
    }


def test_a_tensor_without_a_number_is_zero_and_of_shape_1_a_scalar(tmp_path):
    event = Event(step=3)
    event.summary.value.add(tag="left out").tensor.dtype = 1
    got = collected(tmp_path / "f", record(event.SerializeToString()), tensor("one", 4, [2.5]))
    assert got == {"left out": [(3, 0.0, 0.0)], "one": [(4, 2.5, 2.5)]}


def test_data_class_says_that_another_plugin_logs_scalars(tmp_path):
    event = Event(step=1)
    value = event.summary.value.add(tag="x")
    value.metadata.plugin_data.plugin_name = "mine"
    value.metadata.data_class = 1
    value.tensor.CopyFrom(tensor_util.make_tensor_proto(np.float32(4)))
    assert collected(tmp_path / "f", record(event.SerializeToString())) == {"x": [(1, 4.0, 0.0)]}


def test_numbers_that_are_not_finite_are_kept_without_a_warning(tmp_path):
    signalling = struct.unpack("<f", b"\x01\x00\xa0\x7f")[0]
    values = [math.nan, math.inf, -math.inf, signalling, 3.4e38, 1e-45]
    got = collected(tmp_path / "f", *(scalar("x", i, v) for i, v in enumerate(values)))["x"]
    expected = [np.float64(np.float32(value)) for value in values]
    assert np.array_equal([value for _, value, _ in got], expected, equal_nan=True)


@pytest.mark.parametrize("step", [0, 1, 127, 128, 2**31, 2**63 - 1, -1, -(2**63)])
def test_steps_of_any_size(tmp_path, step):
    assert collected(tmp_path / "f", scalar("x", step, 1.0))["x"][0][0] == step


def test_steps_that_go_back_stay_in_file_order(tmp_path):
    start = Event(step=3)
    start.session_log.status = SessionLog.START
    records = [scalar("loss", step, 9.0) for step in (1, 2, 300, 400)]
    records.append(record(start.SerializeToString()))
    records += [scalar("loss", step, 1.0) for step in (3, 4)]
    got = collected(tmp_path / "f", *records)["loss"]
    assert [step for step, _, _ in got] == [1, 2, 300, 400, 3, 4]


def test_several_values_in_one_event_even_of_one_tag(tmp_path):
    event = Event(step=5)
    for tag, number in (("b", 1.0), ("a", 2.0), ("b", 3.0)):
        event.summary.value.add(tag=tag, simple_value=number)
    got = collected(tmp_path / "f", record(event.SerializeToString()))
    assert list(got) == ["b", "a"]
    assert [value for _, value, _ in got["b"]] == [1.0, 3.0]


def test_fields_in_another_order_and_unknown_ones(tmp_path):
    value = b"\x15" + struct.pack("<f", 1.5) + b"\x0a\x01x" + b"\xf8\x07\x05"
    summary = b"\x0a" + bytes([len(value)]) + value
    payload = b"\xfa\x07\x02hi" + b"\x2a" + bytes([len(summary)]) + summary + b"\x10\x07"
    assert collected(tmp_path / "f", record(payload)) == {"x": [(7, 1.5, 0.0)]}


@pytest.mark.parametrize("tag", [b"", b"\xff\xfe", b"<script>&", "Verlust/ä".encode(), b"a\x00b"])
def test_tags_of_any_bytes_can_be_written_again(tmp_path, tag):
    value = b"\x0a" + bytes([len(tag)]) + tag + b"\x15" + struct.pack("<f", 2.0)
    summary = b"\x0a" + bytes([len(value)]) + value
    (name,) = collected(tmp_path / "f", record(b"\x2a" + bytes([len(summary)]) + summary))
    assert name.encode("utf-8").decode("utf-8") == name
    assert name == tag.decode("utf-8", "backslashreplace")


def test_ten_thousand_tags(tmp_path):
    rng = random.Random(3)
    tags = [f"layer.{i}{'.weight' * (i % 3)}" for i in range(10_000)]
    order = [*tags, *rng.sample(tags, 10_000)]
    got = collected(tmp_path / "f", *(scalar(tag, i, i % 7) for i, tag in enumerate(order)))
    assert list(got) == tags
    assert all(len(part) == 2 for part in got.values())
    assert got[order[-1]][1][0] == len(order) - 1


@st.composite
def event(draw):
    """One event of any make; its fields decide its layout, its numbers do not."""
    made = Event(
        step=draw(st.sampled_from([0, 1, 130, 20_000, -5]) | st.integers(-(2**63), 2**63 - 1)),
        wall_time=draw(st.sampled_from([0.0, 1.7e9, 1e-3])),
    )
    for _ in range(draw(st.integers(0, 3))):
        value = made.summary.value.add(tag=draw(st.sampled_from(["a", "bb", "c/d", ""])))
        number = draw(st.floats(width=32))
        kind = draw(st.sampled_from(["simple", "float", "double", "half", "int", "histogram"]))
        if kind == "simple":
            value.simple_value = number
        elif kind == "histogram":
            value.histo.bucket.append(number)
        else:
            dtype = {"float": "f4", "double": "f8", "half": "f2", "int": "i4"}[kind]
            with np.errstate(all="ignore"):
                array = np.array(number if kind != "int" else made.step % 1000 - 500, dtype)
            shape = draw(st.sampled_from([(), (1,), (1, 1), (2,)]))
            value.tensor.CopyFrom(tensor_util.make_tensor_proto(np.full(shape, array)))
            value.metadata.plugin_data.plugin_name = draw(st.sampled_from(["scalars", "", "other"]))
    return record(made.SerializeToString())


@settings(max_examples=50, deadline=None)
@given(records=st.lists(event(), max_size=12), times=st.sampled_from([1, 3, 20]))
def test_any_events_give_what_the_twin_gives(tmp_path_factory, records, times):
    data = VERSION + b"".join(records * times)
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(data)
    expected = naive_points(naive_records(data).payloads)
    assert same(points(collect(path, no_progress)), expected)
    assert same(points(collect(path, no_progress, piece_size=200)), expected)


def test_a_message_of_endless_fields_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(wire, "_MAX_FIELDS", 1000)
    path = tmp_path / "f"
    path.write_bytes(VERSION + record(b"\x10\x01" * 5000) + scalar("a", 1, 1.0))
    found = collect(path, no_progress)
    assert (found.foreign, len(found.scalars)) == (1, 1)
