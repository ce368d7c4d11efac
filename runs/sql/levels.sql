-- The namespaces below the tasks of a head: what the graphs that they call have saved. LangGraph
-- shows only graphs that it finds in a node's code, not one that is built or handed over there.
-- Raw because these are LangGraph's tables.   Index: checkpoints_pkey.
SELECT DISTINCT checkpoint_ns
  FROM checkpoints
 WHERE thread_id = %(thread)s AND checkpoint_ns > ''
   AND split_part(checkpoint_ns, '|', 1) = ANY(%(tasks)s)
 ORDER BY checkpoint_ns
