"""The words of what a schema says in text, rules and expressions, read from left to right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn

from icsa.errors import InputError

__all__ = ["Reader", "Word", "quoted_name", "renamed", "word_pattern"]

_QUOTES = {"column": "`", "double": '"', "single": "'"}
_SPELLINGS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "**": "^"}
_NAME = r"[^\W\d][\w.]*"
# Names of columns that are also words of rules or expressions stand in backquotes.
_KEYWORDS = frozenset({"if", "then", "in", "missing", "present", "and", "or", "not"})


@dataclass(frozen=True)
class Word:
    """One piece of a text: what sort it is, its content, where it begins."""

    sort: Literal["moment", "number", "column", "double", "single", "sign", "word", "end"]
    text: str
    position: int

    def is_word(self, word: str) -> bool:
        """Return whether it is this keyword."""
        return self.sort == "word" and self.text.lower() == word

    def is_sign(self, *signs: str) -> bool:
        """Return whether it is one of these signs."""
        return self.sort == "sign" and self.text in signs


def quoted_name(name: str) -> str:
    """Return the name of a column as expressions and rules write it.

    Examples
    --------
    >>> quoted_name("weight"), quoted_name("birth weight")
    ('weight', '`birth weight`')
    """
    plain = re.fullmatch(_NAME, name) and name.lower() not in _KEYWORDS
    return name if plain else "`" + name.replace("`", "``") + "`"


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a rule or an expression with other names of columns.

    Examples
    --------
    >>> renamed('if smoker = "no" then cigarettes = 0', {"cigarettes": "cigarettes #2"})
    'if smoker = "no" then `cigarettes #2` = 0'
    """

    def written(match: re.Match[str]) -> str:
        name = match["word"] or (match["column"] or "").replace("``", "`")
        return quoted_name(names[name]) if name in names else match[0]

    return re.sub(
        rf'`(?P<column>(?:[^`]|``)+)`|"[^"]*"|\'[^\']*\'|(?P<word>{_NAME})', written, text
    )


def word_pattern(moment: str, sign: str, number: str = "") -> re.Pattern[str]:
    """Return what matches the next word; dates come before numbers, which begin alike.

    Parameters
    ----------
    moment, sign, number : str
        Patterns of what follows a date's day, of signs, and of what may stand before a number.
    """
    return re.compile(
        rf"""\s*(?:
        (?P<moment>\d{{4}}-\d{{2}}-\d{{2}}{moment})
        |(?P<number>{number}(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
        |`(?P<column>(?:[^`]|``)+)`
        |"(?P<double>(?:[^"]|"")*)"
        |'(?P<single>(?:[^']|'')*)'
        |(?P<sign>{sign})
        |(?P<word>{_NAME})
        )""",
        re.VERBOSE,
    )


class Reader:
    """Takes the words of a text one by one; `label` and `example` stand in its errors."""

    tokens: ClassVar[re.Pattern[str]]
    label: ClassVar[str]
    example: ClassVar[str]
    most_signs: ClassVar[int] = 1_000_000

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.words = [Word("end", "", 0)]
        if len(text) > self.most_signs:
            self.fail(f"longer than {self.most_signs} signs")
        self.words = self._read()

    @property
    def next(self) -> Word:
        """The word that comes next."""
        return self.words[self.place]

    def take(self) -> Word:
        """Return the next word, and go on behind it."""
        word = self.words[self.place]
        self.place = min(self.place + 1, len(self.words) - 1)
        return word

    def fail(self, what: str, word: Word | None = None) -> NoReturn:
        """Raise an `InputError` that names the place."""
        shown = self.text if len(self.text) <= self.most_signs else f"{self.text[:40]}..."
        position = (word or self.next).position + 1
        raise InputError(
            f"{self.label} {shown!r}, position {position}: {what}. Write it as in {self.example}."
        )

    def fail_without_column(self, word: Word, columns: Iterable[str], reason: str = "") -> NoReturn:
        """Raise that there is no column of this name, with the nearest one."""
        near = difflib.get_close_matches(word.text, list(columns), n=1, cutoff=0.4)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        self.fail(f"no column {word.text!r}{reason}{hint}", word)

    def _read(self) -> list[Word]:
        words: list[Word] = []
        place, end = 0, len(self.text.rstrip())
        while place < end:
            match = self.tokens.match(self.text, place)
            if match is None or match.lastgroup is None:
                start = end - len(self.text[place:end].lstrip())
                self.fail("cannot be read", Word("end", "", start))
            sort, content = match.lastgroup, match[match.lastgroup]
            mark = _QUOTES.get(sort)
            if mark is not None:
                content = content.replace(mark * 2, mark)
            if sort == "sign":
                content = _SPELLINGS.get(content, content)
            begins = match.start(sort) - (mark is not None)
            words.append(Word(sort, content, begins))  # type: ignore[arg-type]
            place = match.end()
        return [*words, Word("end", "", end)]
