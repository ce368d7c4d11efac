"""The proof: one walk along the chain, held against all that it must agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from audit import anchors
from audit.verify import reading, report
from audit.verify.anchored import Anchored
from audit.verify.leaves import Leaves
from audit.verify.links import Links
from audit.verify.report import Findings, Head, Problem, Report


def verify(
    noted: Head | None = None,
    *,
    also: Iterable[anchors.Anchor] = (),
    progress: Callable[[int], None] = lambda checked: None,
) -> Report:
    """Read the whole log and check every digest, link, place and signature.

    The chain must go through every anchor: those kept in the database and in AUDIT_ANCHOR_FILE,
    and `also` those given. `noted` is a head that an earlier report gave. `progress` hears how many
    entries are done. Raises AnchorsUnreadable if the file is there and cannot be read.
    """
    found, upto = Findings(), reading.extent()
    links, leaves = Links(found=found), Leaves(found, upto)
    held = Anchored((*anchors.kept(), *also), noted, found)
    for place in reading.chain(upto):
        links.place(place)
        leaves.place(place)
        held.place(place)
        if links.checked % reading.PAGE == 0:
            progress(links.checked)
        if links.enough or leaves.enough:
            break
    else:
        for waiting in reading.not_sealed():
            links.not_sealed(waiting)
            if links.enough:
                break
        leaves.end()
        held.end(links.head.seq)
    held.unsigned(leaves.unsigned)
    links.end(leaves.shifted())
    return Report(
        checked=links.checked,
        signed=leaves.signed,
        unsealed=links.waiting,
        anchors=held.genuine,
        problems=_listed(found, more=links.enough or leaves.enough),
        head=links.head if links.head.seq else None,
    )


def _listed(found: Findings, *, more: bool) -> tuple[Problem, ...]:
    """In the order of places, each once."""
    once = {(one.kind, one.entry_id, one.seq): one for one in reversed(found.problems)}
    whole = sorted(once.values(), key=lambda one: (one.seq is None, one.seq or 0))
    if more:
        what = f"Stopped after {report.MOST_PROBLEMS} problems; there may be more."
        return (*whole[: report.MOST_PROBLEMS], Problem(kind="more", what=what))
    return tuple(whole)
