"""The list of runs: filters, search, counts, and pages that hold still under the reader.

1. Everything that a list shows stands in its address, so it can be sent and saved.
2. Runs are listed newest first, by the time they were accepted, which never changes: whoever pages
   through a list misses none and sees none twice, whatever happens to them meanwhile.
3. A poll says which rows are shown and gets those rows alone, as they are now, in their places.
   One that does not fit the filters any more says so and stays. Others wait behind a link.
4. A search finds words of titles by their beginnings, and whole values of the input. Fields that
   are hidden from the reader are not compared for them, and no run is found by a value that it
   hides from them, under whatever name. What a search does not understand is said.
5. Nothing counts further than `counts.MOST`, and no question to the database is left to take long.
"""

from __future__ import annotations
