"""The catalogues of the interface's words: locale/<language>/LC_MESSAGES/django.po and .mo.

1. What stands in them is collected from the templates, from the code (gettext and its kin) and from
   the docstrings of errors, which are what people read. No tool of the system is needed.
2. A catalogue is sorted by its English and says no places, so that two changes rarely meet.
3. The .mo is made of the .po and committed with it: whoever installs Signalbox compiles nothing.
4. `manage.py translations` (`make messages`) brings both up to date and says what is
   still untranslated. Tests fail while something is: see docs/translation.md.
"""
