"""A rude S3 server: it answers late, wrongly, in pieces or not at all.

It stands in front of a real server or of the little one in rude_store.py, and
asks a fault function what to do with each request:

    with Rude(MemoryStore(), Fault("lost_reply", 0.3, writes=True)) as rude:
        rude.endpoint

Faults are drawn from a seeded generator, so that a run can be repeated as far
as its threads allow. Nothing but the standard library is used.
"""

import collections
import http.client
import http.server
import random
import socket
import struct
import threading
import time
import urllib.parse

from loopback import Loopback, Server
from rude_store import Request, error

HOP_HEADERS = {"connection", "transfer-encoding", "keep-alive"}
TRICKLE_BYTES_PER_S = 200
HANG_SECONDS = 600


class Forward:
    """A real server behind; requests go there as they came, signed."""

    def __init__(self, endpoint):
        parts = urllib.parse.urlsplit(endpoint)
        self.host, self.port = parts.hostname, parts.port
        self.local = threading.local()

    def date(self):
        return None

    def handle(self, request):
        target = request.path
        if request.raw_query:
            target += "?" + request.raw_query
        for attempt in (0, 1):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection(
                    self.host, self.port, timeout=60)
                self.local.connection = connection
            try:
                connection.putrequest(request.method, target, True, True)
                for name, value in request.headers.items():
                    if name not in HOP_HEADERS:
                        connection.putheader(name, value)
                connection.endheaders(request.body)
                reply = connection.getresponse()
                return reply.status, dict(reply.getheaders()), reply.read()
            except (http.client.HTTPException, OSError):
                # An idle connection that had ended: nothing was read from it.
                connection.close()
                self.local.connection = None
                if attempt or request.method != "GET":
                    raise
        return None


class Fault:
    """What happens, how often, and to which requests."""

    def __init__(self, what, share=1.0, seed=1, writes=None, creates=None,
                 lasts=None, once_per_key=False, seconds=1.0):
        self.what, self.share, self.seconds = what, share, seconds
        self.writes, self.creates, self.lasts = writes, creates, lasts
        self.random = random.Random(seed)
        self.seen = set() if once_per_key else None
        self.lock = threading.Lock()
        self.count = 0
        self.on = True
        self.began = None

    def strikes(self, request):
        write = request.method in ("PUT", "POST", "DELETE")
        create = "if-none-match" in request.headers
        if not self.on or self.writes not in (None, write):
            return False
        if self.creates not in (None, create):
            return False
        with self.lock:
            now = time.monotonic()
            self.began = self.began or now
            if self.lasts is not None and now - self.began > self.lasts:
                return False
            if self.seen is not None:
                if request.path in self.seen:
                    return False
                self.seen.add(request.path)
            if self.random.random() >= self.share:
                return False
            self.count += 1
            return True


