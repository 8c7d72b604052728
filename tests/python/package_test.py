#!/usr/bin/env python3
"""The package: opening, indexing as NumPy does, series, queries, files, whole sets."""

import concurrent.futures
import pickle
import shutil
import threading
import unittest

import numpy as np
from support import SHAPE, density, main, particles, StoreTest

import forebay as fb


def random_index(rng):
    """What basic indexing takes, of three dimensions or fewer."""

    def one(length):
        kind = rng.integers(5)
        if kind == 0:
            return int(rng.integers(-length, length))
        ends = [None if rng.random() < 0.3 else int(rng.integers(-length - 3, length + 4)) for _ in range(2)]
        step = [None, 1, 2, 3, -1, -2][rng.integers(6)]
        return slice(*ends, step)

    key = [one(length) for length in SHAPE][: rng.integers(1, 4)]
    if rng.random() < 0.3:
        key = [Ellipsis, *[one(length) for length in SHAPE[1:]]]
    return tuple(key)


class Compressed(unittest.TestCase):
    def test_arrays_come_back_as_they_were(self):
        smooth = np.add.outer(np.sin(np.arange(90) / 40), np.cos(np.arange(110) / 50))
        arrays = [smooth, smooth.astype("f4"), smooth.astype(">f8"), (smooth * 1000).astype("i2"), smooth.T, np.float32(3),
                  smooth[::2, ::3], np.zeros((0, 3)), np.arange(10, dtype="u1"), smooth.reshape(3, 2, 3, 5, 11, 10)]  # fmt: skip
        for array in arrays:
            for profile in ("fast", "balanced", "max", "shuffle,zstd:3"):
                back = fb.decompress(fb.compress(array, profile))
                self.assertEqual((np.asarray(array).dtype, np.shape(array)), (back.dtype, back.shape))
                np.testing.assert_array_equal(array, back)
        self.assertLess(len(fb.compress(np.repeat(smooth, 30, axis=0))), smooth.nbytes)
        self.assertEqual(fb.compress(smooth), fb.compress(smooth.copy()))

    def test_elements_that_are_no_numbers_come_back_by_their_dtype(self):
        random = np.random.default_rng(1)
        records = np.zeros((40, 7), [("id", "<i4"), ("x", "<f8"), ("name", "S3")])
        records["x"] = random.normal(size=(40, 7))
        arrays = [records, random.normal(size=(50, 3)) + 1j, random.random((9, 300)) > 0.5, np.array(["a", "bc"]),
                  np.arange(9).astype("M8[s]"), np.zeros((0, 2), bool), np.complex64(2 - 1j)]  # fmt: skip
        for array in arrays:
            for profile in ("fast", "balanced", "max"):
                encoded = fb.compress(array, profile)
                back = fb.decompress(encoded, np.asarray(array).dtype)
                self.assertEqual((np.asarray(array).dtype, np.shape(array)), (back.dtype, back.shape))
                self.assertEqual(np.asarray(array).tobytes(), back.tobytes())
                self.assertEqual(f"|V{back.dtype.itemsize}", fb.decompress(encoded).dtype.str)

    def test_what_is_no_array_is_refused(self):
        good = fb.compress(np.arange(1000.0))
        for kind, call in (
            (fb.InvalidArgument, lambda: fb.compress(np.array([{}]))),
            (fb.InvalidArgument, lambda: fb.compress(np.zeros(3, "V70000"))),
            (fb.InvalidArgument, lambda: fb.decompress(good, np.float32)),
            (fb.InvalidArgument, lambda: fb.decompress(good, object)),
            (fb.InvalidArgument, lambda: fb.compress(np.arange(3.0), "fsat")),
            (fb.Damaged, lambda: fb.decompress(b"no array")),
            (fb.Damaged, lambda: fb.decompress(good[:-1])),
            (fb.Damaged, lambda: fb.decompress(good[:50] + bytes([good[50] ^ 1]) + good[51:])),
            (fb.Unsupported, lambda: fb.decompress(b"FBA2" + good[4:])),
            (TypeError, lambda: fb.decompress("text")),
        ):
            self.assertRaises(kind, call)


