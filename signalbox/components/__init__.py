"""The component page, /components/: every component in every state, for staff who write pages.

It is in English: its words are samples, and its readers write templates.

- samples: what the components show there
- pages: the page, and the region of it that keeps itself up to date
"""
