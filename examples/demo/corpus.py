"""Which files the demo packs: text that a Debian machine has, or a folder."""

import os
import pathlib

DEFAULT_BYTES = 48 << 20
# The names are arguments of a process, and those have an end.
NAMES_SIZE_MAX = 1 << 20
# pack takes these for token files, not for text.
TOKEN_FILES = (".bin", ".npy")

DEBIAN = [
    ("licences", "/usr/share/common-licenses", "*"),
    ("copyright notes", "/usr/share/doc", "*/copyright"),
    ("Python's library", "/usr/lib", "python3*/**/*.py"),
    ("C headers", "/usr/include", "**/*.h"),
    ("Perl's library", "/usr/share/perl", "**/*.pm"),
]


def is_plain(path):
    """A readable regular file that pack takes for text."""
    return (os.path.isfile(path) and os.access(path, os.R_OK)
            and path.suffix not in TOKEN_FILES)


def find(folder, pattern):
    """All but the folders below a folder in the order of their names, links
    resolved; no hidden ones."""
    folder = pathlib.Path(folder)
    for path in sorted(folder.glob(pattern)):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if not os.path.isdir(path):
            yield pathlib.Path(os.path.realpath(path))


class Corpus:
    """A list of files in a fixed order, each once, up to a number of bytes."""

    def __init__(self, size_max):
        self.size_max = size_max
        self.files = []
        self.sizes = []
        self.size = 0
        self.kinds = []
        self.is_cut = False
        self.left_out = 0
        self._names_size = 0
        self._known = set()

    def add(self, kind, paths):
        before = self.size
        for path in paths:
            if not is_plain(path):
                self.left_out += 1
                continue
            name = str(path)
            size = path.stat().st_size
            if name in self._known:
                continue
            if (self.size + size > self.size_max
                    or self._names_size + len(name) + 9 > NAMES_SIZE_MAX):
                self.is_cut = True
                continue
            self._known.add(name)
            self._names_size += len(name) + 9
            self.files.append(name)
            self.sizes.append(size)
            self.size += size
        if self.size > before:
            self.kinds.append(kind)

    def describe(self):
        text = (f"{len(self.files)} files, {self.size / 1e6:.1f} MB: "
                + ", ".join(self.kinds))
        if self.is_cut:
            text += " (not all of it)"
        return text + self.describe_left_out()

    def describe_left_out(self):
        if self.left_out == 0:
            return ""
        return (f"; left out {self.left_out} that cannot be read or hold "
                "tokens (.bin, .npy)")


def collect(folder=None, size_max=DEFAULT_BYTES):
    corpus = Corpus(size_max)
    if folder:
        if not os.path.exists(folder):
            raise FileNotFoundError(f"there is no folder {folder}")
        if not os.path.isdir(folder):
            raise NotADirectoryError(f"{folder} is no folder")
        corpus.add(str(folder), find(folder, "**/*"))
        return corpus
    for kind, root, pattern in DEBIAN:
        if corpus.size < size_max:
            corpus.add(kind, find(root, pattern))
    return corpus
