"""What a browser has to load stays small, and nothing but our own files is loaded."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings

STATIC = Path(settings.BASE_DIR, "static")
TEMPLATES = Path(settings.BASE_DIR, "templates")


@pytest.mark.parametrize(
    ("files", "most", "most_compressed"),
    [("css/*.css", 25_000, 7_000), ("js/*.js", 15_000, 6_000), ("icons.svg", 10_000, 3_500)],
)
def test_files_of_our_own_stay_small(files, most, most_compressed) -> None:
    content = b"".join(path.read_bytes() for path in sorted(STATIC.glob(files)))
    assert content, files
    assert len(content) <= most
    assert len(gzip.compress(content)) <= most_compressed


def test_every_work_of_others_has_its_licence_beside_it() -> None:
    licences = (STATIC / "vendor/LICENSES.txt").read_text()
    for path in STATIC.glob("vendor/*.js"):
        assert path.name in licences


def test_templates_hold_no_script_style_or_handler_of_their_own() -> None:
    forbidden = re.compile(
        r"<script(?![^>]*\b(?:src=|type=\"application/json\"))|<style|\sstyle=|\son[a-z]+=\"|javascript:",
        re.IGNORECASE,
    )
    for path in TEMPLATES.rglob("*.html"):
        assert not forbidden.search(path.read_text()), path


def test_nothing_is_loaded_from_another_site() -> None:
    outside = re.compile(
        r"(?:src|href|action)=[\"'](?:https?:)?//|url\((?!#)|@import", re.IGNORECASE
    )
    for path in (*TEMPLATES.rglob("*.html"), *STATIC.glob("css/*.css")):
        assert not outside.search(path.read_text()), path
