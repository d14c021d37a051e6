"""A small S3 in memory, strict about signatures: what the rude server serves
when it has no real one behind it. Each call takes a request and returns
(status, headers, body).
"""

import email.utils
import hashlib
import hmac
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import sigv4

SKEW_SECONDS = 300


def error(status, code, message="", extra=""):
    body = (f"<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>"
            f"{message}</Message>{extra}<RequestId>rude-1</RequestId></Error>")
    return status, {"Content-Type": "application/xml"}, body.encode()


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.headers, self.body = method, headers, body
        self.path, _, self.raw_query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(self.raw_query,
                                                 keep_blank_values=True))
        decoded = urllib.parse.unquote(self.path)
        self.bucket, _, self.key = decoded.lstrip("/").partition("/")


class MemoryStore:
    """`ahead` is how far its clock is ahead, in seconds."""

    def __init__(self, ahead=0, conditional=True):
        self.lock = threading.Lock()
        self.objects = {}
        self.uploads = {}
        self.upload_keys = {}
        self.ahead = ahead
        self.conditional = conditional
        self.keys = {"testkey": ("testsecret", None, None)}

    def now(self):
        return time.time() + self.ahead

    def date(self):
        return email.utils.formatdate(self.now(), usegmt=True)

    def handle(self, request):
        refused = self.check(request)
        if refused:
            return refused
        with self.lock:
            return self.dispatch(request)

    # ---- who asks

    def check(self, request):
        headers = request.headers
        text = headers.get("authorization")
        if text is None:
            return error(403, "AccessDenied")
        fields = dict(word.strip(",").partition("=")[::2]
                      for word in text.replace(",", " ").split()[1:])
        access, _, scope = fields["Credential"].partition("/")
        if access not in self.keys:
            return error(403, "InvalidAccessKeyId")
        secret, token, end = self.keys[access]
        if end is not None and time.time() > end:
            return error(400, "ExpiredToken", "The provided token has expired.")
        if token is not None and headers.get("x-amz-security-token") != token:
            return error(403, "InvalidToken")
        signed = fields["SignedHeaders"].split(";")
        canonical = sigv4.canonical_request(
            request.method, request.path, request.raw_query, headers, signed,
            headers["x-amz-content-sha256"])
        date, region = headers["x-amz-date"], scope.split("/")[1]
        mac = sigv4.signature(secret, date, region, "s3", canonical)
        if not hmac.compare_digest(mac, fields["Signature"]):
            return error(403, "SignatureDoesNotMatch")
        sent = time.mktime(time.strptime(date, "%Y%m%dT%H%M%SZ"))
        sent -= time.timezone
        if abs(sent - self.now()) > SKEW_SECONDS:
            return error(403, "RequestTimeTooSkewed")
        return None

    # ---- what is asked

    def dispatch(self, request):
        query = request.query
        if request.method == "GET" and "list-type" in query:
            return self.list(query)
        if request.method == "GET" and "uploads" in query:
            return self.list_uploads(query)
        if request.method == "POST" and "delete" in query:
            return self.delete_many(request.body)
        if request.method == "POST" and "uploads" in query:
            upload = f"upload-{len(self.upload_keys):04}"
            self.uploads[upload] = {}
            self.upload_keys[upload] = request.key
            return 200, {}, (f"<InitiateMultipartUploadResult><UploadId>{upload}"
                             "</UploadId></InitiateMultipartUploadResult>"
                             ).encode()
        if "uploadId" in query:
            return self.multipart(request, query["uploadId"])
        if request.method == "PUT":
            return self.put(request)
        if request.method in ("GET", "HEAD"):
            return self.get(request)
        return error(405, "MethodNotAllowed")

    def store(self, key, body, etag=None):
        etag = etag or hashlib.md5(body).hexdigest()
        self.objects[key] = (body, etag, self.now())
        return etag

    def put(self, request):
        if not request.key:
            return 200, {}, b""
        if (self.conditional and request.key in self.objects
                and request.headers.get("if-none-match") == "*"):
            return error(412, "PreconditionFailed")
        return 200, {"ETag": f'"{self.store(request.key, request.body)}"'}, b""

    def multipart(self, request, upload):
        if upload not in self.uploads:
            return error(404, "NoSuchUpload")
        parts = self.uploads[upload]
        if request.method == "PUT":
            parts[int(request.query["partNumber"])] = request.body
            etag = hashlib.md5(request.body).hexdigest()
            return 200, {"ETag": f'"{etag}"'}, b""
        del self.uploads[upload]
        if request.method == "DELETE":
            return 204, {}, b""
        body = b"".join(parts[number] for number in sorted(parts))
        etag = hashlib.md5(body).hexdigest() + f"-{len(parts)}"
        self.store(request.key, body, etag)
        return 200, {}, (f"<CompleteMultipartUploadResult><ETag>{etag}</ETag>"
                         "</CompleteMultipartUploadResult>").encode()

    def get(self, request):
        if request.key not in self.objects:
            return error(404, "NoSuchKey")
        body, etag, modified = self.objects[request.key]
        headers = {"ETag": f'"{etag}"', "Last-Modified":
                   email.utils.formatdate(modified, usegmt=True)}
        match = request.headers.get("if-match")
        if match and match.strip('"') != etag:
            return error(412, "PreconditionFailed")
        wanted = request.headers.get("range")
        if request.method == "HEAD" or not wanted:
            return 200, headers, body
        first, _, last = wanted.partition("=")[2].partition("-")
        first, last = int(first), min(int(last), len(body) - 1)
        if first >= len(body):
            return error(416, "InvalidRange")
        headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        return 206, headers, body[first:last + 1]

    def list(self, query):
        prefix, after = query["prefix"], query.get("start-after", "")
        most = int(query["max-keys"])
        keys = sorted(key for key in self.objects
                      if key.startswith(prefix) and key > after)
        items = "".join(
            f"<Contents><Key>{escape(urllib.parse.quote(key))}</Key>"
            f"<LastModified>{self.iso(self.objects[key][2])}</LastModified>"
            f"<Size>{len(self.objects[key][0])}</Size></Contents>"
            for key in keys[:most])
        more = "true" if len(keys) > most else "false"
        return 200, {}, (f"<ListBucketResult><IsTruncated>{more}</IsTruncated>"
                         f"{items}</ListBucketResult>").encode()

    def list_uploads(self, query):
        after = query.get("key-marker", ""), query.get("upload-id-marker", "")
        most = int(query["max-uploads"])
        found = sorted((self.upload_keys[upload], upload)
                       for upload in self.uploads)
        found = [each for each in found
                 if each[0].startswith(query["prefix"]) and each > after]
        items = "".join(
            f"<Upload><Key>{escape(urllib.parse.quote(key))}</Key>"
            f"<UploadId>{upload}</UploadId></Upload>"
            for key, upload in found[:most])
        more = "true" if len(found) > most else "false"
        return 200, {}, ("<ListMultipartUploadsResult><EncodingType>url"
                         f"</EncodingType><IsTruncated>{more}</IsTruncated>"
                         f"{items}</ListMultipartUploadsResult>").encode()

    @staticmethod
    def iso(seconds):
        return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))

    def delete_many(self, body):
        for piece in body.decode().split("<Key>")[1:]:
            self.objects.pop(piece.partition("</Key>")[0], None)
        return 200, {}, b"<DeleteResult></DeleteResult>"
