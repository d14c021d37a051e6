#!/usr/bin/env python3
"""A second reader of Lakestream's format: reader.py FOLDER

Written from docs/format.md alone, and takes the messages from there, so that
page and library cannot be wrong in the same way. It reads the folder of a
stream from end to end, checks all that the page says a reader must, and prints
for each live step: step, producer, epoch, seq, size, version, form of the
slice table, codecs, and for each cp rank the SHA-256 of its slices, joined in
the order of dp; for each group, the step that it still needs. Anything wrong
ends it with a line and exit status 1.
"""
import hashlib
import json
import pathlib
import re
import struct
import sys

import lz4.block
import zstandard

FORMAT_PAGE = pathlib.Path(__file__).parents[2] / "docs" / "format.md"
ID = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,64}")
TEXT = re.compile(rb"[ -~]*")
WIRE_TYPES = {"fixed32": 5, "string": 2, "bytes": 2, "uint32": 0, "uint64": 0,
              "int64": 0, "bool": 0}
FIELD_COUNT_MAX = 262144


class Refused(Exception):
    pass


def check(holds, what):
    if not holds:
        raise Refused(what)


def crc_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
        yield value


CRC_TABLE = tuple(crc_table())


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xffffffff


# ------------------------------------------------- section 10: messages --


def messages_of(page):
    page = page.read_text()
    return {name: {int(number): (field, kind, bool(repeated))
                   for repeated, kind, field, number in re.findall(
                       r"^ +(repeated )?(\w+) (\w+) = (\d+);", body, re.M)}
            for name, body in re.findall(r"^message (\w+) {\n(.*?)^}", page,
                                         re.M | re.S)}


MESSAGES = messages_of(FORMAT_PAGE)


def take(data, at, size):
    check(at + size <= len(data), "a message is cut short")
    return data[at:at + size], at + size


def varint(data, at):
    value = 0
    for shift in range(0, 70, 7):
        (byte,), at = take(data, at, 1)
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (1 << 64) - 1, at
    raise Refused("a number is too long")


