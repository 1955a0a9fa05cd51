"""The layout of one event must hold for all that agree with it in what was looked at."""

import random

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.util import tensor_util

from forensics.readers._event_file.layout import layout_of


def payloads():
    plain, several, tensors, other = (Event(wall_time=1.5, step=300 + i) for i in range(4))
    plain.summary.value.add(tag="train/loss", simple_value=0.5)
    for tag in ("a", "bb"):
        several.summary.value.add(tag=tag, simple_value=2.0)
    for number in (1.5, 300, True):
        value = tensors.summary.value.add(tag="x")
        value.metadata.plugin_data.plugin_name = "scalars"
        value.tensor.CopyFrom(tensor_util.make_tensor_proto(number))
    value = other.summary.value.add(tag="t")
    value.metadata.plugin_data.plugin_name = "text"
    value.tensor.CopyFrom(tensor_util.make_tensor_proto(b"some text"))
    other.summary.value.add(tag="h").histo.bucket.extend([1.0, 2.0, 3.0])
    return [event.SerializeToString() for event in (plain, several, tensors, other)]


@pytest.mark.parametrize("payload", [b"\x0b", b"\x09\x00", b"\x2a\x7f", b"\x10" + b"\xff" * 12])
def test_what_is_no_event(payload):
    layout = layout_of(payload)
    assert not layout.valid
    assert not layout.scalars


@pytest.mark.parametrize("payload", payloads())
def test_bits_that_were_not_looked_at_change_nothing(payload):
    layout = layout_of(payload)
    assert layout.valid
    rng = random.Random(1)
    for _ in range(200):
        noise = rng.randbytes(len(payload))
        changed = bytes(
            byte ^ (other & ~mask)
            for byte, other, mask in zip(payload, noise, layout.seen, strict=True)
        )
        assert layout_of(changed) == layout


@pytest.mark.parametrize("payload", payloads())
def test_numbers_tags_and_contents_were_not_looked_at(payload):
    layout = layout_of(payload)
    places = [scalar.tag for scalar in layout.scalars]
    places += [scalar.number.at for scalar in layout.scalars if not scalar.number.varint]
    places += [part for text in layout.texts for part in text.parts]
    assert places
    assert not any(byte for place in places for byte in layout.seen[place])
