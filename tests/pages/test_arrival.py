"""A page that arrives in pieces is drawn when it is whole, so that nothing on it moves."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.test import Client
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as Late

from tests.pages.every import looks
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
DRAWN = "performance.getEntriesByName('first-paint').length > 0"


@contextmanager
def in_two_pieces(html: str, cut: int, rest: threading.Event) -> Iterator[str]:
    """The address of a server that sends the second piece once `rest` is set."""

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html[:cut].encode())
            self.wfile.flush()
            assert rest.wait(20)
            self.wfile.write(html[cut:].encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        rest.set()
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_list_that_arrives_in_pieces_is_drawn_when_it_is_whole(page: Page) -> None:
    make.run("Short")
    make.run("A title that needs far more room than the other, and so moves the columns beside it")
    client = Client()
    client.force_login(person("Ada"))
    html = client.get("/runs/").content.decode()
    html = re.sub(
        r'<link rel="stylesheet"[^>]*>|<script.*?</script>|<link rel="icon"[^>]*>', "", html
    )
    rest = threading.Event()
    looks.watch(page)
    with in_two_pieces(html, html.rindex('<tr id="run-'), rest) as url:
        page.goto(url, wait_until="commit")
        page.wait_for_function("document.querySelectorAll('tbody tr').length === 1", polling=20)
        try:
            page.wait_for_function(DRAWN, polling=20, timeout=1_500)
            drawn = True
        except Late:
            drawn = False
        rest.set()
        page.wait_for_function(DRAWN, polling=20)
        assert page.locator("tbody tr").count() == 2
        assert page.evaluate("window.__shifts") == []
    assert not drawn
