"""What an anchor says, and how it is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from audit import canonical

FORMAT = "signalbox-anchor/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A signed head of the chain."""

    at: str
    """When, by the database's clock, in UTC."""
    seq: int
    """The place of the newest seal, and so the number of sealed entries; 0: there was none."""
    hash: str
    accepts: int = 0
    """Up to this place somebody vouches for seals that nobody signed."""
    key_id: str = ""
    signature: str = ""

    @property
    def statement(self) -> dict[str, object]:
        """What is signed."""
        said: dict[str, object] = asdict(self)
        del said["key_id"], said["signature"]
        return {"format": FORMAT, **said}

    @property
    def line(self) -> bytes:
        """One line of a file of anchors."""
        return canonical.dumps({"format": FORMAT, **asdict(self)}) + b"\n"
