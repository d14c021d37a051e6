#!/usr/bin/env python3
# labels: slow s3
"""Large objects in parts, whole under faults, aborted when they fail; and TLS
that is verified.
"""

import os
import pathlib
import ssl
import subprocess
import sys

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore, error  # noqa: E402

SIZE = 33 * (1 << 20) + 5
PARTS = 6  # Even ones of 5 MiB and a little more.


def environment(endpoint, **more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))}
    return {**kept, "AWS_ACCESS_KEY_ID": rgw.KEY,
            "AWS_SECRET_ACCESS_KEY": rgw.SECRET,
            "AWS_ENDPOINT_URL_S3": endpoint,
            "LAKESTREAM_MULTIPART_BYTES": "5MiB",
            "LAKESTREAM_PART_BYTES": "5MiB", **more}


def copy(rude):
    program = pathlib.Path(os.environ["S3_PROGRAMS"]) / "parts_s3"
    return subprocess.run([program, str(SIZE), "s3://bucket/r"],
                          stdout=subprocess.PIPE, text=True, timeout=90,
                          env=environment(rude.endpoint)).stdout


def parts_are_sent_again_and_the_object_is_whole():
    for fault in (Fault("lost_reply", 0.3), Fault("reset", 0.3),
                  Fault("cut", 0.3, writes=False),
                  Fault("throttle", 0.3)):
        struck = fault.strikes
        # The last request of an upload makes the object appear: sent once.
        fault.strikes = lambda request, struck=struck: (
            not (request.method == "POST" and "uploadId" in request.query)
            and struck(request))
        with Rude(MemoryStore(), fault) as rude:
            said = copy(rude)
            assert said.endswith("ok\n"), said
            assert not (fault.what in ("reset", "cut") and fault.count == 0)
            assert rude.requests["PUT"] >= PARTS, rude.requests


def no_part_is_a_mere_tail():
    with Rude(MemoryStore()) as rude:
        said = copy(rude)
        assert said.endswith("ok\n"), said
        print(dict(rude.requests))
        assert rude.requests["PUT"] == PARTS, rude.requests
        assert rude.requests["POST"] == 2, rude.requests


def an_unsure_end_is_said_to_be_unsure_and_sent_once():
    ends = []
    fault = Fault("lost_reply")

    def strikes(request):
        if request.method == "POST" and "uploadId" in request.query:
            ends.append(request)
            return True
        return False

    fault.strikes = strikes
    with Rude(MemoryStore(), fault) as rude:
        said = copy(rude)
        assert "unsure: put s3://bucket/r/large" in said, said
        assert len(ends) == 1
        assert len(rude.backend.objects["r/large"][0]) == SIZE


def a_failed_upload_is_aborted():
    fault = Fault("say", seconds=error(403, "AccessDenied"))
    fault.strikes = lambda request: request.query.get("partNumber") == "3"
    with Rude(MemoryStore(), fault) as rude:
        said = copy(rude)
        assert "part 3: HTTP 403 AccessDenied" in said, said
        assert not rude.backend.objects and not rude.backend.uploads


def an_error_in_a_reply_that_began_well_is_an_error():
    fault = Fault("say", seconds=(200, {}, error(500, "InternalError")[2]))
    fault.strikes = lambda request: (request.method == "POST"
                                     and "uploadId" in request.query)
    with Rude(MemoryStore(), fault) as rude:
        said = copy(rude)
        assert said.startswith("unsure: "), said
        assert "HTTP 200 InternalError" in said, said


def a_certificate_is_verified():
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days",
         "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:"
         "localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    with Rude(MemoryStore()) as rude:
        rude.server.socket = context.wrap_socket(rude.server.socket,
                                                 server_side=True)
        port = rude.server.server_address[1]
        words = environment(f"https://localhost:{port}",
                            LAKESTREAM_RETRY_TIMEOUT_MS="300")
        result = lake.run("info", "s3://bucket/r", environment=words,
                          check=False)
        assert "certificate" in result.stderr, result.stderr
        trusted = {**words, "AWS_CA_BUNDLE": "cert.pem"}
        lake.run("probe", "s3://bucket/r", environment=trusted)
        by_number = {**trusted,
                     "AWS_ENDPOINT_URL_S3": f"https://127.0.0.1:{port}"}
        result = lake.run("info", "s3://bucket/r", environment=by_number,
                          check=False)
        assert result.returncode == 1
        assert "not sent" in result.stderr, result.stderr


def main():
    for test in (no_part_is_a_mere_tail,
                 parts_are_sent_again_and_the_object_is_whole,
                 an_unsure_end_is_said_to_be_unsure_and_sent_once,
                 a_failed_upload_is_aborted,
                 an_error_in_a_reply_that_began_well_is_an_error,
                 a_certificate_is_verified):
        test()
        print(f"ok {test.__name__}", flush=True)


main()
