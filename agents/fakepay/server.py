"""How calls arrive: HTTP on one address, a thread per connection.

    /v1/...                 the provider's interface: `provider`
    GET  /                  a page for people
    GET  /_state?limit=N    counts, requests, refunds and mails (newest first), switches, armed
    GET  /_control          the switches: {"dedup": bool, "visibility_delay": seconds}
    POST /_control          set any of them
    POST /_control/faults   {"match": {...}, "fault": "drop_after", "times": 1, "skip": 0}: arm a
                            fault for the next matching requests. Match by "order_id",
                            "to", "key_prefix", "path", "method" (POST unless given; null: any)
    DELETE /_control/faults disarm all

Request headers of /v1: Idempotency-Key (UTF-8), X-Fakepay-Fault, X-Fakepay-Dedup.
A request whose body did not arrive whole counts as not received.
"""

from __future__ import annotations

import json
import math
import re
import socketserver
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

from agents.fakepay import faults, page
from agents.fakepay.provider import Answer, Call, Provider, error

LARGEST_BODY = 1024 * 1024
ROWS_ON_PAGE = 200
PAGE_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
}


class Server(socketserver.ThreadingTCPServer):
    """Listens from the moment it is made. `OSError` when the address cannot be had."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128
    provider: Provider

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, port), Handler)

    @property
    def url(self) -> str:
        """Where it listens, with the port that was chosen."""
        host, port = self.socket.getsockname()[:2]
        return f"http://{host}:{port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller that hung up is an everyday thing; the rest is a defect and gets told."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    """One connection, request after request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "fakepay"
    sys_version = ""
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._answer()

    def do_DELETE(self) -> None:
        """Answer a DELETE."""
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing: the storage holds every request."""

    def _answer(self) -> None:
        body = self._body()
        if body is None:
            return
        path, _, query = self.path.partition("?")
        asked = {name: values[-1] for name, values in parse_qs(query).items()}
        if path.startswith("/v1/"):
            answer = self.server.provider.handle(self._call(path, asked, body))
        else:
            answer = self._own(f"{self.command} {path}", asked, body)
        if answer is None:
            self.close_connection = True
        else:
            self._send(answer)

    def _body(self) -> bytes | None:
        """The whole body. None when there is none to be had: the connection ends then."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,9}", length):
            self.send_error(HTTPStatus.LENGTH_REQUIRED)
        elif int(length) > LARGEST_BODY:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                return body
        self.close_connection = True
        return None

    def _call(self, path: str, asked: dict[str, str], body: bytes) -> Call:
        key = asked.get("key") if self.command == "GET" else self.headers.get("Idempotency-Key")
        if key is not None and self.command != "GET":
            # http.server reads headers as Latin-1; clients write UTF-8.
            key = key.encode("latin-1").decode(errors="backslashreplace")
        return Call(
            method=self.command,
            path=path,
            key=key,
            body=body,
            fault=self.headers.get("X-Fakepay-Fault", ""),
            dedup=self.headers.get("X-Fakepay-Dedup", "").lower() != "off",
        )

    def _own(self, route: str, asked: dict[str, str], body: bytes) -> Answer:
        """What fakepay tells about itself, and its switches."""
        provider = self.server.provider
        try:
            match route:
                case "GET /":
                    return _page(provider)
                case "GET /_state":
                    return _json(_state(provider, limit=_limit(asked)))
                case "GET /_control":
                    return _json(_switches(provider))
                case "POST /_control":
                    _set_switches(provider, body)
                    return _json(_switches(provider))
                case "POST /_control/faults":
                    provider.armed.arm(faults.read(body))
                    return _json({"armed": provider.armed.waiting()})
                case "DELETE /_control/faults":
                    provider.armed.clear()
                    return _json({"armed": []})
        except faults.Unusable as problem:
            return error(400, "invalid_request_error", "control", str(problem))
        return error(404, "invalid_request_error", "no_such_path", "No such path.")

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode()
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _json(value: object) -> Answer:
    return Answer(status=200, body=json.dumps(value))


def _page(provider: Provider) -> Answer:
    storage = provider.storage
    recent = storage.recent(ROWS_ON_PAGE)
    text = page.render(storage.counts(), recent, dedup=provider.dedup)
    return Answer(status=200, body=text, headers=PAGE_HEADERS)


def _state(provider: Provider, *, limit: int) -> dict[str, object]:
    return {
        "counts": provider.storage.counts(),
        **provider.storage.recent(limit),
        **_switches(provider),
        "armed": provider.armed.waiting(),
    }


def _switches(provider: Provider) -> dict[str, object]:
    return {"dedup": provider.dedup, "visibility_delay": provider.visibility_delay}


def _limit(asked: dict[str, str]) -> int:
    text = asked.get("limit", "-1")
    if not re.fullmatch("-1|[0-9]{1,9}", text):
        raise faults.Unusable("limit is a whole number; -1: all.")
    return int(text)


def _set_switches(provider: Provider, body: bytes) -> None:
    """Set what the body names. Raises Unusable: nothing was set."""
    wanted = {**_switches(provider), **faults.json_object(body)}
    dedup, delay = wanted.pop("dedup"), wanted.pop("visibility_delay")
    if wanted or type(dedup) is not bool or not isinstance(delay, int | float) or delay is True:
        raise faults.Unusable('Send {"dedup": true or false, "visibility_delay": seconds}.')
    if not 0 <= delay < math.inf:
        raise faults.Unusable("visibility_delay is a number of seconds, at least 0.")
    provider.dedup, provider.visibility_delay = dedup, delay
