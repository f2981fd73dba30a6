"""A small object storage with the protocol of S3: what clients of lake tables ask of it.

Objects are in memory. Signatures are not checked, but a request without the key of the tests is forbidden.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from xml.sax.saxutils import escape

KEY = "bucketkey"
NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'


class Buckets(ThreadingHTTPServer):
    """The server; ``objects``: bytes by bucket and key."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.lock = threading.Lock()


@dataclass(frozen=True)
class Served:
    """A server in another process: clients of Rust hold the lock of the interpreter while they wait."""

    url: str

    def variables(self) -> dict[str, str]:
        """Of the environment, for clients."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def names(self) -> list[str]:
        """All objects, by bucket and key."""
        request = urllib.request.Request(f"{self.url}/bucket?prefix=", headers={"Authorization": KEY})
        with urllib.request.urlopen(request) as answer:
            return re.findall(r"<Key>(.*?)</Key>", answer.read().decode())


@contextmanager
def serving() -> Iterator[Served]:
    """A server, for as long as the context lasts."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.contract.buckets"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield Served(f"http://127.0.0.1:{int(server.stdout.readline())}")
        finally:
            server.kill()


def unchunk(body: bytes) -> bytes:
    """The content of a body in chunks of their own lengths (aws-chunked), without checksums at its end."""
    parts, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end].split(b";")[0], 16)
        if not size:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + size])
        at = end + 2 + size + 2


class _Handler(BaseHTTPRequestHandler):
    server: Buckets
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""

    def _begin(self) -> tuple[str, dict[str, str], bytes]:
        parts = urllib.parse.urlsplit(self.path)
        query = {key: values[0] for key, values in urllib.parse.parse_qs(parts.query, keep_blank_values=True).items()}
        body = self._read()
        if "aws-chunked" in self.headers.get("Content-Encoding", "") or "STREAMING" in self.headers.get(
            "x-amz-content-sha256", ""
        ):
            body = unchunk(body)
        return urllib.parse.unquote(parts.path).strip("/"), query, body

    def _read(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, status: int, body: bytes | str = b"", **headers: str) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>canary</Message></Error>")

    def _allowed(self) -> bool:
        if KEY in self.headers.get("Authorization", ""):
            return True
        self._read()
        self._refuse(403, "AccessDenied")
        return False

    def do_GET(self) -> None:
        if not self._allowed():
            return
        name, query, _ = self._begin()
        if "/" not in name:
            self._list(name, query)
        elif name not in self.server.objects:
            self._refuse(404, "NoSuchKey")
        else:
            self._give(self.server.objects[name])

    def do_HEAD(self) -> None:
        self.do_GET()

    def _give(self, content: bytes) -> None:
        tag, when = f'"{md5(content).hexdigest()}"', formatdate(0, usegmt=True)
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted is None or self.command == "HEAD":
            self._plain(content, tag, when)
            return
        first, last = wanted[1], wanted[2]
        start = int(first) if first else max(len(content) - int(last), 0)
        stop = min(int(last) + 1, len(content)) if first and last else len(content)
        bounds = f"bytes {start}-{stop - 1}/{len(content)}"
        self._answer(206, content[start:stop], ETag=tag, Last_Modified=when, Content_Range=bounds)

    def _plain(self, content: bytes, tag: str, when: str) -> None:
        self.send_response(200)
        for name, value in (("ETag", tag), ("Last-Modified", when), ("Content-Length", str(len(content)))):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys = sorted(name.partition("/")[2] for name in self.server.objects if name.startswith(f"{bucket}/"))
        start = query.get("start-after", "")
        found = [key for key in keys if key.startswith(prefix) and key > start]
        rows, folders = [], []
        for key in found:
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.append(prefix + rest[: rest.index(delimiter) + 1])
                continue
            content = self.server.objects[f"{bucket}/{key}"]
            rows.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                f"<ETag>{md5(content).hexdigest()}</ETag><Size>{len(content)}</Size></Contents>"
            )
        rows += [f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in dict.fromkeys(folders)]
        self._answer(
            200,
            f"<ListBucketResult {NAMESPACE}><Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(rows)}"
            f"</KeyCount><IsTruncated>false</IsTruncated>{''.join(rows)}</ListBucketResult>",
            Content_Type="application/xml",
        )

    def do_PUT(self) -> None:
        if not self._allowed():
            return
        name, query, body = self._begin()
        tag = f'"{md5(body).hexdigest()}"'
        if "uploadId" in query:
            self.server.uploads[query["uploadId"]][int(query["partNumber"])] = body
            self._answer(200, ETag=tag)
            return
        source = self.headers.get("x-amz-copy-source")
        with self.server.lock:
            if self.headers.get("If-None-Match") == "*" and name in self.server.objects:
                self._refuse(412, "PreconditionFailed")
                return
            if "/" in name:
                self.server.objects[name] = (
                    self.server.objects[urllib.parse.unquote(source).strip("/")] if source else body
                )
        copied = f"<CopyObjectResult {NAMESPACE}><ETag>{tag}</ETag></CopyObjectResult>" if source else b""
        self._answer(200, copied, ETag=tag)

    def do_POST(self) -> None:
        if not self._allowed():
            return
        name, query, body = self._begin()
        bucket, _, key = name.partition("/")
        if "delete" in query:
            for one in re.findall(r"<Key>(.*?)</Key>", body.decode()):
                self.server.objects.pop(f"{bucket}/{one}", None)
            self._answer(200, f"<DeleteResult {NAMESPACE}/>", Content_Type="application/xml")
        elif "uploads" in query:
            upload = uuid.uuid4().hex
            self.server.uploads[upload] = {}
            self._answer(
                200,
                f"<InitiateMultipartUploadResult {NAMESPACE}><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
                f"<UploadId>{upload}</UploadId></InitiateMultipartUploadResult>",
                Content_Type="application/xml",
            )
        else:
            parts = self.server.uploads.pop(query["uploadId"])
            with self.server.lock:
                self.server.objects[name] = b"".join(parts[number] for number in sorted(parts))
            self._answer(
                200,
                f"<CompleteMultipartUploadResult {NAMESPACE}><Bucket>{bucket}</Bucket><Key>{escape(key)}</Key>"
                "<ETag>x</ETag></CompleteMultipartUploadResult>",
                Content_Type="application/xml",
            )

    def do_DELETE(self) -> None:
        if not self._allowed():
            return
        name, query, _ = self._begin()
        if "uploadId" in query:
            self.server.uploads.pop(query["uploadId"], None)
        else:
            self.server.objects.pop(name, None)
        self._answer(204)


if __name__ == "__main__":
    buckets = Buckets()
    sys.stdout.write(f"{buckets.server_address[1]}\n")
    sys.stdout.flush()
    buckets.serve_forever()
