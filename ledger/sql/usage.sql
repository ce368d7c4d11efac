-- Every tool that has effects: how many of a time, whose runs have used it in it, and when it was
-- used last.
-- Raw: groups would read all effects of the time; this jumps from name to name and counts in an
-- index.   Indexes: effects_by_tool, effects_by_agent, effects_by_use.
WITH RECURSIVE known (tool) AS (
    (SELECT tool FROM effects ORDER BY tool LIMIT 1)
    UNION ALL
    SELECT (SELECT tool FROM effects WHERE tool > known.tool ORDER BY tool LIMIT 1)
      FROM known
     WHERE known.tool IS NOT NULL
), working (agent) AS (
    (SELECT agent FROM effects ORDER BY agent LIMIT 1)
    UNION ALL
    SELECT (SELECT agent FROM effects WHERE agent > working.agent ORDER BY agent LIMIT 1)
      FROM working
     WHERE working.agent IS NOT NULL
), period (since) AS MATERIALIZED (
    SELECT clock_timestamp() - make_interval(secs => %(seconds)s)
)
SELECT known.tool,
       (SELECT count(*) FROM effects
         WHERE effects.tool = known.tool AND created_at > since),
       ARRAY(SELECT agent FROM working
              WHERE EXISTS (SELECT FROM effects
                             WHERE effects.agent = working.agent AND effects.tool = known.tool
                               AND created_at > since)
              ORDER BY agent),
       (SELECT created_at FROM effects
         WHERE effects.tool = known.tool ORDER BY created_at DESC LIMIT 1)
  FROM known, period
 WHERE known.tool IS NOT NULL;