def fields_of(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 2:
            size, at = varint(data, at)
            value, at = take(data, at, size)
        else:
            check(wire in (1, 5), "a field has an unknown wire type")
            value, at = take(data, at, 8 if wire == 1 else 4)
        check(key >> 3 > 0, "a field has the number 0")
        yield key >> 3, wire, value


def value_of(kind, value, count):
    if kind in MESSAGES:
        return decode(kind, value, count)
    if kind == "string":
        check(TEXT.fullmatch(value), "a text is not printable ASCII")
        return value.decode()
    if kind == "fixed32":
        return struct.unpack("<I", value)[0]
    if kind == "int64":
        return value - (value >> 63 << 64)
    return {"bool": bool, "uint32": lambda n: n & 0xffffffff}.get(
        kind, lambda same: same)(value)


def decode(name, data, count=None):
    """A message as a dict; `count` is of the fields seen so far, in a list."""
    count = count or [0]
    message = {field: [] if repeated else None if kind in MESSAGES else
               {"string": "", "bytes": b"", "bool": False}.get(kind, 0)
               for field, kind, repeated in MESSAGES[name].values()}
    for number, wire, value in fields_of(data):
        count[0] += 1
        check(count[0] <= FIELD_COUNT_MAX, "too many fields")
        field, kind, repeated = MESSAGES[name].get(number, (None, None, None))
        wanted = WIRE_TYPES.get(kind, 2)
        if field and repeated and wanted == 0 and wire == 2:  # packed
            at = 0
            while at < len(value):
                one, at = varint(value, at)
                message[field].append(value_of(kind, one, count))
        elif field:
            check(wire == wanted, f"{name}.{field} has another wire type")
            value = value_of(kind, value, count)
            message[field] = message[field] + [value] if repeated else value
    unknown = message.get("required")
    check(not unknown, f"needs features unknown here: {unknown}")
    return message


# ---------------------------------- sections 3 and 5: descriptor, sections --


def check_format(number):
    check(number <= 1, f"has the newer format {number}")
    check(number == 1, "has the format 0")


def object_without_twins(pairs):
    check(len(dict(pairs)) == len(pairs), "a key comes twice")
    return dict(pairs)


def read_json(data, size_max):
    """A descriptor or a watermark: JSON that ends with a checksum."""
    check(len(data) <= size_max, "is too large")
    end = re.fullmatch(rb',"crc32c":"([0-9a-f]{8})"}\n', data[-22:])
    check(end, "does not end with a checksum")
    check(int(end[1], 16) == crc32c(data[:-22]), "CRC")
    found = json.loads(data, object_pairs_hook=object_without_twins)
    check_format(found["format"])
    return found


def read_descriptor(data):
    descriptor = read_json(data, 65536)
    check(descriptor["required"] == [], "needs features unknown here")
    check(re.fullmatch("[0-9a-f]{32}", descriptor["stream"]), "stream id")
    check(all(type(descriptor[key]) is int and 0 <= descriptor[key] < 1 << 63
              for key in ("dp", "cp", "producers", "first_step",
                          "max_live_steps", "max_live_bytes")), "a number")
    check(0 < descriptor["dp"] * descriptor["cp"] <= 65536, "mesh")
    return descriptor


def read_sections(data, magic, kind, stream, number):
    check(64 <= len(data) <= 4 << 20, "size")
    (found_magic, version, head_size, head_crc, control_size, control_crc,
     found_stream, found_number, zero, crc) = struct.unpack(
         "<8s5I16sQ8sI", data[:64])
    check(found_magic == magic, "magic number")
    check(crc == crc32c(data[:60]), "CRC of the header")
    check_format(version)
    check(zero == bytes(8), "the header's zeroes")
    check(found_stream == stream, "belongs to another stream")
    check(found_number == number, "has another number")
    check(len(data) == 64 + head_size + control_size, "size")
    head, control = data[64:64 + head_size], data[64 + head_size:]
    check(crc32c(head) == head_crc, "CRC of the head section")
    check(crc32c(control) == control_crc, "CRC of the control section")
    return decode(kind + "Head", head), decode(kind + "Control", control)


# ----------------------------- sections 6 to 8: manifests and index blocks --


def check_table(lengths, size):
    check(all(64 <= n <= 1 << 31 and n % 64 == 0 for n in lengths), "lengths")
    check(sum(lengths) == size, "the lengths do not add up")


def check_entries(entries, writers, slice_count, version_max):
    check(len(entries) <= 256 and len(writers) <= 256, "too many entries")
    version = 1
    for before, entry in zip([None] + entries, entries):
        check(entry["writer"] < len(writers), "an entry's writer")
        check(version <= entry["version"] <= version_max, "versions")
        version = entry["version"]
        check(not before or before["total"] + entry["size"] == entry["total"],
              "totals")
        check(not (entry["uniform"] and entry["frames"]), "two tables")
        check(len(entry["frames"]) in (0, slice_count), "an entry's table")
        check(len(entry["frames"]) <= 8, "an entry's table is too large")
        check(32 < entry["footer_size"] <= 2 << 20, "an entry's footer size")
        table = [entry["uniform"]] * slice_count if entry["uniform"] else \
            entry["frames"]
        if table:
            check_table(table, entry["size"] - entry["footer_size"])
        entry.update(table=table, writer=writers[entry["writer"]])
    for writer in writers:
        check(ID.fullmatch(writer["producer"]), "a writer's id")


def check_producers(producers):
    ids = [producer["id"] for producer in producers]
    check(ids == sorted(set(ids)) and len(ids) <= 4096, "order of producers")
    for producer in producers:
        check(ID.fullmatch(producer["id"]), "a producer's id")
        check(len(producer["owner"]) == 16, "a producer's owner")
        check(len(producer["offset"]) <= 256, "a producer's offset")
        check(len(producer["host"]) <= 63, "a producer's host")


def check_manifest(head, control, version, descriptor):
    check(version > 0, "version 0 is never stored")
    first, live, next_step = (head["first_step"], head["first_live_step"],
                              head["next_step"])
    check(first == descriptor["first_step"], "first step")
    check(first <= live <= next_step < 1 << 63, "order of steps")
    check(head["claimed"] <= next_step, "claimed")
    check(head["total_bytes"] >= max(head["reclaimed_bytes"],
                                     head["claimed_bytes"]), "byte totals")
    check(head["ended_at"] == (next_step if head["ended"] else 0), "the end")
    tail = head["tail"]
    last = next_step - 1 if tail else next_step
    head["tail_from"] = max(first, last // 256 * 256)
    check(head["tail_from"] + len(tail) == next_step, "length of the tail")
    check(not tail or tail[-1]["total"] == head["total_bytes"], "total")
    check_entries(tail, head["writers"],
                  descriptor["dp"] * descriptor["cp"], version)
    check_producers(control["producers"])
    for key, limit in (("groups", 256), ("pins", 1024)):
        names = [item["name"] for item in control[key]]
        check(names == sorted(set(names)) and len(names) <= limit, key)
        check(all(map(ID.fullmatch, names)), f"a name of {key}")


# -------------------------------------------------------- section 4: TGBs --


def unpack(codec, payload, raw_size):
    check(codec in (0, 1, 2), f"codec {codec} is newer")
    try:
        if codec == 1:
            payload = lz4.block.decompress(payload, raw_size)
        elif codec == 2:
            inflater = zstandard.ZstdDecompressor().decompressobj()
            payload, unused = inflater.decompress(payload), inflater.unused_data
            check(inflater.eof and not unused, "zstd frame")
    except (lz4.block.LZ4BlockError, zstandard.ZstdError) as error:
        raise Refused(f"does not unpack: {error}") from error
    check(len(payload) == raw_size, "unpacks to another size")
    return payload


def read_frame(data, index, seq):
    (magic, codec, raw_size, stored_size, found_index, payload_crc, found_seq,
     zero, crc) = struct.unpack("<4sIQQIIQ20sI", data[:64])
    check(magic == b"LKSF" and crc == crc32c(data[:60]), "header of a frame")
    check(zero == bytes(20), "zeroes of a frame")
    check(found_index == index and found_seq == seq, "a frame is another's")
    check(raw_size <= 1 << 30, "raw size")
    check(stored_size <= raw_size + raw_size // 128 + 128, "stored size")
    check(codec != 0 or stored_size == raw_size, "stored size")
    check(len(data) == (64 + stored_size + 63) // 64 * 64, "a frame's length")
    payload, padding = data[64:64 + stored_size], data[64 + stored_size:]
    check(crc32c(payload) == payload_crc, "CRC of a payload")
    check(padding == bytes(len(padding)), "padding")
    return unpack(codec, payload, raw_size), codec


def read_footer(data):
    check(len(data) >= 32, "is too small")
    size, crc, object_size, version, magic, own_crc = struct.unpack(
        "<IIQI8sI", data[-32:])
    check(magic == b"LKSTGBF\0", "magic number of the trailer")
    check(own_crc == crc32c(data[-32:-4]), "CRC of the trailer")
    check_format(version)
    check(object_size == len(data), "size in the trailer")
    check(size + 32 <= min(len(data), 2 << 20), "size of the footer")
    message = data[-32 - size:-32]
    check(crc == crc32c(message), "CRC of the footer")
    return decode("Footer", message), size + 32


def read_tgb(data, entry, descriptor):
    """The slices, and what to say of the step."""
    footer, footer_size = read_footer(data)
    writer, count = entry["writer"], descriptor["dp"] * descriptor["cp"]
    check(len(data) == entry["size"], "size in the entry")
    check(footer_size == entry["footer_size"], "footer size in the entry")
    check(crc32c(data[-footer_size:]) == entry["footer_crc"], "footer_crc")
    check(footer["stream"].hex() == descriptor["stream"], "stream")
    check((footer["dp"], footer["cp"]) == (descriptor["dp"], descriptor["cp"]),
          "mesh")
    check((footer["producer"], footer["epoch"], footer["seq"],
           footer["raw_max"]) == (writer["producer"], writer["epoch"],
                                  entry["seq"], entry["raw_max"]),
          "is another TGB than the entry says")
    check(len(footer["owner"]) == 16 and footer["owner"][:4] ==
          struct.pack(">I", writer["owner_tag"]), "owner")
    check(max(len(footer["offset_before"]), len(footer["offset_after"])) <= 256
          and len(footer["meta"]) <= 65536, "offset or metadata")
    check(bool(footer["uniform"]) != bool(footer["frames"]), "table")
    table = footer["frames"] or [footer["uniform"]] * count
    check(len(table) == count, "table")
    check_table(table, len(data) - footer_size)
    check(entry["table"] in ([], table), "the entry has another table")
    slices, codecs, at = [], set(), 0
    for index, length in enumerate(table):
        raw, codec = read_frame(data[at:at + length], index, entry["seq"])
        slices.append(raw)
        codecs.add(("none", "lz4", "zstd")[codec])
        at += length
    check(footer["raw_max"] == (max(map(len, slices)) if codecs != {"none"}
                                else 0), "raw_max")
    return footer, slices, "+".join(sorted(codecs))


# --------------------------------------------- section 13: the whole stream --


class Stream:
    def __init__(self, folder):
        self.folder = folder
        self.object = ""

    def get(self, name):
        self.object = name
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            raise Refused("is missing") from None

    def manifest_names(self, stream):
        root = f"manifest/{stream.hex()[:8]}"
        names = (path.relative_to(self.folder).as_posix()
                 for path in self.folder.glob(f"{root}/*/*"))
        return sorted(name for name in names if re.fullmatch(
            root + "/[0-9a-f]{13}/[0-9a-f]{3}", name))

    def manifests(self, descriptor, stream):
        """The newest first; each one that is there is checked."""
        for name in self.manifest_names(stream):
            version = (1 << 64) - 1 - int("".join(name.split("/")[2:]), 16)
            head, control = read_sections(self.get(name), b"LKSMANI\0",
                                          "Manifest", stream, version)
            check_manifest(head, control, version, descriptor)
            yield version, head, control

    def entries(self, version, head, descriptor, stream):
        """(step, entry) of each live step, and of the rest of its block."""
        step = head["first_live_step"]
        for block in range(step // 256, head["tail_from"] // 256):
            index, control = read_sections(
                self.get(f"index/{block:016x}"), b"LKSINDX\0", "Index", stream,
                block)
            first = max(descriptor["first_step"], 256 * block)
            check(first + len(index["entries"]) == 256 * (block + 1),
                  "number of entries")
            check_entries(index["entries"], index["writers"],
                          descriptor["dp"] * descriptor["cp"], version)
            check_producers(control["producers"])
            yield from enumerate(index["entries"], first)
        yield from enumerate(head["tail"], head["tail_from"])

    def claim(self, group, stream):
        """The oldest step that a rank of the group may still replay."""
        run, marks = group["run"], {}
        folder = f"watermark/{group['name']}/{run['id']}-{run['attempt']}"
        for path in sorted(self.folder.glob(folder + "/*")):
            name = f"{folder}/{path.name}"
            mark = read_json(self.get(name), 1024)
            check(mark["stream"] == stream.hex() and mark["name"] == name,
                  "is another's")
            marks[path.name] = mark["step"]
        return min((max(run["floor"], marks.get(str(rank), 0),
                        marks.get("all", 0)) for rank in range(run["ranks"])
                    if rank not in run["evicted"]), default=run["floor"])

    def lines(self):
        descriptor = read_descriptor(self.get("stream.json"))
        stream = bytes.fromhex(descriptor["stream"])
        manifests = list(self.manifests(descriptor, stream))
        if not manifests:
            yield f"end {descriptor['first_step']} open"
            return
        version, head, control = manifests[0]
        check(not head["dropped"], "the stream was dropped")
        total, last = head["reclaimed_bytes"], {}
        for step, entry in self.entries(version, head, descriptor, stream):
            if step < head["first_live_step"]:
                continue
            writer = entry["writer"]
            producer = writer["producer"]
            footer, slices, codecs = read_tgb(self.get(
                f"data/{producer}/{writer['epoch']}-{writer['owner_tag']:08x}"
                f"/{entry['seq']}"), entry, descriptor)
            total += entry["size"]
            check(entry["total"] == total, "total of the entry")
            before = last.get(producer)
            check(not before or (before["seq"] + 1, before["offset_after"]) ==
                  (footer["seq"], footer["offset_before"]), "seq or offset")
            last[producer] = footer
            cp = descriptor["cp"]
            form = "uniform" if entry["uniform"] else \
                "inline" if entry["frames"] else "footer"
            yield " ".join([
                f"{step} {producer} {footer['epoch']} {footer['seq']}",
                f"{entry['size']} {entry['version']} {form} {codecs}",
                *(hashlib.sha256(b"".join(slices[rank::cp])).hexdigest()
                  for rank in range(cp))])
        self.object = "the newest manifest"
        for producer in control["producers"]:
            footer = last.get(producer["id"])
            check(not footer or (footer["seq"] + 1, footer["offset_after"]) ==
                  (producer["next_seq"], producer["offset"]), "next_seq")
        check(total == head["total_bytes"], "total_bytes")
        for group in control["groups"]:
            yield f"group {group['name']} {self.claim(group, stream)}"
        yield f"end {head['next_step']} {'ended' if head['ended'] else 'open'}"


def main():
    stream = Stream(pathlib.Path(sys.argv[1]))
    try:
        for line in stream.lines():
            print(line)
    except Refused as refusal:
        sys.exit(f"reader: {stream.object}: {refusal}")


if __name__ == "__main__":
    main()
