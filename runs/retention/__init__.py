"""Retention: taking away what ended runs need no longer, by age and class, if settings ask for it.

    keeping   what belongs to runs themselves: the way of their checkpoints, their states, payloads
    passes    which runs are due, what would go, and one pass that takes it away

1. Only what belongs to an ended run goes. A run with a call in doubt or unheard, an incident or an
   undo at work is kept whole: `Keeper.held`.
2. Rows stay as tombstones: who, when, verdicts, states, keys, hashes, references. So a key is never
   free again, and an erased result is told as a result that was not kept; nothing is called again.
3. One transaction per run and class, which locks the run and its lease and writes an `Erasure` row.
   A pass that is killed is taken up by the next one; what it had done stays done.
4. Every pass is one entry of the audit log with counts. What a killed pass has done is told by the
   next one. The log itself holds digests and references, no payloads, and is never touched.
5. Checkpoints go by LangGraph's own `prune`.
"""