class Latency(Fault):
    """A store far away: lognormal, half of it there and half of it back."""

    def __init__(self, mean_seconds, sigma=0.4, **which):
        super().__init__("latency", seconds=mean_seconds, **which)
        self.sigma = sigma

    def draw(self):
        with self.lock:
            return self.seconds * self.random.lognormvariate(
                -self.sigma ** 2 / 2, self.sigma)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = HANG_SECONDS
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self):
        rude = self.server.rude
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(headers.get("content-length", 0)))
        request = Request(self.command, self.path, headers, body)
        rude.note(request)
        for fault in rude.faults:
            if fault.strikes(request):
                getattr(self, fault.what)(request, fault)
                return
        self.reply(request, *self.served(request))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def served(self, request):
        return self.server.rude.backend.handle(request)

    def head(self, status, headers, length):
        self.send_response_only(status)
        date = self.server.rude.backend.date()
        for name, value in headers.items():
            if name.lower() not in HOP_HEADERS | {"content-length"}:
                self.send_header(name, value)
        if date:
            self.send_header("Date", date)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def reply(self, request, status, headers, body):
        length = len(body)
        if request.method == "HEAD":
            length = headers.get("Content-Length", length)
            body = b""
        if status == 204:
            self.send_response_only(204)
            self.end_headers()
            return
        self.head(status, headers, length)
        self.wfile.write(body)

    def drop(self):
        self.close_connection = True

    # ---- the faults

    def lost_reply(self, request, _):
        """It is done, and nobody hears of it."""
        self.served(request)
        self.drop()

    def lost_request(self, _request, _fault):
        self.drop()

    def late_write(self, request, fault):
        """The connection ends now, the write lands later."""
        backend = self.server.rude.backend
        self.server.rude.later(fault.seconds, lambda: backend.handle(request))
        self.drop()

    def reset(self, request, _):
        """An RST instead of a reply; half of the time it was done."""
        if self.server.rude.coin():
            self.served(request)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
        self.drop()

    def conflict(self, request, _):
        """409; half of the time it was done all the same."""
        if self.server.rude.coin():
            self.served(request)
        self.reply(request, *error(409, "ConditionalRequestConflict"))

    def throttle(self, request, _):
        status = 429 if self.server.rude.coin() else 503
        self.reply(request, *error(status, "SlowDown", "Reduce your rate."))

    def failed_after(self, request, _):
        """500 for what was done."""
        self.served(request)
        self.reply(request, *error(500, "InternalError"))

    def cut(self, request, _):
        status, headers, body = self.served(request)
        self.head(status, headers, len(body))
        self.wfile.write(body[:len(body) // 2])
        self.drop()

    def trickle(self, request, fault):
        status, headers, body = self.served(request)
        self.head(status, headers, len(body))
        end = time.monotonic() + fault.seconds
        for at in range(0, len(body), TRICKLE_BYTES_PER_S // 10):
            self.wfile.write(body[at:at + TRICKLE_BYTES_PER_S // 10])
            time.sleep(0.1)
            if time.monotonic() > end:
                break
        self.drop()

    def short(self, request, _):
        """Fewer bytes than the range has, and a length that fits them."""
        status, headers, body = self.served(request)
        self.head(status, headers, len(body) // 2)
        self.wfile.write(body[:len(body) // 2])

    def wrong_range(self, request, _):
        status, headers, body = self.served(request)
        if "Content-Range" in headers:
            headers["Content-Range"] = f"bytes 7-{6 + len(body)}/{len(body)}"
        self.reply(request, status, headers, body)

    def no_range(self, request, _):
        """All of the object, whatever was asked for."""
        request.headers.pop("range", None)
        self.reply(request, *self.served(request))

    def hole(self, _request, fault):
        """Not a byte, and the connection stays."""
        self.server.rude.stopped.wait(fault.seconds)
        self.drop()

    def delay(self, request, fault):
        time.sleep(fault.seconds)
        self.reply(request, *self.served(request))

    def latency(self, request, fault):
        half = fault.draw() / 2
        time.sleep(half)
        reply = self.served(request)
        time.sleep(half)
        self.reply(request, *reply)

    def elsewhere(self, request, fault):
        """Only a signature for eu-north-1 is served here."""
        if "/eu-north-1/" in request.headers.get("authorization", ""):
            self.reply(request, *self.served(request))
        else:
            self.reply(request, *fault.seconds)

    def say(self, request, fault):
        """Whatever the test wants said: fault.seconds is (status, h, body)."""
        self.reply(request, *fault.seconds)


class RudeServer(Server):
    request_queue_size = 1024

    def handle_error(self, *_):
        pass  # Clients that leave are the point.


class Rude(Loopback):
    def __init__(self, backend, *faults, seed=1):
        super().__init__(Handler, RudeServer)
        self.backend, self.faults = backend, list(faults)
        self.requests = collections.Counter()
        self.times = []
        self.stopped = threading.Event()
        self.random = random.Random(seed)
        self.timers = []
        self.lock = threading.Lock()
        self.server.rude = self
        self.endpoint = self.url

    def __exit__(self, *_):
        self.stopped.set()
        super().__exit__()
        for timer in self.timers:
            timer.join()

    def coin(self):
        with self.lock:
            return self.random.random() < 0.5

    def note(self, request):
        with self.lock:
            kind = request.method
            if kind == "GET" and {"list-type", "uploads"} & set(request.query):
                kind = "LIST"
            self.requests[kind] += 1
            self.times.append(time.monotonic())

    def later(self, seconds, act):
        timer = threading.Timer(seconds, act)
        timer.start()
        self.timers.append(timer)
