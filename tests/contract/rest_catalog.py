"""A catalog of Iceberg by its REST protocol, in this process, over a catalog in a SQLite file."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest


class RestServer(HTTPServer):
    """The server; ``asked``: method and path of each request."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(folder: Path) -> Iterator[RestServer]:
    """A server whose tables are in a folder, for as long as the context lasts."""
    server = RestServer(folder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: RestServer

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")][1:]
        self.server.asked.append(f"{self.command} {'/'.join(parts)}")
        place = self.server.folder
        catalog = SqlCatalog("tables", uri=f"sqlite:///{place}/rest.db", warehouse=f"file://{place}/rest")
        try:
            status, answer = self._answer(catalog, parts, body)
        except NoSuchTableError as error:
            status, answer = _refuse(404, "NoSuchTableException", error)
        except TableAlreadyExistsError as error:
            status, answer = _refuse(409, "AlreadyExistsException", error)
        except CommitFailedException as error:
            status, answer = _refuse(409, "CommitFailedException", error)
        finally:
            catalog.close()
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_POST = do_HEAD = _serve  # noqa: N815 - as the base has them

    def _answer(self, catalog: SqlCatalog, parts: list[str], body: bytes) -> tuple[int, Any]:
        if parts == ["config"]:
            return 200, {"defaults": {}, "overrides": {}}
        asked = json.loads(body or b"{}")
        if parts == ["namespaces"]:
            catalog.create_namespace(tuple(asked["namespace"]))
            return 200, {"namespace": asked["namespace"], "properties": {}}
        namespace = parts[1]
        if len(parts) == 3:
            return 200, self._create(catalog, namespace, asked)
        table = catalog.load_table((namespace, parts[3]))
        if self.command == "POST":
            change = CommitTableRequest.model_validate_json(body)
            done = catalog.commit_table(table, change.requirements, change.updates)
            return 200, _describe(done.metadata, done.metadata_location)
        return 200, {**_describe(table.metadata, table.metadata_location), "config": {}}

    def _create(self, catalog: SqlCatalog, namespace: str, asked: dict[str, Any]) -> Any:
        name, schema = (namespace, asked["name"]), Schema.model_validate(asked["schema"])
        if asked.get("stage-create"):
            return {**_describe(catalog.create_table_transaction(name, schema).table_metadata, None), "config": {}}
        made = catalog.create_table(name, schema)
        return {**_describe(made.metadata, made.metadata_location), "config": {}}


def _describe(metadata: Any, location: str | None) -> dict[str, Any]:
    return {"metadata-location": location, "metadata": json.loads(metadata.model_dump_json())}


def _refuse(status: int, kind: str, error: Exception) -> tuple[int, Any]:
    return status, {"error": {"message": f"canary {error}", "type": kind, "code": status}}
