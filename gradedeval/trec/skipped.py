"""What `--lenient` leaves out of a file that is read whole, and the note about it."""

from __future__ import annotations

from dataclasses import dataclass

from gradedeval.errors import InputError, plural


@dataclass(eq=False)
class Skipped:
    """The bad lines, rows or entries of a file: errors, or with `lenient` counted.

    unit  what they are called
    """

    place: str
    lenient: bool = False
    unit: str = "line"
    count: int = 0
    at: int | str = ""

    def add(self, error: InputError, at: int | str) -> None:
        """Count one, at its number or by its name. Raises the error unless that is wanted."""
        if not self.lenient:
            raise error
        self.count += 1
        if not self.at or (isinstance(at, int) and isinstance(self.at, int)):
            self.at = min(at, self.at or at)

    @property
    def notes(self) -> list[str]:
        """The note, if anything was skipped."""
        bad = f"skipped {self.count} bad {plural(self.count, self.unit)}".replace("entrys", "entries")
        first = f"{self.unit} {self.at}" if isinstance(self.at, int) else self.at
        return [f"{self.place}: {bad}, the first on {first}"] if self.count else []
