"""Whether a request hides a value from somebody, so that no search finds the value out."""

from __future__ import annotations

from django.db import migrations

HIDES = r"""
CREATE FUNCTION approvals_hides(
    policy jsonb, payload jsonb, now_masked text[], groups text[], field text, words text[]
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE COST 5000 AS $$
    SELECT EXISTS (
        SELECT
          FROM (SELECT mask #>> '{}' AS mask FROM jsonb_path_query(policy, '$.**.masked[*]') mask
                 UNION
                SELECT unnest(now_masked)) masked,
               LATERAL (
                   SELECT string_to_array(btrim(split_part(mask, ':', 1)), '.') AS names,
                          regexp_split_to_array(btrim(regexp_replace(mask, '^[^:]*:?', '')),
                                                '\s*,\s*') AS seen_by
               ) read,
               LATERAL (
                   SELECT string_agg('.' || name, '' ORDER BY place)
                              FILTER (WHERE name !~ '^[0-9]+$') || '.' AS ending,
                          string_agg(CASE WHEN name ~ '^[0-9]+$' THEN '[*]'
                                          ELSE '.' || to_json(name)::text END, '' ORDER BY place)
                              AS inside
                     FROM unnest(names[2:]) WITH ORDINALITY AS each (name, place)
               ) told
         WHERE names[1] IN ('args', 'payload')
           AND NOT seen_by && groups
           AND (strpos('.' || field || '.', ending) > 0
                OR EXISTS (
                    SELECT
                      FROM jsonb_path_query(
                               payload,
                               (CASE names[1] WHEN 'args' THEN '$.**."args"' ELSE '$' END
                                || coalesce(inside, '') || '.**')::jsonpath) held,
                           LATERAL (
                               SELECT CASE jsonb_typeof(held)
                                      WHEN 'number' THEN trim_scale((held #>> '{}')::numeric)::text
                                      WHEN 'string' THEN lower(held #>> '{}') END AS text
                           ) known
                     WHERE length(text) >= 4
                       AND EXISTS (SELECT FROM unnest(words) word WHERE strpos(word, text) > 0)))
    )
$$
"""


class Migration(migrations.Migration):
    dependencies = [("approvals", "0009_closed_requests")]

    operations = [migrations.RunSQL(HIDES, "DROP FUNCTION approvals_hides")]
