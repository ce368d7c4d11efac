"""Bring the catalogues of words up to date. Needs nothing of the system: see the package."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from signalbox.translations import books, collecting


class Command(BaseCommand):
    help = "Collect the words of the interface, compile the catalogues, say what is untranslated."
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        found = collecting.catalog()
        for language in books.languages():
            updated = books.update(language, found)
            po = books.written(updated)
            path = books.place(language)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(po)
            path.with_suffix(".mo").write_bytes(books.compiled(po, language))
            self._say(language, books.untranslated(updated), len(found))

    def _say(self, language: str, missing: list[str], whole: int) -> None:
        self.stdout.write(f"{language}: {whole} texts, {len(missing)} untranslated")
        for text in missing:
            self.stdout.write(f"  {text}")
