"""The keys that pages understand, for `static/js/keys.js` and for the people who press them.

- table: every key and what it does
- pages: the list of them, as a page and as the dialog that `?` opens
"""
