"""Forebay's C interface (include/forebay/forebay.h) for the tests: a rank is an object."""

import ctypes
from pathlib import Path

OK, ARGUMENT, FAILED, TIMEOUT = range(4)
NO_JOB, NO_AGENT, NONE, OTHER_RANKS, SKIPPED, SET_FAILED, CACHED = range(16, 23)
NAMES = {code: name for name, code in list(globals().items()) if isinstance(code, int)}


class CallFailed(Exception):
    def __init__(self, call, code, message):
        super().__init__(f"forebay_{call}: {NAMES[code]}: {message}")
        self.code, self.message = code, message


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        text, number, pointer = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
        buffer = [pointer, text, ctypes.c_char_p, ctypes.c_size_t]
        for name, types in {
                "connect": [text, ctypes.c_int, ctypes.c_int, ctypes.POINTER(pointer)],
                "disconnect": [pointer],
                "begin": [pointer, text, number, number],
                "path": buffer,
                "complete": [pointer],
                "wait": [pointer, text, number],
                "restart": [pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(number), number],
                "restart_path": buffer}.items():
            getattr(self._library, f"forebay_{name}").argtypes = types
        self._library.forebay_disconnect.restype = None
        self._library.forebay_message.restype = text

    def code(self, name, *arguments):
        return getattr(self._library, f"forebay_{name}")(*arguments)

    def call(self, name, *arguments):
        code = self.code(name, *arguments)
        if code != OK:
            raise CallFailed(name, code, self._library.forebay_message().decode(errors="replace"))


class Rank:
    """One rank of a job: its connection to the agent of `stage`."""

    def __init__(self, library, stage, rank, ranks):
        self._library, self.rank = library, rank
        self._client = ctypes.c_void_p()
        library.call("connect", str(stage).encode(), rank, ranks, ctypes.byref(self._client))

    def close(self):
        self._library.code("disconnect", self._client)
        self._client = ctypes.c_void_p()

    def _path(self, call, name):
        path = ctypes.create_string_buffer(4096)
        self._library.call(call, self._client, name.encode(), path, len(path))
        return Path(path.value.decode())

    def begin(self, name, step, timeout_ms=20_000):
        self._library.call("begin", self._client, name.encode(), step, timeout_ms)

    def path(self, name):
        return self._path("path", name)

    def complete(self):
        self._library.call("complete", self._client)

    def wait(self, name, timeout_ms):
        """The code: OK, TIMEOUT, SKIPPED, SET_FAILED or NO_AGENT."""
        return self._library.code("wait", self._client, name.encode(), timeout_ms)

    def restart(self, timeout_ms=30_000):
        """(set, step), or None if there is nothing to restart from."""
        name, step = ctypes.create_string_buffer(256), ctypes.c_int64()
        try:
            self._library.call("restart", self._client, name, len(name), ctypes.byref(step), timeout_ms)
        except CallFailed as failed:
            if failed.code == NONE:
                return None
            raise
        return name.value.decode(), step.value

    def restart_path(self, name):
        return self._path("restart_path", name)
