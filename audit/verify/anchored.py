"""The chain held against what was said of it elsewhere: anchors, and a head that somebody noted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from audit import signing
from audit.anchors import Anchor
from audit.verify.reading import Place
from audit.verify.report import Findings, Head

START = "the beginning"


class Anchored:
    """One walk along the chain."""

    def __init__(self, anchors: Iterable[Anchor], noted: Head | None, found: Findings) -> None:
        self.genuine = 0
        self._noted = noted
        self._found = found
        self._ahead: defaultdict[int, list[Anchor]] = defaultdict(list)
        self._agreed = ""
        """Where the chain last went through an anchor, in words."""
        self._differs = False
        self._accepted = 0
        keys = signing.known()
        for anchor in set(anchors):
            key = keys.get(anchor.key_id)
            if key and key.fits(anchor.statement, anchor.signature):
                self._ahead[anchor.seq].append(anchor)
                self.genuine += 1
            else:
                what = f"The anchor of {anchor.at} at place {anchor.seq} is signed by no known key."
                found.add("anchor", what, seq=anchor.seq)

    def place(self, seal: Place) -> None:
        """The next place of the chain."""
        noted = self._noted
        if noted and seal.seq == noted.seq and seal.hash != noted.hash:
            what = f"Place {seal.seq} has another hash than was noted: the chain was made anew."
            self._found.add("head", what, seq=seal.seq)
        for anchor in self._ahead.pop(seal.seq, ()):
            if anchor.hash == seal.hash:
                self._agreed = f"place {seal.seq} ({anchor.at})"
                self._accepted = max(self._accepted, anchor.accepts)
            else:
                self._differ(anchor, f"Place {seal.seq} is not what it was at")

    def end(self, newest: int) -> None:
        """The chain is at its end, at the place `newest`."""
        if self._noted and self._noted.seq > newest:
            what = f"The chain ends at place {newest}, but {self._noted.seq} was noted."
            self._found.add("head", what, seq=self._noted.seq)
        for seq, anchors in sorted(self._ahead.items()):
            if seq:
                says = f"The chain ends at place {newest}, but went on to place {seq} at"
                self._differ(anchors[0], says if seq > newest else f"Place {seq} was there at")

    def unsigned(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Name the places that nobody signed, but for those that an anchor vouches for."""
        for first, last in ranges:
            if last <= self._accepted:
                continue
            what = (
                f"Places {max(first, self._accepted + 1)} to {last} are not signed: their"
                " signatures were removed or altered, or there was no key when they were sealed."
                " If you know that it is the latter, vouch for them: manage.py anchor"
                " --accept-unsigned."
            )
            self._found.add("unsigned", what, seq=max(first, self._accepted + 1))

    def _differ(self, anchor: Anchor, says: str) -> None:
        """The first anchor that is missed; all later ones would only say the same."""
        if self._differs:
            return
        self._differs = True
        since = self._agreed or START
        what = f"{says} {anchor.at}, as its anchor says. The chain was changed after {since}."
        self._found.add("anchor", what, seq=anchor.seq)
