#!/usr/bin/python3
"""The judges see every difference that two files may have, and take alike what is alike."""

import copy
import struct
import sys
import unittest

import numpy

from model import Block, Output, differences


def output():
    data = numpy.arange(6, dtype="f8")
    return Output(
        [[Block("n", "int32", 0, data=struct.pack("<i", 3)),
          Block("t", "float64", 0, (2, 3), (4, 3), (0, 0), data.tobytes(), (0.0, 5.0)),
          Block("t", "float64", 1, (2, 3), (4, 3), (2, 0), data.tobytes(), (0.0, 5.0))], []],
        {"t/unit": ("string", ["K"]), "t/of": ("reference", ["n"])},
    )  # fmt: skip


class Differences(unittest.TestCase):
    def assert_seen(self, change):
        other = output()
        change(other)
        self.assertTrue(differences(output(), other), change)

    def test_nothing_is_said_of_what_is_alike(self):
        other = output()
        other.steps[0].insert(0, other.steps[0].pop(1))  # writes of different variables have no order
        self.assertEqual(differences(output(), other), [])

    def test_every_change_is_seen(self):
        def set_block(**fields):
            return lambda o: vars(o.steps[0][2]).update(fields)

        flipped = bytearray(output().steps[0][2].data)
        flipped[0] ^= 1
        changes = [
            set_block(name="u"), set_block(type="int64"), set_block(rank=2), set_block(shape=(3, 2)),
            set_block(global_shape=(5, 3)), set_block(offsets=(1, 0)), set_block(data=bytes(flipped)),
            set_block(data=b""), set_block(bounds=(0.0, 4.0)), set_block(bounds=None),
            lambda o: o.steps[0].pop(), lambda o: o.steps[1].append(copy.copy(o.steps[0][0])), lambda o: o.steps.pop(),
            lambda o: o.attributes.pop("t/of"), lambda o: o.attributes.update({"more": ("int32", [1])}),
            lambda o: o.attributes.update({"t/unit": ("string", ["C"])}),
            lambda o: o.attributes.update({"t/of": ("int32", [3])}),
        ]  # fmt: skip
        for change in changes:
            self.assert_seen(change)

    def test_blocks_of_one_variable_and_rank_have_an_order(self):
        want, got = output(), output()
        for one, other in ((want, (1, 2)), (got, (2, 1))):
            one.steps[1] = [Block("b", "int8", 0, data=bytes([n])) for n in other]
        self.assertEqual(len(differences(want, got)), 2)

    def test_padding_of_a_long_double_is_no_value(self):
        want, got = output(), output()
        for one, padding in ((want, 0), (got, 255)):
            one.steps[1] = [Block("x", "long_double", 0, data=bytes(10) + bytes([padding] * 6))]
        self.assertEqual(differences(want, got), [])

    def test_infinite_values_may_count_as_bounds_or_not(self):
        want, got = output(), output()
        data = numpy.array([1.0, numpy.inf]).tobytes()
        want.steps[1] = [Block("x", "float64", 0, (2,), data=data, bounds=(1.0, numpy.inf))]
        got.steps[1] = [Block("x", "float64", 0, (2,), data=data, bounds=(1.0, 1.0))]
        self.assertEqual(differences(want, got), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
