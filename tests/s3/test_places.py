#!/usr/bin/env python3
# labels: slow s3
"""Where the store is, and the way there: buckets in the host's name, TLS under
a company's own authority, proxies that forward and that tunnel, and what goes
past them.
"""

import http.client
import http.server
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import threading
import urllib.parse

sys.path.insert(0, os.environ.get("CASES", os.path.dirname(__file__)))
import lake  # noqa: E402
import rgw  # noqa: E402
from loopback import Loopback  # noqa: E402
from rude import Rude  # noqa: E402
from rude_store import MemoryStore  # noqa: E402

URL = "s3://bucket/run"
HOST = "store.test"  # A name that nobody can resolve: only a proxy gets there.
IN_HOST = {"LAKESTREAM_S3_ADDRESSING": "virtual"}


class BucketInHost(MemoryStore):
    """Refuses whatever names its bucket in the path."""

    def handle(self, request):
        if not request.headers["host"].startswith("bucket."):
            return 404, {}, b""
        request.key = urllib.parse.unquote(request.path).lstrip("/")
        return super().handle(request)


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    """Takes everybody to the one server it knows, whatever the name."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        proxy = self.server.proxy
        proxy.tunnels.append(self.path)
        self.close_connection = True
        if proxy.refuses:
            self.send_error(403)
            return
        with socket.create_connection(proxy.target) as other:
            self.send_response(200)
            self.end_headers()
            back = threading.Thread(target=self.pass_on, daemon=True,
                                    args=(other, self.connection))
            back.start()
            self.pass_on(self.connection, other)
            back.join()

    @staticmethod
    def pass_on(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def forward(self):
        """A request with the whole URL in its first line."""
        proxy = self.server.proxy
        parts = urllib.parse.urlsplit(self.path)
        proxy.forwarded.append(parts.netloc)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        onward = http.client.HTTPConnection(*proxy.target)
        onward.putrequest(self.command, parts._replace(
            scheme="", netloc="").geturl(), True, True)
        for name, value in self.headers.items():
            if not name.lower().startswith("proxy-"):
                onward.putheader(name, value)
        onward.endheaders(body)
        reply = onward.getresponse()
        data = reply.read()
        self.send_response_only(reply.status)
        for name, value in reply.getheaders():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        onward.close()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = forward


class Proxy(Loopback):
    def __init__(self, rude, refuses=False):
        super().__init__(ProxyHandler)
        self.target = rude.server.server_address
        self.refuses = refuses
        self.tunnels, self.forwarded = [], []
        self.server.proxy = self


class Authority:
    """Certificates that no system knows."""

    def __init__(self):
        names = ["localhost", "bucket.localhost", f"*.{HOST}"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes",
             "-keyout", "key.pem", "-out", "ca.pem", "-days", "2", "-subj",
             "/CN=lakestream test", "-addext", "subjectAltName="
             + ",".join(f"DNS:{name}" for name in names)],
            check=True, capture_output=True)
        self.bundle = str(pathlib.Path("ca.pem").resolve())

    def serve(self, rude):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain("ca.pem", "key.pem")
        rude.server.socket = context.wrap_socket(
            rude.server.socket, server_side=True,
            do_handshake_on_connect=False)
        return rude


def port(rude):
    return rude.server.server_address[1]


def probe(endpoint, check=True, **more):
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("AWS_", "LAKESTREAM_"))
            and not name.lower().endswith("_proxy")}
    return lake.run("probe", URL, check=check, environment={
        **kept, "AWS_ACCESS_KEY_ID": rgw.KEY,
        "AWS_SECRET_ACCESS_KEY": rgw.SECRET, "AWS_ENDPOINT_URL_S3": endpoint,
        "LAKESTREAM_RETRY_TIMEOUT_MS": "300", **more})


def refused(said, endpoint, **more):
    result = probe(endpoint, check=False, **more)
    assert result.returncode == 1, result
    assert said in result.stderr, result.stderr
    assert "PASSWORD" not in result.stderr, result.stderr
    print(result.stderr.strip()[-150:])


def a_bucket_can_be_in_the_hosts_name():
    with Rude(BucketInHost()) as rude:
        endpoint = f"http://localhost:{port(rude)}"
        probe(endpoint, **IN_HOST)
        refused("HTTP 404", endpoint)


def cephs_gateway_takes_buckets_in_the_hosts_name():
    with rgw.Gateway() as gateway:
        gateway.make_bucket("bucket")
        for words in ({}, IN_HOST):
            probe(f"http://localhost:{gateway.port}", **words)


def tls_is_verified_by_the_bundle_that_is_named(authority):
    with authority.serve(Rude(BucketInHost())) as rude:
        endpoint = f"https://localhost:{port(rude)}"
        refused("certificate", endpoint, **IN_HOST)
        probe(endpoint, AWS_CA_BUNDLE=authority.bundle, **IN_HOST)
        refused("/none", endpoint, AWS_CA_BUNDLE="/none", **IN_HOST)


def tls_goes_through_the_proxy_in_a_tunnel(authority):
    words = {"AWS_CA_BUNDLE": authority.bundle, **IN_HOST}
    with authority.serve(Rude(BucketInHost())) as rude, Proxy(rude) as proxy:
        for name in ("HTTPS_PROXY", "https_proxy"):
            proxy.tunnels.clear()
            probe(f"https://{HOST}", **{name: proxy.url}, **words)
            assert set(proxy.tunnels) == {f"bucket.{HOST}:443"}, proxy.tunnels
        assert not proxy.forwarded
        # Names that NO_PROXY has go past it: here, to where nobody is.
        proxy.tunnels.clear()
        refused("Could not resolve host", f"https://{HOST}",
                HTTPS_PROXY=proxy.url, NO_PROXY=f"other.test,{HOST}", **words)
        probe(f"https://localhost:{port(rude)}", HTTPS_PROXY=proxy.url,
              NO_PROXY="localhost", **words)
        assert not proxy.tunnels, proxy.tunnels
        with Proxy(rude, refuses=True) as closed:
            refused("CONNECT tunnel failed, response 403", f"https://{HOST}",
                    HTTPS_PROXY=closed.url, **words)
            assert closed.tunnels


def what_is_not_tls_is_forwarded_by_the_proxy():
    with Rude(MemoryStore()) as rude, Proxy(rude) as proxy:
        probe(f"http://{HOST}", http_proxy=proxy.url)
        assert set(proxy.forwarded) == {HOST}, set(proxy.forwarded)
        assert not proxy.tunnels
        proxy.forwarded.clear()
        probe(rude.endpoint, http_proxy=proxy.url, NO_PROXY="127.0.0.1")
        assert not proxy.forwarded


def passwords_in_addresses_are_not_repeated():
    for proxy in ("http://me:PASSWORD@bad host:99999", "ftp://me:PASSWORD@x",
                  "http://me:PASSWORD@[::1"):
        refused("the proxy's address", f"https://{HOST}", HTTPS_PROXY=proxy)
    for endpoint in ("http://me:PASSWORD@127.0.0.1:1", "me:PASSWORD@127.0.0.1",
                     "ftp://me:PASSWORD@127.0.0.1"):
        refused("a user or a password", endpoint)


def what_could_end_a_header_is_refused_before_anything_is_sent():
    end = "x\r\nx-injected: 1"
    with Rude(MemoryStore()) as rude, Proxy(rude) as proxy:
        for name in ("AWS_REGION", "LAKESTREAM_REGION"):
            refused("the region has a control character",
                    f"http://{HOST}", http_proxy=proxy.url, **{name: end})
        refused("AWS_SESSION_TOKEN has a control character",
                f"http://{HOST}", http_proxy=proxy.url, AWS_SESSION_TOKEN=end)
        refused("the endpoint has a control character",
                f"http://{HOST}/{end}", http_proxy=proxy.url)
        assert not proxy.forwarded, proxy.forwarded


def main():
    passwords_in_addresses_are_not_repeated()
    what_could_end_a_header_is_refused_before_anything_is_sent()
    authority = Authority()
    a_bucket_can_be_in_the_hosts_name()
    tls_is_verified_by_the_bundle_that_is_named(authority)
    tls_goes_through_the_proxy_in_a_tunnel(authority)
    what_is_not_tls_is_forwarded_by_the_proxy()
    cephs_gateway_takes_buckets_in_the_hosts_name()


main()