class Package(StoreTest):
    def test_a_run_is_a_sequence_of_steps(self):
        run = self.open()
        self.assertEqual(4, len(run))
        self.assertEqual(["dump_0000", "dump_0001", "dump_0002", "dump_0003"], run.sets)
        self.assertEqual("dump_0003", run[-1].set)
        self.assertEqual(2, run["dump_0002"].number)
        self.assertEqual([1, 3], [step.step for step in run[1::2]])
        np.testing.assert_array_equal([0, 0.5, 1, 1.5], run.times)
        self.assertIn("dump_0003", run._repr_html_())
        self.assertIn("Density", run[0]._repr_html_())

    def test_a_step_is_a_mapping_of_arrays(self):
        step = self.open()[1]
        self.assertIn("Density", step)
        self.assertNotIn("density", step)
        array = step["Density"]
        self.assertEqual((SHAPE, np.dtype("f8"), "global", 3), (array.shape, array.dtype, array.form, array.ndim))
        self.assertEqual(8, len(array.blocks))
        self.assertEqual(density(1).size, array.statistics["count"])
        self.assertEqual(101, array.statistics["max"])

    def test_indices_mean_what_they_mean_to_numpy(self):
        array, whole = self.open()[2]["Density"], density(2)
        rng = np.random.default_rng(7)
        for _ in range(300):
            key = random_index(rng)
            np.testing.assert_array_equal(whole[key], array[key], str(key))
        np.testing.assert_array_equal(whole, np.asarray(array))
        self.assertEqual(whole[1, 2, 3], array[1, 2, 3])
        self.assertIsInstance(array[1, 2, 3], np.float64)

    def test_values_go_into_a_part_of_a_larger_array(self):
        whole, array = density(1), self.open()[1]["Density"]
        out = np.full(tuple(n + 2 for n in SHAPE), -1.0)
        array.read_into(out[1:-1, 1:-1, 1:-1])
        np.testing.assert_array_equal(whole, out[1:-1, 1:-1, 1:-1])
        self.assertTrue((out[0] == -1).all() and (out[:, :, -1] == -1).all())
        line = np.empty(SHAPE[0])
        array.read_into(line, (slice(None, None, -1), 3, 4))
        np.testing.assert_array_equal(whole[::-1, 3, 4], line)

    def test_points(self):
        array, whole = self.open()[0]["Density"], density(0)
        rows = np.array([[1, 2, 3], [9, 11, 13], [-1, 0, -2]])
        np.testing.assert_array_equal(whole[tuple(rows.T)], array.points(rows))

    def test_a_local_array_has_the_values_of_all_ranks(self):
        values, offsets, ranks = self.open()[3].local("id")
        np.testing.assert_array_equal(np.concatenate([particles(3, rank) for rank in range(8)]), values)
        np.testing.assert_array_equal(range(8), ranks)
        np.testing.assert_array_equal(particles(3, 5), values[offsets[5] : offsets[6]])

    def test_a_cell_over_all_steps(self):
        run = self.open()
        np.testing.assert_array_equal([density(i)[3, 4, 5] for i in range(4)], run.series("Density", (3, 4, 5)))
        planes = run.series("Density", np.s_[::2, 3, ::-1])
        np.testing.assert_array_equal(np.stack([density(i)[::2, 3, ::-1] for i in range(4)]), planes)

    def test_queries_give_columns(self):
        found = self.open().query("Density >= 100", values=True)
        np.testing.assert_array_equal([0, 1, 2, 3], found.number)
        np.testing.assert_array_equal([[i, 1, 2] for i in range(4)], found.index)
        np.testing.assert_array_equal([[100], [101], [102], [103]], found.value)
        np.testing.assert_array_equal([0, 0.5, 1, 1.5], found.time)
        boxes = self.open().query("Density >= 100")
        self.assertIsNone(boxes.value)
        self.assertEqual(4, len(set(boxes.number)))
        self.assertEqual(0, len(self.open().query("Density > 1e9", values=True).number))
        many = self.open().query("Density > 0", values=True)
        self.assertEqual(sum(int((density(i) > 0).sum()) for i in range(4)), len(many.number))

    def test_original_files_without_a_restore(self):
        import h5py

        step = self.open()[1]
        self.assertEqual(8, len(step.files()))
        with step.file("state.0003.h5") as raw, h5py.File(raw, "r") as file:
            np.testing.assert_array_equal(particles(1, 3), file["id"][:])
        original = (self.work / "run/dump_0001/state.0003.h5").read_bytes()
        with step.file("state.0003.h5") as raw:
            self.assertEqual(original, raw.read())
            raw.seek(-5, 2)
            self.assertEqual(original[-5:], raw.read(100))

    def test_sets_are_restored_and_verified(self):
        seen = []
        report = fb.restore(self.store, self.work / "back", name="dump_0002", progress=lambda *now: seen.append(now))
        self.assertEqual(("dump_0002", 8), (report.name, report.files))
        self.assertTrue(seen)
        self.assertTrue(all(0 <= done <= total for done, total in seen), seen)
        for file in (self.work / "run/dump_0002").iterdir():
            self.assertEqual(file.read_bytes(), (self.work / "back" / file.name).read_bytes())
        self.assertTrue(fb.verify(self.store, "dump_0002", check=True).intact)
        self.assertEqual(["dump_0000", "dump_0001"], [one.name for one in fb.sets(self.store)[:2]])

    def test_sets_are_compared(self):
        self.assertEqual([], fb.diff(self.store, "dump_0002", "dump_0002"))
        import h5py

        changed, other = self.work / "changed/dump_0002", self.work / "changed-store"
        shutil.copytree(self.work / "run/dump_0002", changed)
        with h5py.File(changed / "state.0003.h5", "a") as file:
            file["id"][0] += 5
        (changed / "state.0004.h5").unlink()
        (changed / "new").write_bytes(b"new")
        fb.pack(changed, other)
        found = fb.diff(self.store, "dump_0002", "dump_0002", other_store=other)
        self.assertEqual([("new", "added"), ("state.0003.h5", "bytes"), ("state.0004.h5", "removed")],
                         [(one.name, one.change) for one in found])  # fmt: skip
        (variable,) = found[1].variables
        self.assertEqual(("/id", 1, 5.0, 0, 0), tuple(variable))
        self.assertRaises(fb.NotFound, fb.diff, self.store, "dump_0002", "none")

    def test_old_sets_are_pruned(self):
        store = self.work / "pruned"
        for step in range(3):
            fb.pack(self.work / f"run/dump_{step:04}", store)
        self.assertEqual(["dump_0000"], fb.prune(store, keep_last=2, dry_run=True).removed)
        self.assertEqual(["dump_0000"], fb.prune(store, keep_last=2).removed)
        self.assertEqual(["dump_0001", "dump_0002"], [one.name for one in fb.sets(store)])
        self.assertRaises(fb.InvalidArgument, fb.prune, store)

    def test_steps_that_are_added_are_followed(self):
        store = self.work / "growing"
        fb.pack(self.work / "run/dump_0000", store)
        adder = threading.Timer(0.3, fb.pack, (self.work / "run/dump_0001", store))
        adder.start()
        steps = []
        for step in fb.open(store).follow(timeout=30, interval=0.02):
            steps.append(step.set)
            if len(steps) == 2:
                break
        adder.join()
        self.assertEqual(["dump_0000", "dump_0001"], steps)
        self.assertEqual(2, len(list(fb.open(store).follow(timeout=0))))

    def test_pickles_open_the_same_again(self):
        run = self.open()
        self.assertEqual(run.sets, pickle.loads(pickle.dumps(run)).sets)
        array = pickle.loads(pickle.dumps(run[1]["Density"]))
        np.testing.assert_array_equal(density(1)[2], array[2])

    def test_threads_share_a_run(self):
        run = self.open()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            planes = list(pool.map(lambda i: run[i % 4]["Density"][i % 10], range(40)))
        for i, plane in enumerate(planes):
            np.testing.assert_array_equal(density(i % 4)[i % 10], plane)


if __name__ == "__main__":
    main()
