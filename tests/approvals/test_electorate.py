"""How many different voices a group has, also where hundreds may decide."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from approvals import electorate, eligibility
from approvals.electorate import Electorate, Tally
from approvals.eligibility import Absent, Involved, Person, Standing
from approvals.errors import NotEligible
from approvals.models import Request
from approvals.policy import Excluded, Gate, Who

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


@st.composite
def worlds(draw) -> tuple[Electorate, list[tuple[Request, Gate]]]:
    """Requests of several runs in one list; nobody has voted yet."""
    people = {}
    for person in PEOPLE:
        absent = draw(st.lists(st.sampled_from(PEOPLE), unique=True, max_size=1))
        agents = draw(st.sampled_from([("*",), ("mailing",)]))
        people[person.user_id] = replace(
            person, absent=tuple(Absent(person=each, agents=agents) for each in absent)
        )
    # Few choices, so that requests are often alike but in one thing.
    ids = st.sampled_from([None, 0, 1, 99])
    hands = st.sampled_from([{}, {0: "retry"}, {1: "retry"}])
    barred = st.sampled_from([frozenset(Excluded), frozenset({Excluded.REQUESTER})])
    asked, involved = [], {}
    for n in range(5):
        run_id = UUID(int=n)
        involved[run_id] = Involved(
            requester_id=draw(ids),
            hands=draw(hands),
            agent=draw(st.sampled_from([AGENT, "mailing"])),
        )
        gate = Gate(who=(Who(groups=frozenset({"finance"})),), excluded=draw(barred), quorum=2)
        asked.append((Request(pk=UUID(int=n + 100), run_id=run_id), gate))
    nobody: dict[UUID, frozenset[int]] = {request.pk: frozenset() for request, _ in asked}
    return (
        Electorate(
            people=tuple(people.values()),
            involved=involved,
            approved=nobody,
            proposed=nobody,
            strict={},
        ),
        asked,
    )


@given(world=worlds())
def test_each_request_of_a_list_is_judged_by_itself(world):
    several, asked = world
    for request, gate in asked:
        involved = several.involved[request.run_id]
        found = [eligibility.standing(each, gate, involved) for each in several.people]
        may = [each for each in found if not isinstance(each, NotEligible)]
        assert several.called(request, gate) == {each.person.user_id for each in may}
        able = len(electorate._voices(may, [], involved.agent))
        assert several.tally(request, gate) == Tally(approvals=0, able=able, missing=gate.quorum)


@given(people=standings(), heard=standings())
def test_voices_are_those_of_which_no_two_are_one(people, heard):
    apart: list[Standing] = []
    for each in people:
        if not any(eligibility.one_voice(each, other, AGENT) for other in (*heard, *apart)):
            apart.append(each)
    assert electorate._voices(people, heard, AGENT) == apart
