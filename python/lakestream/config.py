"""Options as keywords, and handles that pickle as their configuration."""

import json
import math
import numbers
import operator
import os

from . import _core, errors

# Set by the binding itself, as it waits in turns.
STARVE = "starve_timeout_ms"

STEP_MAX = 2 ** 64 - 2


def option_rows():
    """The library's table of options: name, type, min, max, default, text."""
    return {row["name"]: row for row in map(json.loads, _core.options_table())}


_ROWS = option_rows()


def as_url(url):
    """A text, or a path."""
    url = os.fspath(url)
    if not isinstance(url, str):
        raise TypeError(f"a URL is a text or a path, not {url!r}")
    return url


def whole(name, value, least=0):
    """A whole number of any kind as an int."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: a whole number, not {value!r}") from None
    if not least <= number <= STEP_MAX:
        raise errors.Invalid(f"{name} is {number}; it is at least {least} and "
                             f"at most {STEP_MAX}")
    return number


def check_place(rank, dp, cp, step, group):
    """They may be None. Returns those that are numbers as such."""
    if group == "":
        raise errors.Invalid('group is ""; None is no group')
    return (None if value is None else whole(name, value, least)
            for name, value, least in (("rank", rank, 0), ("dp", dp, 1),
                                       ("cp", cp, 1), ("step", step, 0)))


def _as_ms(name, seconds):
    if isinstance(seconds, bool) or not isinstance(seconds, numbers.Real):
        raise TypeError(f"{name}: a number of seconds, not {seconds!r}")
    if not math.isfinite(seconds):
        raise errors.Invalid(f"{name}: {seconds} is no number of seconds")
    return math.ceil(seconds * 1000)


def _as_text(name, value):
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"{name}: a number or a text, not {value!r}")
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError(f"{name}: {value} is not a whole number")
        value = int(value)
    return str(value)


def to_options(keywords):
    """A dict of texts for the library. None is not set. `x_timeout=2.5` is in
    seconds and means `x_timeout_ms=2500`."""
    options = {}
    for name, value in keywords.items():
        if value is None:
            continue
        if name not in _ROWS and name + "_ms" in _ROWS:
            if keywords.get(name + "_ms") is not None:
                raise errors.Invalid(f"{name} and {name}_ms say the same: give "
                                     "one of them")
            name, value = name + "_ms", _as_ms(name, value)
        options[name] = _as_text(name, value)
    return options


def starve_timeout_ms(options):
    """Takes it out of `options`: argument, environment, default."""
    row = _ROWS[STARVE]
    text = options.pop(STARVE, None) or os.environ.get(
        "LAKESTREAM_" + STARVE.upper()) or row["default"]
    options[STARVE] = text
    if not str(text).isdigit():
        return int(row["default"])  # the library says what is wrong with it
    return int(text)


class Handle:
    """Opens at once when it is made, and at its first use when it comes from
    a pickle: so it does not touch the stream of a process that only passes it
    on. Used by one thread at a time."""

    _kind = "handle"

    def __init__(self, config):
        self._config = config
        self._opened = None
        self._closed = False

    def _open(self):
        raise NotImplementedError

    def _handle(self):
        if self._opened is None:
            if self._closed:
                raise errors.Invalid(f"the {self._kind} is closed")
            self._opened = self._open()
        return self._opened

    def _current_config(self):
        return self._config

    def __reduce__(self):
        return _from_config, (type(self), self._current_config())

    def close(self):
        """Closes it, in under a second. May be called twice, and by another
        thread: a call that waits then raises Cancelled."""
        opened = self._opened
        if opened is not None:
            self._close(opened)  # may be refused
        self._opened, self._closed = None, True

    def _close(self, opened):
        opened.close()

    def __enter__(self):
        self._handle()
        return self

    def __exit__(self, kind, value, traceback):
        self.close()


def _from_config(kind, config):
    handle = kind.__new__(kind)
    Handle.__init__(handle, config)
    handle._restored()
    return handle
