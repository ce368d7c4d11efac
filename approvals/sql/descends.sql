-- Whether checkpoint `head` of a thread descends from checkpoint `origin` by normal steps only: no
-- update by hand, no new input and no fork on the way. The walk ends at the first step of that kind.
-- Raw: recursive, on a table that LangGraph owns.   Index: checkpoints_pkey.
WITH RECURSIVE way (checkpoint_id, parent_checkpoint_id, source) AS (
    SELECT checkpoint_id, parent_checkpoint_id, metadata ->> 'source'
      FROM checkpoints
     WHERE thread_id = %(thread)s AND checkpoint_ns = '' AND checkpoint_id = %(head)s
    UNION
    SELECT older.checkpoint_id, older.parent_checkpoint_id, older.metadata ->> 'source'
      FROM way
      JOIN checkpoints older
        ON older.thread_id = %(thread)s AND older.checkpoint_ns = ''
       AND older.checkpoint_id = way.parent_checkpoint_id
     WHERE way.source = 'loop' AND way.checkpoint_id <> %(origin)s
)
SELECT EXISTS (SELECT FROM way WHERE source = 'loop' AND parent_checkpoint_id = %(origin)s)
