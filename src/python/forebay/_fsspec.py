"""fsspec's protocol "forebay": original files of sets, decoded when they are read: forebay:///scratch/store/DD0042/rank3.h5."""

from __future__ import annotations

import os
from typing import Any

import fsspec

from ._errors import NotFound
from ._array import StoredFile
from . import _forebay


class ForebayFileSystem(fsspec.AbstractFileSystem):
    """Stores as directories of sets, and these as directories of their original files. Nothing can be written.

    A path is that of a store, then the name of a set, then that of a file in it. FileNotFoundError: there is none.
    """

    protocol = "forebay"
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        text = os.fspath(path)
        text = text[len("forebay://") :] if text.startswith("forebay://") else text
        return text.rstrip("/") or "/"

    @staticmethod
    def _parts(path: str) -> tuple[str, str, str]:
        """The store, the set's name and the file's; the last two may be empty."""
        parts = path.split("/")
        for end in range(len(parts), 0, -1):
            store = "/".join(parts[:end]) or "/"
            if os.path.isfile(os.path.join(store, "forebay-store")):
                return store, "".join(parts[end : end + 1]), "/".join(parts[end + 1 :])
        raise FileNotFoundError(f"{path}: there is no store on this path")

    def _files(self, store: str, name: str) -> tuple[Any, dict[str, tuple[int, int, int]]]:
        """The open set, and number, kind and size of its files and directories."""
        try:
            opened = _forebay.open_files(store, name)
        except NotFound as error:
            raise FileNotFoundError(str(error)) from error
        rows = enumerate(opened.list())
        return opened, {os.fsdecode(file): (number, kind, size) for number, (file, kind, size, _) in rows}

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        path = self._strip_protocol(path)
        store, name, inner = self._parts(path)
        rows: dict[str, dict[str, Any]] = {}
        if not name:
            for one in _forebay.sets(store):
                rows[one[0]] = {"type": "directory", "size": one[4] or 0}
        else:
            _, files = self._files(store, name)
            prefix = inner + "/" if inner else ""
            if inner in files and files[inner][1] == 0:
                rows[""] = {"type": "file", "size": files[inner][2]}
            for file, (_, kind, size) in files.items():
                if not file.startswith(prefix) or file == inner:
                    continue
                rest = file[len(prefix) :]
                is_file = "/" not in rest and kind == 0
                rows[rest.split("/")[0]] = {"type": "file" if is_file else "directory", "size": size if is_file else 0}
            if inner and not rows and inner not in files:
                raise FileNotFoundError(f"{path}: the set has no such file")
        found = [{"name": f"{path}/{key}" if key else path, **row} for key, row in sorted(rows.items())]
        return found if detail else [row["name"] for row in found]

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        _, name, inner = self._parts(path)
        if not name or not inner:
            self.ls(path)  # raises where there is none
            return {"name": path, "type": "directory", "size": 0}
        rows = self.ls(path)
        if len(rows) == 1 and rows[0]["name"] == path:
            return dict(rows[0])
        return {"name": path, "type": "directory", "size": 0}

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> StoredFile:
        if mode != "rb":
            raise NotImplementedError("sets are not written by fsspec: use pack()")
        store, name, inner = self._parts(self._strip_protocol(path))
        opened, files = self._files(store, name)
        if inner not in files or files[inner][1] != 0:
            raise FileNotFoundError(f"{path}: the set has no such file")
        number, _, size = files[inner]
        return StoredFile(opened, number, size, inner)
