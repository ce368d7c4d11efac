"""What policies mask in one run, as `approvals.cloaks` says it, for searches in the database."""

from __future__ import annotations

from importlib import import_module

from django.db import migrations

MASKED = r"""
CREATE FUNCTION approvals_masked(policy jsonb, groups text[]) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT btrim(split_part(mask #>> '{}', ':', 1))
      FROM (SELECT jsonb_path_query(policy, '$.masked[*]')
             UNION ALL
            SELECT jsonb_path_query(policy, '$.also[*].masked[*]')) masks (mask)
     WHERE NOT regexp_split_to_array(btrim(regexp_replace(mask #>> '{}', '^[^:]*:?', '')),
                                     '\s*,\s*') && groups
$$
"""
"""The paths that the policies of a request mask from members of these groups."""

LOST = r"""
CREATE FUNCTION approvals_lost(payload jsonb, path text) RETURNS SETOF jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    WITH RECURSIVE names (root, keys) AS (
        SELECT split_part(path, '.', 1), (string_to_array(path, '.'))[2:]
    ), inside (held, called) AS (
        SELECT payload, root = 'payload' FROM names WHERE root IN ('args', 'payload')
        UNION ALL
        SELECT child.held, child.key IS NOT DISTINCT FROM 'args'
          FROM inside,
               LATERAL (
                   SELECT key, value AS held
                     FROM jsonb_each(CASE jsonb_typeof(inside.held)
                                     WHEN 'object' THEN inside.held ELSE '{}' END)
                    UNION ALL
                   SELECT NULL, value
                     FROM jsonb_array_elements(CASE jsonb_typeof(inside.held)
                                               WHEN 'array' THEN inside.held ELSE '[]' END)
               ) child
         WHERE NOT called
    )
    SELECT leaf
      FROM inside, names,
           LATERAL jsonb_path_query(
               CASE keys WHEN '{}' THEN held ELSE held #> keys END, 'strict $.**') leaf
     WHERE called
$$
"""
"""All that stands at the path of a mask in what is asked: see `approvals.policies.masks.cover`."""

CLOAK = r"""
CREATE FUNCTION approvals_cloak(of_run uuid, of_agent text, in_force jsonb, reader text[])
RETURNS runs_cloak
LANGUAGE plpgsql STABLE COST 1000 SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    may text[] := ARRAY(
        SELECT mask ->> 1 FROM jsonb_array_elements(in_force) mask
         WHERE of_agent LIKE (mask ->> 0));
    cloak runs_cloak;
BEGIN
    IF may = '{}' AND NOT EXISTS (
        SELECT FROM approvals_request
         WHERE run_id = of_run AND EXISTS (SELECT FROM approvals_masked(policy, reader))
    ) THEN
        RETURN NULL;
    END IF;
    WITH hiding AS (
        SELECT id, payload, path
          FROM approvals_request, LATERAL (
                   SELECT approvals_masked(policy, reader) UNION SELECT unnest(may)
               ) masked (path)
         WHERE run_id = of_run
    ), lost AS (
        SELECT DISTINCT leaf FROM hiding, approvals_lost(payload, path) leaf
    )
    SELECT (SELECT array_agg(DISTINCT E'\x1f' || array_to_string(names, E'\x1f') || E'\x1f')
              FROM (SELECT CASE path WHEN 'args' THEN '{args}'
                                     ELSE (string_to_array(path, '.'))[2:] END AS names
                      FROM (SELECT path FROM hiding UNION SELECT unnest(may)) paths (path)
                     WHERE split_part(path, '.', 1) IN ('args', 'payload')) ends
             WHERE names <> '{}'),
           (SELECT array_agg(leaf #>> '{}') FROM lost
             WHERE jsonb_typeof(leaf) = 'string' AND length(leaf #>> '{}') >= 4),
           (SELECT array_agg((leaf #>> '{}')::numeric) FROM lost
             WHERE jsonb_typeof(leaf) = 'number'
               AND abs(CASE jsonb_typeof(leaf) WHEN 'number' THEN (leaf #>> '{}')::numeric END)
                   >= 1000)
      INTO cloak;
    RETURN cloak;
END
$$
"""
"""Null: nothing is hidden. `in_force`: pairs of a pattern of agents and the path of a mask."""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0011_asked_of"), ("runs", "0012_shown")]

    operations = [
        migrations.RunSQL(
            "DROP FUNCTION approvals_hides",
            import_module("approvals.migrations.0010_hidden_values").HIDES,
        ),
        migrations.RunSQL(MASKED, "DROP FUNCTION approvals_masked"),
        migrations.RunSQL(LOST, "DROP FUNCTION approvals_lost"),
        migrations.RunSQL(CLOAK, "DROP FUNCTION approvals_cloak"),
    ]
