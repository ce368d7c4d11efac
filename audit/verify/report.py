"""What proving the log can find."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_PROBLEMS = 1000
"""Proving stops here: a log in this state needs no longer list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A seal that others can be held against."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong.

    `kind` is one of: altered (an entry is not what it was), missing (it is gone), inserted (it was
    put into the chain without the key), reordered (it was moved), late (it was put in afterwards
    with an old time), gap (seals are gone), broken (a seal does not fit), unsigned (nobody signed
    these seals), signature (a signature is not genuine), key (the key of a signature is not known
    here), anchor (the chain does not go through an anchor, or an anchor is not genuine), head (it
    does not go through the head noted), more (not all listed).
    """

    kind: str
    what: str
    entry_id: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `verify` found."""

    checked: int
    """Sealed entries."""
    signed: int
    """Of these, those that a genuine signature covers."""
    unsealed: int
    """Entries that no seal protects yet; a few in a log that is being written."""
    anchors: int
    """Genuine anchors that the chain was held against."""
    problems: tuple[Problem, ...]
    head: Head | None
    """The newest seal; None in a log without any."""

    @property
    def ok(self) -> bool:
        return not self.problems


@dataclass(slots=True)
class Findings:
    """Problems as they are found, up to a number."""

    problems: list[Problem] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        return len(self.problems) >= MOST_PROBLEMS

    def add(
        self, kind: str, what: str, entry_id: int | None = None, seq: int | None = None
    ) -> None:
        self.problems.append(Problem(kind=kind, what=what, entry_id=entry_id, seq=seq))

    def entries(self) -> set[int]:
        """The entries that are named."""
        return {one.entry_id for one in self.problems if one.entry_id is not None}
