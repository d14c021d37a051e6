"""What can go wrong, by what its catcher should do.

`Error` is the base of all. Those that Python has a name for are that as well:
a missing stream is a FileNotFoundError, a bad argument a ValueError.
"""


class Error(Exception):
    """The base of the library's errors."""


class Fenced(Error):
    """Somebody else took over this id: stop for good."""


class Reclaimed(Error):
    """The step was deleted: start at the first live one, which is named."""


class Ended(Error):
    """The stream has ended."""


class Corrupt(Error):
    """Stored bytes are not what was written."""


class Unsupported(Error):
    """A newer format, a store that lacks a promise, or data that cannot be
    read as asked for."""


class Cancelled(Error):
    """The handle was closed by another thread during the call, or whoever
    waits for the result is gone."""


class TimedOut(Error, TimeoutError):
    """It did not happen in time; it may yet."""


class Starved(TimedOut):
    """No step came within starve_timeout: says which, and since when."""


class StoreError(Error, OSError):
    """The store did not serve us, retries included."""


class Denied(StoreError, PermissionError):
    """The store refuses our credentials."""


class NotFound(Error, FileNotFoundError):
    """No such stream, step or object."""


class Exists(Error, FileExistsError):
    """It is there already, and was not touched."""


class Invalid(Error, ValueError):
    """An argument, option or mesh is wrong."""


# enum lks_status; the values are pinned. Memory is the extension's own affair.
BY_STATUS = {
    0: Error,
    1: Ended,
    2: TimedOut,
    3: Fenced,
    4: NotFound,
    5: Exists,
    6: Reclaimed,
    7: StoreError,
    8: Corrupt,
    9: Unsupported,
    10: Denied,
    11: Invalid,
    13: Cancelled,
}


def from_status(status, message):
    """The exception for a status of the C library."""
    return BY_STATUS.get(status, Error)(message)


def from_wait(status, message):
    """The same for a consumer that waited for its next step."""
    return Starved(message) if status == 2 else from_status(status, message)
