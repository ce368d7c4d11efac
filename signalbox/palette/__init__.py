"""Go to anything by typing part of its name: a page, a run, something to do.

The same answers are a page of its own, `/go/?q=…`, and the dialog that Ctrl K opens.

- destinations: the pages and actions that have a name here, and who may open them
- finding: which of them, and which runs, a text means
- pages: the view
"""
