"""A real HTTP server on this machine that remembers what it got, for tests of what is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(slots=True)
class Got:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass(slots=True)
class Receiver:
    """What has arrived, and what the next requests are answered with: (status, headers)."""

    port: int
    got: list[Got] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver that answers 200 unless it is told otherwise."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"] or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(path=self.path, headers=headers, body=json.loads(text)))
            status, more = receiver.answers.pop(0) if receiver.answers else (200, {})
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(port=server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
