#!/usr/bin/env python3
"""Changes, cuts and lengthens objects: damage.py FOLDER OBJECT...

Each of these objects of the stream is damaged at several places. The second reader has to refuse every one. Without that, its agreeing with the
library would say little.
"""
import json
import pathlib
import sys

import reader

PLACES = 8  # tried in each object


class Damaged(reader.Stream):
    """A stream, one object of which reads as something else."""

    name = None
    data = b""

    def get(self, name):
        data = super().get(name)
        return self.data if name == self.name else data


def damages(data):
    step = max(1, len(data) // PLACES)
    for at in [*range(0, len(data), step), len(data) - 1]:
        yield data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:]
        yield data[:at]
    yield data + b"\0"


def is_refused(stream):
    try:
        for _ in stream.lines():
            pass
    except (reader.Refused, json.JSONDecodeError):
        return True
    return False


def main():
    stream = Damaged(pathlib.Path(sys.argv[1]))
    if is_refused(stream):
        sys.exit("refused before any damage was done")
    for stream.name in sys.argv[2:]:
        whole = (stream.folder / stream.name).read_bytes()
        for stream.data in damages(whole):
            if not is_refused(stream):
                sys.exit(f"{stream.name}: damage was not seen")
        print(f"{stream.name.split('/')[0]}: refused, however damaged")


if __name__ == "__main__":
    main()
