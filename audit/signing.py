"""Signing what leaves this system, so that others can tell later that it is unchanged.

1. One Ed25519 key signs: `AUDIT_SIGNING_KEY`, or the one that the state folder keeps. It is not in
   the database: who owns the database cannot sign.
2. A key is named by the SHA-256 of its public half. Of keys that signed in the past, the public
   half is enough: `AUDIT_PUBLIC_KEYS`.
3. What is signed is canonical JSON whose member `format` says what it is, so that one kind of
   statement never passes for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.conf import settings

from audit import canonical
from audit.errors import NoSigningKey, NotAKey

LENGTH = 32
"""Bytes of a key, private or public."""


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """What anybody may know of a key."""

    text: str
    """Its 32 bytes in base64."""

    @cached_property
    def id(self) -> str:
        """The name of the key: hex SHA-256 of its bytes."""
        return hashlib.sha256(_bytes(self.text)).hexdigest()

    def fits(self, statement: Mapping[str, object], signature: str) -> bool:
        """Whether the key's owner signed exactly this statement."""
        try:
            self._key.verify(base64.b64decode(signature), canonical.dumps(statement))
        except (InvalidSignature, binascii.Error, canonical.NotCanonical):
            return False
        return True

    @cached_property
    def _key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(_bytes(self.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A signature, and whose it is."""

    key_id: str
    text: str
    """Its 64 bytes in base64."""


def own() -> PublicKey:
    """The public half of the key that signs here. Raises NoSigningKey."""
    return _public(_private(_configured()))


def known() -> dict[str, PublicKey]:
    """Every key whose signatures count here, by its id: our own, and those of settings."""
    keys = [PublicKey(text=text) for text in settings.AUDIT_PUBLIC_KEYS]
    if settings.AUDIT_SIGNING_KEY:
        keys.insert(0, own())
    return {key.id: key for key in keys}


def sign(statement: Mapping[str, object]) -> Signature:
    """Sign the canonical text of `statement`. Raises NoSigningKey and NotCanonical."""
    key = _private(_configured())
    signed = key.sign(canonical.dumps(statement))
    return Signature(key_id=_public(key).id, text=base64.b64encode(signed).decode())


def make() -> tuple[str, PublicKey]:
    """A new private key, as AUDIT_SIGNING_KEY takes it, and its public half. Kept nowhere."""
    key = Ed25519PrivateKey.generate()
    return base64.b64encode(key.private_bytes_raw()).decode(), _public(key)


def _configured() -> str:
    if not settings.AUDIT_SIGNING_KEY:
        raise NoSigningKey
    return str(settings.AUDIT_SIGNING_KEY)


@cache
def _private(text: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(_bytes(text))


@cache
def _public(key: Ed25519PrivateKey) -> PublicKey:
    return PublicKey(text=base64.b64encode(key.public_key().public_bytes_raw()).decode())


def _bytes(text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != LENGTH:
        raise NotAKey
    return found
