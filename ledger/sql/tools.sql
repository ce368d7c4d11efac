-- The names of the tools that have effects, in order.
-- Raw: DISTINCT would read all effects; this jumps from one name to the next.
-- Index: effects_by_tool.
WITH RECURSIVE known (tool) AS (
    (SELECT tool FROM effects ORDER BY tool LIMIT 1)
    UNION ALL
    SELECT (SELECT tool FROM effects WHERE tool > known.tool ORDER BY tool LIMIT 1)
      FROM known
     WHERE known.tool IS NOT NULL
)
SELECT tool FROM known WHERE tool IS NOT NULL
