"""What goes wrong, as exceptions: one family, by what a caller may want to do about it."""

import difflib


class Error(Exception):
    """An error of Forebay. `str(error)` says what, where and what to do; the parts are attributes.

    Attributes:
        kind: "not_found", "corrupt", "io", ... as the command's JSON has it.
        path: the file concerned, or "".
        offset: the byte in that file, or None.
        hint: what can be done, or "".
    """

    def __init__(self, message, kind="internal", what="", path="", offset=None, hint=""):
        super().__init__(message)
        self.kind, self.what, self.path, self.offset, self.hint = kind, what or message, path, offset, hint

    def __reduce__(self):
        return type(self), (str(self.args[0]), self.kind, self.what, self.path, self.offset, self.hint)


class InvalidArgument(Error, ValueError):
    """The call makes no sense."""


class NotFound(Error, LookupError):
    """There is no such store, set, step, array or file. The hint has names that are near."""

    def __str__(self):  # a KeyError would quote it
        return str(self.args[0])


class Damaged(Error):
    """Stored bytes are not what was written."""


class Gone(Error):
    """The step was removed from the store, or a source changed while it was packed."""


class Limit(Error, MemoryError):
    """The memory that was given is too small."""


class Unsupported(Error):
    """Stored by a newer version, or in a way that this one does not read."""


class Exists(Error, FileExistsError):
    """A name that must be new is taken."""


class Failed(Error, OSError):
    """Anything else, such as an error of the system."""


_CLASSES = {
    "invalid_argument": InvalidArgument,
    "not_found": NotFound,
    "corrupt": Damaged,
    "changed": Gone,
    "limit": Limit,
    "unsupported": Unsupported,
    "exists": Exists,
    "permission": Failed,
    "io": Failed,
    "timeout": Failed,
    "disconnected": Failed,
    "no_space": Failed,
}


def make(kind, message, what, path, offset, hint):
    """The exception for an error of the extension module."""
    return _CLASSES.get(kind, Error)(message, kind, what, path, offset, hint)


def not_found(what, name, names, where):
    """For a name that is not among `names`: the hint has those that are near."""
    near = difflib.get_close_matches(str(name), names, 3)
    hint = "near: " + ", ".join(near) if near else ""
    message = f"{where}: there is no {what} '{name}'" + (f" ({hint})" if hint else "")
    return NotFound(message, "not_found", f"there is no {what} '{name}'", where, None, hint)
