#!/usr/bin/env python3
# labels: slow s3
"""Who we are, and when: keys from each source in the standard order, keys that
expire all the time, a token service that throttles, clocks that are an hour
off, a bucket in another region. And nothing secret in what is printed.
"""

import datetime
import http.server
import json
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
from loopback import Loopback  # noqa: E402
from rude import Fault, Rude  # noqa: E402
from rude_store import MemoryStore, error  # noqa: E402

URL = "s3://bucket/run"
LIFE_SECONDS = 5


class Keeper(http.server.BaseHTTPRequestHandler):
    """Hands out keys as a container's address, a machine's metadata service
    and a token service do."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, kind="application/json"):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def issue(self):
        keys = self.server.keys
        keys.issued += 1
        access = f"access{keys.issued}"
        secret, token = f"SECRET{keys.issued}", f"TOKEN{keys.issued}/+="
        end = time.time() + keys.life
        keys.store.keys[access] = (secret, token, end)
        stamp = datetime.datetime.fromtimestamp(end, datetime.timezone.utc)
        return access, secret, token, stamp.strftime("%Y-%m-%dT%H:%M:%SZ")

    def answer(self):
        keys = self.server.keys
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with keys.lock:
            keys.asked += 1
            if keys.throttle > 0:
                keys.throttle -= 1
                return self.send(429, "slow down")
            if self.path == "/latest/api/token":
                assert self.command == "PUT"
                return self.send(200, "SESSION")
            if self.path.startswith("/latest/"):
                assert self.headers["x-aws-ec2-metadata-token"] == "SESSION"
                if self.path.endswith("/"):
                    return self.send(200, "role-name")
            if self.path == "/keys":
                assert self.headers["authorization"] == "Bearer CONTAINER"
            if self.path == "/sts":
                assert b"WebIdentityToken=IDENTITY" in body, body
                words = self.issue()
                return self.send(200, (
                    "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWeb"
                    "IdentityResult><Credentials><AccessKeyId>%s</AccessKeyId>"
                    "<SecretAccessKey>%s</SecretAccessKey><SessionToken>%s"
                    "</SessionToken><Expiration>%s</Expiration></Credentials>"
                    "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWeb"
                    "IdentityResponse>") % words, "text/xml")
            words = self.issue()
            return self.send(200, json.dumps(dict(zip(
                ("AccessKeyId", "SecretAccessKey", "Token", "Expiration"),
                words))))

    do_GET = do_PUT = do_POST = answer


class Keys(Loopback):
    def __init__(self, store, life=3600, throttle=0):
        super().__init__(Keeper)
        self.store, self.life, self.throttle = store, life, throttle
        self.issued = self.asked = 0
        self.lock = threading.Lock()
        self.server.keys = self


def base(rude):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))}
    return {**kept, "HOME": os.getcwd(), "AWS_ENDPOINT_URL_S3": rude.endpoint,
            "AWS_EC2_METADATA_DISABLED": "true"}


def container(keys):
    return {"AWS_CONTAINER_CREDENTIALS_FULL_URI": keys.url + "/keys",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Bearer CONTAINER"}


def machine(keys):
    return {"AWS_EC2_METADATA_DISABLED": "false",
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": keys.url + "/"}


def identity(keys):
    pathlib.Path("identity").write_text("IDENTITY\n")
    return {"AWS_WEB_IDENTITY_TOKEN_FILE": "identity",
            "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
            "AWS_ENDPOINT_URL_STS": keys.url + "/sts"}


def probe(words, **rest):
    return lake.run("probe", URL, environment=words, **rest)


def no_secret(result):
    for text in (result.stdout, result.stderr):
        for word in ("SECRET", "TOKEN", "SESSION", "CONTAINER", "IDENTITY",
                     "testsecret"):
            assert word not in text, text


def each_source_is_asked_once_per_process():
    for source in (container, machine, identity):
        with Rude(MemoryStore()) as rude, Keys(rude.backend) as keys:
            words = {**base(rude), **source(keys)}
            no_secret(probe({**words, "LKS_TRACE": "all"}))
            assert keys.issued == 1, keys.issued


def the_first_source_that_is_configured_wins():
    with Rude(MemoryStore()) as rude, Keys(rude.backend) as keys:
        every = {**base(rude), **machine(keys), **container(keys)}
        folder = pathlib.Path(".aws")
        folder.mkdir(exist_ok=True)
        (folder / "credentials").write_text(
            "[default]\naws_access_key_id = testkey\n"
            "aws_secret_access_key = testsecret\n"
            "[other]\naws_access_key_id=nobody\naws_secret_access_key=x\n")
        probe(every)
        assert keys.asked == 0
        refused = probe({**every, "AWS_PROFILE": "other"}, check=False)
        assert refused.returncode == 1
        assert "InvalidAccessKeyId" in refused.stderr, refused.stderr
        missing = probe({**every, "AWS_PROFILE": "third"}, check=False)
        assert "no profile 'third'" in missing.stderr, missing.stderr
        probe({**every, "AWS_ACCESS_KEY_ID": "testkey", "AWS_PROFILE": "other",
               "AWS_SECRET_ACCESS_KEY": "testsecret"})
        assert keys.asked == 0
        probe({**every, **identity(keys)})
        assert keys.issued == 1
        (folder / "credentials").unlink()
        no_secret(refused)


def a_throttled_source_is_waited_for_and_never_left_for_another():
    with Rude(MemoryStore()) as rude, Keys(rude.backend, throttle=4) as keys, \
            Keys(rude.backend) as other:
        words = {**base(rude), **machine(other), **container(keys)}
        probe(words)
        assert (keys.issued, keys.asked, other.asked) == (1, 5, 0)


def nobody_to_be_is_said_so():
    with Rude(MemoryStore()) as rude:
        result = probe(base(rude), check=False)
        assert result.returncode == 1
        assert "no credentials" in result.stderr, result.stderr


def keys_that_expire_every_few_seconds_are_renewed_in_time():
    inputs = lake.make_inputs()
    slow = Fault("delay", seconds=0.02)
    with Rude(MemoryStore(), slow) as rude, \
            Keys(rude.backend, life=LIFE_SECONDS) as keys:
        words = {**base(rude), **container(keys),
                 "LAKESTREAM_COMMIT_GAP_MS": "1000"}
        lake.run("init", URL, "--dp", "1", "--cp", "1", "--producers",
                 str(len(inputs)), environment=words)
        began = time.monotonic()
        for number in range(3):  # A stream's producers, more than one life.
            lake.run("probe", URL, environment=words)
        lake.pack_all(URL, inputs, words)
        steps = lake.check_exactly_once(URL, inputs, words)
        print(f"keys of {LIFE_SECONDS} s: {steps} steps, {keys.issued} keys, "
              f"{time.monotonic() - began:.1f} s")


def keys_that_a_server_calls_expired_are_renewed():
    inputs = lake.make_inputs()
    with Rude(MemoryStore(), Fault("delay", seconds=0.02)) as rude, \
            Keys(rude.backend, life=6) as keys:
        words = {**base(rude), **container(keys),
                 "LAKESTREAM_COMMIT_GAP_MS": "1000"}
        lake.run("init", URL, "--dp", "1", "--cp", "1", "--producers",
                 str(len(inputs)), environment=words)

        def expire():
            for access, (secret, token, _) in list(rude.backend.keys.items()):
                rude.backend.keys[access] = (secret, token, 0)

        timer = threading.Timer(2, expire)  # Before anybody renews by itself.
        timer.start()
        lake.pack_all(URL, inputs, words)
        timer.join()
        lake.check_exactly_once(URL, inputs, words)


def a_clock_an_hour_off_does_not_matter():
    for ahead in (3600, -3600):
        with Rude(MemoryStore(ahead=ahead)) as rude:
            words = {**base(rude), "AWS_ACCESS_KEY_ID": "testkey",
                     "AWS_SECRET_ACCESS_KEY": "testsecret"}
            inputs = lake.make_inputs()
            lake.run("init", URL, "--dp", "1", "--cp", "1", "--producers",
                     str(len(inputs)), environment=words)
            lake.pack_all(URL, inputs, words)
            lake.check_exactly_once(URL, inputs, words)


def a_bucket_in_another_region_is_found():
    malformed = error(400, "AuthorizationHeaderMalformed",
                      extra="<Region>eu-north-1</Region>")
    moved = (301, {"x-amz-bucket-region": "eu-north-1"}, b"")
    for reply in (malformed, moved):
        fault = Fault("elsewhere", seconds=reply)
        with Rude(MemoryStore(), fault) as rude:
            probe({**base(rude), "AWS_ACCESS_KEY_ID": "testkey",
                   "AWS_SECRET_ACCESS_KEY": "testsecret"})
            assert fault.count > 0


def main():
    for test in (each_source_is_asked_once_per_process,
                 the_first_source_that_is_configured_wins,
                 a_throttled_source_is_waited_for_and_never_left_for_another,
                 nobody_to_be_is_said_so,
                 keys_that_expire_every_few_seconds_are_renewed_in_time,
                 keys_that_a_server_calls_expired_are_renewed,
                 a_clock_an_hour_off_does_not_matter,
                 a_bucket_in_another_region_is_found):
        began = time.monotonic()
        test()
        print(f"ok {test.__name__} {time.monotonic() - began:.1f} s",
              flush=True)


main()
