"""How many different voices a group has, also where hundreds may decide."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from approvals import electorate, eligibility
from approvals.eligibility import Absent, Person, Standing

AGENT = "refund_desk"
PEOPLE = [
    Person(user_id=n, label=f"P{n}", may_decide=True, groups=frozenset({"finance"}))
    for n in range(6)
]


@st.composite
def standings(draw) -> list[Standing]:
    """A few people, some of whom stand in for others, and decide as themselves or for them."""
    found = []
    for person in draw(st.lists(st.sampled_from(PEOPLE), unique=True, max_size=6)):
        others = [each for each in PEOPLE if each is not person]
        absent = draw(st.lists(st.sampled_from(others), unique=True, max_size=2))
        agents = draw(st.sampled_from([("*",), ("mailing",)]))
        whole = Person(
            user_id=person.user_id,
            label=person.label,
            may_decide=True,
            groups=person.groups,
            absent=tuple(Absent(person=each, agents=agents) for each in absent),
        )
        for_whom = draw(st.sampled_from([None, *absent]))
        found.append(Standing(person=whole, absent=for_whom))
    return found


@given(people=standings(), heard=standings())
def test_voices_are_those_of_which_no_two_are_one(people, heard):
    apart: list[Standing] = []
    for each in people:
        if not any(eligibility.one_voice(each, other, AGENT) for other in (*heard, *apart)):
            apart.append(each)
    assert electorate._voices(people, heard, AGENT) == apart
