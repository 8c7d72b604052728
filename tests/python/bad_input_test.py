#!/usr/bin/env python3
"""What is wrong gives an exception that says what, where and what to do; nothing crashes."""

import multiprocessing
import pickle
import shutil

import numpy as np
from support import LAYOUT, StoreTest, main

import forebay as fb


def use_after_fork(run, array, answer):
    for what in (run.refresh, lambda: array[0]):
        try:
            what()
            answer.put("no exception")
        except fb.Error as error:
            answer.put(str(error))


class BadInput(StoreTest):
    def assert_error(self, kind, words, call, *arguments, **named):
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, str(caught.exception))
        return caught.exception

    def test_names_that_are_not_there_have_near_ones(self):
        run = self.open()
        error = self.assert_error(fb.NotFound, "near: Density", lambda: run[0]["Densty"])
        self.assertIsInstance(error, LookupError)
        self.assert_error(fb.NotFound, "dump_0003", lambda: run["dump_003"])
        self.assert_error(fb.NotFound, "state.0001.h5", run[0].file, "state.001.h5")
        self.assert_error(IndexError, "step 4 of a run of 4", lambda: run[4])
        self.assertNotIn(5, run[0])

    def test_there_is_no_such_store(self):
        error = self.assert_error(fb.NotFound, "nowhere", fb.open, self.work / "nowhere")
        self.assertEqual("not_found", error.kind)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(error), str(error), error.path), (type(again), str(again), again.path))
        self.assert_error(fb.NotFound, "", fb.sets, self.work / "nowhere")
        self.assert_error(fb.NotFound, "", fb.verify, self.store, "dump_9999")
        self.assertRaises(TypeError, fb.open, 7)

    def test_selections_outside_of_the_array(self):
        array = self.open()[0]["Density"]
        self.assert_error(IndexError, "outside", lambda: array[10])
        self.assert_error(IndexError, "4 indices", lambda: array[0, 0, 0, 0])
        self.assert_error(IndexError, "not by float", lambda: array[1.5])
        self.assert_error(IndexError, "points()", lambda: array[[1, 2]])
        self.assert_error(IndexError, "truth", lambda: array[True])
        self.assert_error(fb.InvalidArgument, "'...'", lambda: array[..., ...])
        self.assert_error(fb.InvalidArgument, "3 integers", array.points, [[1, 2]])
        self.assert_error(fb.InvalidArgument, "outside", array.points, [[-11, 0, 0]])
        self.assert_error(fb.InvalidArgument, "", array.points, [[10, 0, 0]])

    def test_buffers_that_do_not_fit(self):
        array = self.open()[0]["Density"]
        for out in (np.empty(3), np.empty((10, 12, 14), np.float32), [0]):
            self.assert_error(fb.InvalidArgument, "(10, 12, 14)", array.read_into, out)
        frozen = np.empty((10, 12, 14))
        frozen.flags.writeable = False
        self.assertRaises((ValueError, BufferError), array.read_into, frozen)

    def test_queries_that_make_no_sense(self):
        run = self.open()
        self.assert_error(fb.InvalidArgument, "character", run.query, "Density >")
        self.assert_error(fb.NotFound, "", run.query, "Nothing > 1")
        self.assertRaises(TypeError, run.query, 3)

    def test_a_local_array_has_no_box(self):
        step = self.open()[0]
        self.assert_error(fb.InvalidArgument, "use local()", lambda: step["id"][:])

    def test_layouts_that_make_no_sense(self):
        self.assert_error(fb.InvalidArgument, "", self.open, layout="[[array]]\nnme = 3\n")

    def test_packing_what_is_wrong(self):
        self.assert_error(fb.Exists, "dump_0000", fb.pack, self.work / "run/dump_0000", self.store)
        self.assert_error(fb.NotFound, "", fb.pack, self.work / "nothing", self.store)
        self.assert_error(fb.InvalidArgument, "", fb.pack, self.work / "run/dump_0000", self.store, profile="quick")
        self.assert_error(fb.InvalidArgument, "", fb.pack, self.work / "run/dump_0000", self.store, series="a b")
        (self.work / "there").mkdir()
        (self.work / "there/state.0000.h5").touch()
        self.assert_error(fb.Exists, "state.0000.h5", fb.restore, self.store, self.work / "there")

    def test_an_exception_of_progress_is_raised(self):
        def progress(done, total):
            raise KeyboardInterrupt

        target = self.work / "interrupted"
        for call in (
            lambda: fb.verify(self.store, "dump_0000", progress=progress),
            lambda: fb.restore(self.store, target, name="dump_0000", progress=progress),
            lambda: fb.pack(self.work / "run/dump_0000", self.work / "packed", progress=progress),
        ):
            self.assertRaises(KeyboardInterrupt, call)

    def test_damage_is_found(self):
        store = self.work / "damaged"
        shutil.copytree(self.store, store)
        (container,) = (store / "sets/dump_0001").glob("*.fbc")
        content = bytearray(container.read_bytes())
        for i in range(len(content) // 4, len(content) // 2, 97):
            content[i] ^= 255
        container.chmod(0o600)
        container.write_bytes(content)
        run = fb.open(store, layout=LAYOUT)
        self.assertEqual(4, len(run))
        self.assertRaises(fb.Error, lambda: run[1]["Density"][...])
        self.assertRaises(fb.Error, fb.verify, store, "dump_0001", check=True)
        values = run.series("Density", (0, 0, 0), missing="nan")
        self.assertTrue(np.isnan(values[1]) and not np.isnan(values[[0, 2, 3]]).any())

    def test_a_fork_cannot_use_what_was_opened(self):
        run = self.open()
        context = multiprocessing.get_context("fork")
        answer = context.Queue()
        process = context.Process(target=use_after_fork, args=(run, run[0]["Density"], answer))
        process.start()
        for _ in range(2):
            self.assertIn("fork", answer.get(timeout=30))
        process.join(30)
        self.assertEqual(0, process.exitcode)


if __name__ == "__main__":
    main()
