"""One request, read and decided.

shown     its values as a reader may see them
reading   everything that the page tells
picked    the answer that is being given: the form and what it holds
pages     the page itself, and the verdict that it sends
"""
