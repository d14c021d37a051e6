#!/usr/bin/env python3
"""Writes the first inputs of each fuzz target: seed.py FOLDER

They are objects of the golden streams, behind the byte that a target takes
first, and texts of the kinds that the others read. tests/fuzz/corpus/ is what
a fuzzer made of them and kept.
"""
import pathlib
import struct
import sys
import tarfile

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
FLAGS = (b"\0", b"\1", b"\2", b"\3")


def objects():
    """{name: bytes} of all golden streams."""
    found = {}
    for path in sorted(GOLDEN.glob("v*/*.tar.gz")):
        with tarfile.open(path) as archive:
            for member in archive:
                if member.isfile():
                    found[member.name] = archive.extractfile(member).read()
    return found


def named(kind, found):
    """Some objects of the kind: the largest, the smallest, others between."""
    names = sorted((name for name in found if f"/{kind}" in name),
                   key=lambda name: len(found[name]))
    step = max(1, len(names) // 12)
    return [found[name] for name in [*names[::step], *names[-1:]]]


def field(number, content):
    """A length-delimited field of a message."""
    return bytes([number << 3 | 2, len(content)]) + content


def busy(manifest):
    """A manifest's control section ends it; so this adds to that: a ring, a
    group with a run, former ids and evicted ranks, and two pins."""
    run = field(1, b"run-2") + b"\x10\1\x18\4\x20\1" + field(5, b"\1\2")
    ring = field(1, b"none") + b"\x10\5\x18\2\x20\x64"
    group = field(1, b"train") + field(2, run) + field(3, b"run-1")
    return (manifest + field(3, ring) + field(4, group) +
            field(5, field(1, b"a") + b"\x10\1") + field(5, field(1, b"b")))


def frames(tgb, count=2):
    at = 0
    while tgb[at:at + 4] == b"LKSF" and count > 0:
        stored, = struct.unpack("<Q", tgb[at + 16:at + 24])
        end = at + (64 + stored + 63) // 64 * 64
        yield tgb[at:end]
        at, count = end, count - 1


def packed(frame):
    """A codec's input: flags, the size to unpack to, and the bytes."""
    codec, raw, stored = struct.unpack("<IQQ", frame[4:24])
    return (bytes([codec << 1]) + struct.pack(">I", raw)[1:] +
            frame[64:64 + stored])


def footer(tgb):
    size, = struct.unpack("<I", tgb[-32:-28])
    return tgb[-32 - size:]


def npy(header, data, version=1):
    start = b"\x93NUMPY" + bytes([version, 0])
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return start + size + header + data


def texts():
    shape = b"{'descr': '<u2', 'fortran_order': False, 'shape': (5,), }  \n"
    offset = (b'{"pack":1,"L":2048,"M":1,"cp":"even","type":"u16","labels":0,'
              b'"shard":"0/4","file":1,"at":345,"name":"0a0b0c0d","sum":'
              b'"00112233445566778899aabb","names":"0011223344556677",'
              b'"before":"00112233445566778899aabb"}')
    return {
        "state": [b'{"version": 1, "stream": '
                  b'"000102030405060708090a0b0c0d0e0f", "step": 1}'],
        "names": [b"manifest/00010203/fffffffffffff/ffe",
                  b"index/0000000000000001", b"data/prep-0/1-f0e0d0c0/0",
                  b"watermark/train/run-1/all", b"watermark/g/r-2/31"],
        "options": [b"\4" + b"64KiB", b"\3full", b"\xffcodec\0zstd",
                    b"\xffproducer_bytes\0" + b"18446744073709551615"],
        "url": [b"file:///a/b", b"mem://name", b"s3://bucket/pre/fix", b"a/b",
                b"s3://user@bucket/", b"ftp://host/x"],
        "bytes": [b"000102030405060708090a0b0c0d0e0f", b"18446744073709551615"],
        "s3_reply": [b"\0\1\xf7SlowDown", b"\2\1\x9cPreconditionFailed"],
        "s3_sign": [b"\2" + b"\0" * 5 + b"\x41\0\0/k%20y\0a=1&b=2\0us-east-1\0"
                    b"s3\0AKID\0secret\0host\0h\0x-amz-date\0d"],
        "s3_headers": [b"Content-Length: 12\0content-range: bytes 0-9/100\0"
                       b"Date: Sun, 29 Nov 2026 18:25:13 GMT\0ETag: \"a\"\0"
                       b"x-amz-request-id: 1\0x-amz-bucket-region: r\0"
                       b"Retry-After: 3\0Last-Modified: x"],
        "s3_xml": [b"<Error><Code>SlowDown</Code><Message>m &amp; n</Message>"
                   b"<RequestId>1</RequestId></Error>",
                   b'<?xml version="1.0"?><ListBucketResult xmlns="x">'
                   b"<IsTruncated>true</IsTruncated><Contents><Key>a%2Fb</Key>"
                   b"<LastModified>2026-11-29T18:25:13.123Z</LastModified>"
                   b"<Size>1</Size></Contents></ListBucketResult>",
                   b"<CompleteMultipartUploadResult><ETag>e</ETag>"
                   b"</CompleteMultipartUploadResult>"],
        "credentials": [b'\0{"AccessKeyId":"a","SecretAccessKey":"b","Token":'
                        b'"c","Code":"Success","Expiration":'
                        b'"2027-01-01T00:00:00Z"}',
                        b"\1default\0key\0# c\n[default]\nkey = value\n"
                        b"[profile x]\nkey=1\n"],
        "token_file": [b"\0" + npy(shape, bytes(10)),
                       b"\0" + npy(shape, bytes(10), 2), b"\2" + bytes(8),
                       b"\6" + bytes(8), b"\3text"],
        "pack_offset": [offset],
        "stream": [bytes([index, 0, place, 4, 1]) for index in range(16)
                   for place in (16, 70)],
    }


def seeds():
    found = objects()
    tgbs = named("data/", found)
    parts = [frame for tgb in tgbs for frame in frames(tgb)]
    all_seeds = {
        "manifest": [flag + data for data in named("manifest/", found)[::3]
                     for flag in FLAGS] + [
            b"\1" + busy(data) for data in named("manifest/", found)[::3]],
        "index": [flag + data for data in named("index/", found)
                  for flag in FLAGS],
        "frame": [flag + data for data in parts for flag in FLAGS[:2]],
        "footer": [flag + footer(data) for data in tgbs for flag in FLAGS[:2]],
        "descriptor": [flag + data for data in named("stream.json", found)
                       for flag in FLAGS[:2]] + [
            b"\1" + data.replace(b'"required":[', added + b'"required":[')
            for data in named("stream.json", found)[:1] for added in (
                b'"parent":{"url":"s3://bucket/a","stream":"' + b"0a" * 16 +
                b'"},', b'"x":[1,{"y":null}],', b'"created_ms":-1,')],
        "codec": [*map(packed, parts), b"\3\0\0\0some text some text",
                  b"\5\0\0\0some text some text"],
        "watermark": [b"\1watermark/g/r-1/0\0" + b'{"format":1,"stream":'
                      b'"000102030405060708090a0b0c0d0e0f","name":'
                      b'"watermark/g/r-1/0","step":7,"crc32c":"00000000"}\n'],
    }
    return {**all_seeds, **texts()}


def main():
    for target, inputs in seeds().items():
        folder = pathlib.Path(sys.argv[1]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(dict.fromkeys(inputs)):
            (folder / f"seed-{index:02}").write_bytes(data)


if __name__ == "__main__":
    main()
