"""What pages show of a document, as `runs.masking.mask` says it, for searches in the database."""

from __future__ import annotations

from django.db import migrations

CLOAK = "CREATE TYPE runs_cloak AS (endings text[], texts text[], numbers numeric[])"
"""As `runs.masking.Cloak`. An ending is a path: each name is followed by U+001F, and the first one
comes after it."""

HIDES = """
CREATE FUNCTION runs_hides(key text, names text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH words AS (
        SELECT lower(found[1]) AS word, place
          FROM regexp_matches(key, '[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+', 'g')
               WITH ORDINALITY each (found, place)
    )
    SELECT EXISTS (
        SELECT
          FROM words one LEFT JOIN words two ON two.place = one.place + 1
         WHERE one.word = ANY (names) OR one.word || '_' || two.word = ANY (names))
$$
"""

READ = """
CREATE FUNCTION runs_read(told text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN told::jsonb;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$
"""
"""Null: it is no JSON."""

WHOLE = r"""
CREATE FUNCTION runs_shown_whole(told text, under text[], cloak runs_cloak, names text[])
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    read jsonb := runs_read(told);
BEGIN
    IF read IS NULL THEN
        RETURN told !~ '[]}]\s*$';
    END IF;
    RETURN strpos(told, '\u') = 0
       AND NOT EXISTS (SELECT FROM runs_shown(read, under, cloak, names) WHERE NOT shown);
END
$$
"""
"""Of a text that may be JSON. Where Python reads more into it than PostgreSQL, it is not shown."""

SHOWN = r"""
CREATE FUNCTION runs_shown(doc jsonb, under text[], cloak runs_cloak, names text[])
RETURNS TABLE (path text, place text[], leaf jsonb, shown boolean)
LANGUAGE sql IMMUTABLE AS $$
    WITH RECURSIVE inside (path, place, held, hidden, depth) AS (
        SELECT '', under, doc,
               doc NOT IN ('null', '""', '[]', '{}') AND (
                   runs_hides(under[cardinality(under)], names)
                   OR EXISTS (
                       SELECT FROM unnest((cloak).endings) ending
                        WHERE right(concat(E'\x1f', array_to_string(under, E'\x1f'), E'\x1f'),
                                    length(ending)) = ending)),
               0
        UNION ALL
        SELECT CASE WHEN child.name IS NULL THEN inside.path
                    WHEN inside.path = '' THEN child.name
                    ELSE inside.path || '.' || child.name END,
               inside.place || child.key,
               child.held,
               inside.hidden OR child.held NOT IN ('null', '""', '[]', '{}') AND (
                   jsonb_typeof(child.held) <> 'boolean'
                       AND child.name ~* replace(array_to_string(names, '|'), '_', '.*')
                       AND runs_hides(child.name, names)
                   OR EXISTS (
                       SELECT FROM unnest((cloak).endings) ending
                        WHERE right(concat(E'\x1f', array_to_string(inside.place, E'\x1f'),
                                           E'\x1f', child.key, E'\x1f'),
                                    length(ending)) = ending)),
               depth + 1
          FROM inside,
               LATERAL (
                   SELECT key AS name, key, value AS held
                     FROM jsonb_each(CASE jsonb_typeof(inside.held)
                                     WHEN 'object' THEN inside.held ELSE '{}' END)
                    UNION ALL
                   SELECT NULL, (place - 1)::text, value
                     FROM jsonb_array_elements(CASE jsonb_typeof(inside.held)
                                               WHEN 'array' THEN inside.held ELSE '[]' END)
                          WITH ORDINALITY each (value, place)
               ) child
         WHERE depth < 20
    )
    SELECT path, place, held, NOT hidden AND CASE jsonb_typeof(held)
               WHEN 'string' THEN
                   NOT EXISTS (
                       SELECT FROM unnest((cloak).texts) text
                        WHERE strpos(held #>> '{}', text) > 0)
                   AND ((cloak).endings IS NULL OR left(held #>> '{}', 1) NOT IN ('{', '[')
                        OR runs_shown_whole(held #>> '{}', place, cloak, names))
               WHEN 'number' THEN
                   ((cloak).numbers IS NULL OR (held #>> '{}')::numeric <> ALL ((cloak).numbers))
                   AND (strpos(held #>> '{}', '.') > 0 OR NOT EXISTS (
                       SELECT FROM unnest((cloak).texts) text
                        WHERE strpos(held #>> '{}', text) > 0))
               ELSE jsonb_typeof(held) NOT IN ('object', 'array') OR held IN ('[]', '{}') END
      FROM inside
     WHERE jsonb_typeof(held) NOT IN ('object', 'array') OR held IN ('[]', '{}') OR depth = 20
$$
"""
"""Each single value, and whether it is shown. `path` leaves places in lists out, and what is nested
deeper than searches go is one value that is not shown."""

LEAVES = """
CREATE FUNCTION runs_shown_leaves(doc jsonb, cloak runs_cloak, names text[]) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE COST 5000 SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN ARRAY(
        SELECT path || '=' || unnest(ARRAY['', word])
          FROM (SELECT path, shown, CASE jsonb_typeof(leaf)
                       WHEN 'number' THEN trim_scale((leaf #>> '{}')::numeric)::text
                       ELSE lower(leaf #>> '{}') END AS word
                  FROM runs_shown(doc, '{}', cloak, names)
                 WHERE jsonb_typeof(leaf) IN ('string', 'number', 'boolean')
                   AND length(path) BETWEEN 1 AND 200
                 LIMIT 300) leaves
         WHERE shown);
END
$$
"""
"""What `runs_leaves` would find if the document were as it is shown."""


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_operations")]

    operations = [
        migrations.RunSQL(CLOAK, "DROP TYPE runs_cloak"),
        migrations.RunSQL(HIDES, "DROP FUNCTION runs_hides"),
        migrations.RunSQL(READ, "DROP FUNCTION runs_read"),
        migrations.RunSQL(WHOLE, "DROP FUNCTION runs_shown_whole"),
        migrations.RunSQL(SHOWN, "DROP FUNCTION runs_shown"),
        migrations.RunSQL(LEAVES, "DROP FUNCTION runs_shown_leaves"),
    ]
