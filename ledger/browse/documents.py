"""What is asked of JSON documents, for which the ORM has no words."""

from __future__ import annotations

from django.db.models import BooleanField, Func, TextField


class Meets(Func):
    """Whether a JSON document has what a jsonpath looks for."""

    template = "(%(expressions)s)::jsonpath)"
    arg_joiner = " @? ("
    output_field = BooleanField()


class Values(Func):
    """All texts and numbers of a JSON document, as one text."""

    template = (
        "jsonb_path_query_array(%(expressions)s,"
        """ '$.** ? (@.type() == "string" || @.type() == "number")')::text"""
    )
    output_field = TextField()
