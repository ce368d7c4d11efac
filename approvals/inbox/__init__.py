"""The lists of approvals.

lines     requests as rows: what is wanted of whom, and until when
pages     the page that shows them
"""
