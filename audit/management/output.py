"""The option `--json FILE|-` that commands share.

With `-` nothing but the JSON object goes to stdout, on its last line; with a file the command still
says in words what it found.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import TextIO

from django.core.management.base import CommandError, OutputWrapper

from audit.canonical import Json

STDOUT = "-"


def add_json_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--json", metavar="FILE", default="", help="write one JSON object to FILE, or - for stdout"
    )


def write_json(result: Json, to: str, stdout: TextIO | OutputWrapper) -> None:
    """Write `result` where the option says; nothing if it was not given. Raises CommandError."""
    if not to:
        return
    line = json.dumps(result)
    if to == STDOUT:
        stdout.write(line + "\n")
        return
    try:
        Path(to).write_text(line + "\n")
    except OSError as error:
        raise CommandError(
            f"{to} cannot be written: {error.strerror}. Name another file.", returncode=2
        ) from error
