"""Finding effects: the list of the ledger with its filters, saved views and exports.

1. Everything that a list shows stands in its address, so it can be sent, saved and exported.
2. Effects are listed newest first, by the time they were reserved, which never changes: whoever
   pages through a list misses none and sees none twice, whatever happens to them meanwhile.
3. A filter that few effects meet is answered by its own index, whatever else is asked for; one that
   many meet is answered while walking down the list: see `browse.search`. Nothing counts further
   than `listing.MOST`.
4. A search finds whole values only, and only by those that pages show to the reader: see
   `browse.hidden`. Parts of values, and comparisons of fields that are hidden, would tell letter by
   letter what is hidden.
"""

from __future__ import annotations
