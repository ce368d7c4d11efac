"""`manage.py start`: one line, and an exit status that says whose mistake it was."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from runs.models import Run


@pytest.fixture(autouse=True)
def line(database: None, rung: object, declare) -> None:
    declare("line")


def test_it_accepts_a_run_and_prints_its_id(capsys) -> None:
    call_command("start", "line", "--input", "{}")
    assert capsys.readouterr().out == f"{Run.objects.get().pk}\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param("{", "This is not JSON", id="no JSON"),
        pytest.param("[" * 100_000, "nested too deep", id="too deep"),
        pytest.param("1" * 5_000, "This is not JSON", id="too long a number"),
    ],
)
def test_an_input_that_cannot_be_read_is_wrong_usage(given, said) -> None:
    with pytest.raises(CommandError, match=said) as refused:
        call_command("start", "line", "--input", given)
    assert refused.value.returncode == 2
    assert str(refused.value).startswith("--input: ")
    assert "\n" not in str(refused.value)
    assert not Run.objects.exists()


def test_an_input_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(CommandError, match="null") as refused:
        call_command("start", "line", "--input", "null")
    assert refused.value.returncode == 1
