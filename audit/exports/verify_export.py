#!/usr/bin/env python3
"""Check an export of Signalbox: python verify_export.py FILE.zip PUBLIC_KEY [PUBLIC_KEY ...]

One file that needs nothing of Signalbox: copy it, and `pip install cryptography`. A public key is
the text that the page "Keys" and `manage.py audit_key` show; get it from somebody you trust, never
together with the file. Exit status 0: the export is what the key's owner handed out. 1: it is not,
and the output says why.

What is checked: 1. the manifest is signed by one of the keys; 2. the rows are those of which the
manifest has the SHA-256, number and size; 3. for entries of the audit log, each says what its
digest was taken of, and has its place in the chain of seals; neighbours in the chain fit together.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

FORMAT = "signalbox-export/1"
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
LARGEST_MANIFEST = 1_000_000
CONTENT = ("verb", "actor", "target", "run", "allowed", "reason", "data")
"""The members of an entry of which its digest is taken."""


class Wrong(Exception):
    """What is wrong with the export."""


def check(path: str | IO[bytes], public_keys: list[str]) -> dict[str, Any]:
    """The manifest of an export that is unchanged. Raises Wrong."""
    try:
        with zipfile.ZipFile(path) as bundle:
            manifest = _manifest(bundle, public_keys)
            _rows(bundle, manifest)
    except (zipfile.BadZipFile, KeyError, TypeError, ValueError, OSError, EOFError) as error:
        raise Wrong(f"This is no export that can be read: {error}.") from error
    return manifest


def _manifest(bundle: zipfile.ZipFile, public_keys: list[str]) -> dict[str, Any]:
    """What the export says of itself, once its signature is checked."""
    if bundle.getinfo(MANIFEST).file_size > LARGEST_MANIFEST:
        raise Wrong("The manifest is too large to be one.")
    written = bundle.read(MANIFEST)
    signature = base64.b64decode(bundle.read(SIGNATURE))
    for text in public_keys:
        raw = _raw(text)
        try:
            Ed25519PublicKey.from_public_bytes(raw).verify(signature, written)
        except InvalidSignature:
            continue
        manifest: dict[str, Any] = json.loads(written)
        if manifest["format"] != FORMAT or manifest["key_id"] != hashlib.sha256(raw).hexdigest():
            raise Wrong("What is signed is not the manifest of an export by this key.")
        if sorted(bundle.namelist()) != sorted((MANIFEST, SIGNATURE, manifest["file"]["name"])):
            raise Wrong("The export holds other files than its manifest says.")
        return manifest
    raise Wrong("No key that you gave signed this manifest: it was altered, or the key is another.")


def _raw(public_key: str) -> bytes:
    """The 32 bytes of a public key."""
    try:
        raw = base64.b64decode(public_key, validate=True)
    except ValueError:
        raw = b""
    if len(raw) != 32:
        raise Wrong(f"Nothing was proved: {public_key!r} is no public key. Copy all of it.")
    return raw


def _rows(bundle: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
    """Compare the rows with what the manifest says of them; check entries against the chain."""
    said = manifest["file"]
    sealed = "digest" in manifest["columns"] and said["name"].endswith(".jsonl")
    digest, size, before = hashlib.sha256(), 0, (0, "")
    problems: list[str] = []
    with bundle.open(said["name"]) as file:
        for number, line in enumerate(file, start=1):
            digest.update(line)
            size += len(line)
            if size > said["bytes"]:
                raise Wrong(f"{said['name']} is longer than it was: it was altered.")
            if sealed and len(problems) < 20:
                entry = json.loads(line)
                problems += (f"Line {number}: {what}" for what in _entry(entry, before))
                before = (entry["seq"] or 0, entry["hash"] or "")
    if problems:
        raise Wrong("\n".join(problems))
    if digest.hexdigest() != said["sha256"]:
        raise Wrong(f"{said['name']} is not the file that was handed out: it was altered.")


def _entry(entry: dict[str, Any], before: tuple[int, str]) -> Iterator[str]:
    """What is wrong with one entry of the audit log. `before`: place and hash on the line above."""
    content = canonical({name: entry[name] for name in CONTENT})
    if hashlib.sha256(content.encode()).hexdigest() != entry["digest"]:
        yield f"entry {entry['id']} does not say what it said when it was recorded."
    if entry["seq"] is None:
        return  # not sealed when it was exported
    link = {
        "prev": entry["prev"],
        "seq": entry["seq"],
        "entry": entry["id"],
        "digest": entry["digest"],
        "at": entry["at"],
        "sealed_at": entry["sealed_at"],
    }
    if hashlib.sha256(canonical(link).encode()).hexdigest() != entry["hash"]:
        yield f"entry {entry['id']} is not the one that was sealed at place {entry['seq']}."
    if entry["seq"] == before[0] + 1 and before[1] and entry["prev"] != before[1]:
        yield f"place {entry['seq']} of the chain does not follow place {before[0]}."


def canonical(value: Any) -> str:
    """The RFC 8785 text of a JSON value."""
    if isinstance(value, dict):
        by_utf16 = sorted(value.items(), key=lambda item: item[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(item)}" for key, item in by_utf16) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    """A number as JavaScript writes it."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + int(exponent)
    if 0 < point <= 21:
        text = text[:point].ljust(point, "0") + (f".{text[point:]}" if text[point:] else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        rest = f".{text[1:]}" if text[1:] else ""
        text = f"{text[0]}{rest}e{point - 1:+d}"
    return f"-{text}" if sign else text


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        sys.stderr.write(__doc__ or "")
        return 2
    try:
        manifest = check(arguments[0], arguments[1:])
    except Wrong as wrong:
        sys.stdout.write(f"NOT intact. {wrong}\n")
        return 1
    made = f"by {manifest['by']['label']!r} on {manifest['made_at']}"
    sys.stdout.write(f"Intact: {manifest['file']['rows']} rows, exported {made}.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
