"""The tables of states are complete, and a run leaves no state but as its table says."""

from __future__ import annotations

import pytest

from runs import status

TABLES = {
    "states": (status.STATES, status.Status),
    "parks": (status.PARKS, status.Park),
    "outcomes": (status.OUTCOMES, status.Outcome),
}
TONES = {"neutral", "info", "human", "ok", "warn", "bad"}
EVERY = [
    state
    for table in (status.STATES, status.PARKS, status.OUTCOMES, status.OVERLAYS)
    for state in table.values()
]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_exactly_the_values_that_are_stored(name: str) -> None:
    table, values = TABLES[name]
    assert set(table) == set(values.values)
    assert all(state.value == key for key, state in table.items())


@pytest.mark.parametrize("state", EVERY, ids=lambda state: state.value)
def test_a_state_says_what_it_means(state: status.State) -> None:
    assert state.tone in TONES
    assert state.icon
    assert state.label
    assert state.label[0].isupper()
    assert state.sentence[0].isupper()
    assert state.sentence.endswith(".")


def test_ended_and_live_states_are_all_states() -> None:
    assert set(status.ENDED) | set(status.LIVE) == set(status.Status)
    assert not set(status.ENDED) & set(status.LIVE)


@pytest.mark.parametrize("state", status.STATES.values(), ids=lambda state: state.value)
def test_a_state_goes_where_states_are_and_an_ended_one_nowhere(state: status.State) -> None:
    assert set(state.next) <= set(status.Status.values)
    assert bool(state.next) == (state.value in status.LIVE)


def test_every_rest_is_entered_from_running_alone() -> None:
    """A driver takes the lease first, so whatever a run becomes, it was running before."""
    for state in status.STATES.values():
        if state.value != status.Status.RUNNING:
            assert set(state.next) <= {status.Status.RUNNING}
    assert set(status.STATES["running"].next) == set(status.Status.values)
