-- The nodes that have run, by the namespace of their graph: of the graph itself all, of graphs within those of
-- the newest checkpoints.
-- Raw because the table is LangGraph's.   Index: checkpoints_pkey, checkpoints_thread_id_idx.
SELECT found.checkpoint_ns, array_agg(DISTINCT seen.node)
  FROM (
    (SELECT checkpoint_ns, checkpoint FROM checkpoints
      WHERE thread_id = %(thread)s AND checkpoint_ns = ''
      ORDER BY checkpoint_id DESC LIMIT 1)
    UNION ALL
    (SELECT checkpoint_ns, checkpoint FROM checkpoints
      WHERE thread_id = %(thread)s AND checkpoint_ns <> ''
      ORDER BY checkpoint_id DESC LIMIT %(most)s)
  ) AS found,
  LATERAL jsonb_object_keys(found.checkpoint -> 'versions_seen') AS seen (node)
 WHERE NOT starts_with(seen.node, '__')
 GROUP BY found.checkpoint_ns
