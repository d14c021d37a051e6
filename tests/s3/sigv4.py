"""Signature v4 in its plainest form: a second opinion for the tests.

Written from the public specification and sharing nothing with the library, so
that the two can disagree.
"""

import datetime
import hashlib
import hmac
import urllib.error
import urllib.parse
import urllib.request

EMPTY = hashlib.sha256(b"").hexdigest()


def _hmac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, date, region, service, canonical):
    """The hex signature of a canonical request; date is YYYYMMDDThhmmssZ."""
    scope = f"{date[:8]}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", date, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = _hmac(("AWS4" + secret).encode(), date[:8])
    for word in (region, service, "aws4_request"):
        key = _hmac(key, word)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def canonical_request(method, path, query, headers, signed, payload_hash):
    """`query` and `headers` are as they were on the wire."""
    pairs = sorted(part.partition("=")[::2] for part in query.split("&")
                   if part)
    lines = [f"{name}:{' '.join(headers[name].split())}" for name in signed]
    return "\n".join([
        method, path, "&".join(f"{name}={value}" for name, value in pairs),
        *lines, "", ";".join(signed), payload_hash])


def request(endpoint, method, target, key, secret, body=b"", extra=None):
    """Sends one signed request; returns (status, headers, body)."""
    path, _, query = target.partition("?")
    now = datetime.datetime.now(datetime.timezone.utc)
    date = now.strftime("%Y%m%dT%H%M%SZ")
    payload_hash = hashlib.sha256(body).hexdigest()
    headers = {"host": urllib.parse.urlsplit(endpoint).netloc,
               "x-amz-content-sha256": payload_hash, "x-amz-date": date}
    headers.update(extra or {})
    signed = sorted(headers)
    canonical = canonical_request(method, path, query, headers, signed,
                                  payload_hash)
    mac = signature(secret, date, "us-east-1", "s3", canonical)
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key}/{date[:8]}/us-east-1/s3/"
        f"aws4_request, SignedHeaders={';'.join(signed)}, Signature={mac}")
    sent = urllib.request.Request(endpoint + target, data=body or None,
                                  headers=headers, method=method)
    try:
        with urllib.request.urlopen(sent, timeout=30) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()
