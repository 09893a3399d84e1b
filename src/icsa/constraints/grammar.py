"""From the text of a rule to what it says, with errors that name the place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from icsa.constraints.written import Reader, Word, word_pattern

__all__ = ["Claim", "Operator", "Rule", "parse_rule"]

Operator: TypeAlias = Literal["<=", "<", ">=", ">", "=", "!=", "in", "missing", "present"]

_SIGNS = ("<=", "<", ">=", ">", "=", "!=")
_KEYWORDS = frozenset({"if", "then", "in", "missing", "present"})


@dataclass(frozen=True)
class Claim:
    """Something that a row satisfies or not.

    Attributes
    ----------
    column : str
    operator : str
    other : str, optional
        The column that it is compared with.
    values : tuple of Word
        What it is compared with, as it was written: the column's type says how to read it.
    """

    column: str
    operator: Operator
    other: str | None = None
    values: tuple[Word, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A rule that every row keeps: `then`, or `then` in the rows that satisfy `when`."""

    text: str
    then: Claim
    when: Claim | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns that it speaks of."""
        claims = (self.then,) if self.when is None else (self.when, self.then)
        names = [name for claim in claims for name in (claim.column, claim.other)]
        return tuple(dict.fromkeys(name for name in names if name is not None))


def parse_rule(text: str, columns: Iterable[str]) -> Rule:
    """Return what a rule says.

    Parameters
    ----------
    text : str
        Such as ``diagnosed <= died`` or ``if pregnant = 0 then weeks missing``.
    columns : iterable of str
        Names of the table's columns.

    Raises
    ------
    InputError
        When it cannot be read, with the place, or names a column that the table does not have.

    Examples
    --------
    >>> rule = parse_rule('if smoker = "yes" then packs >= 1', ["smoker", "packs"])
    >>> rule.when.column, rule.then.column, rule.then.operator
    ('smoker', 'packs', '>=')
    """
    return _Parser(text, tuple(columns)).rule()


class _Parser(Reader):
    """Reads the words of one rule from left to right."""

    tokens = word_pattern(
        r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?|\d{2}:\d{2}(?::\d{2})?",
        r"<=|>=|==|!=|[<>={},≤≥≠]",
        number="[+-]?",
    )
    label = "Rule"
    example = "'x <= y', 'x in {1, 2}' or 'if a = 0 then b missing'"

    def __init__(self, text: str, columns: tuple[str, ...]) -> None:
        self.columns = columns
        super().__init__(text)

    def rule(self) -> Rule:
        when = None
        if self.next.is_word("if"):
            self.take()
            when = self.claim()
            if not self.next.is_word("then"):
                self.fail("'then' was expected")
            self.take()
        start = self.next
        then = self.claim()
        if then.operator == "!=":
            self.fail("!= can only stand behind 'if'; list the allowed values with 'in'", start)
        if self.next.sort != "end":
            self.fail("the rule should end here")
        return Rule(self.text.strip(), then, when)

    def claim(self) -> Claim:
        column = self.column()
        word = self.take()
        if word.is_word("missing"):
            return Claim(column, "missing")
        if word.is_word("present"):
            return Claim(column, "present")
        if word.is_word("in"):
            return Claim(column, "in", values=self.allowed())
        if not word.is_sign(*_SIGNS):
            self.fail("expected <=, <, >=, >, =, in, missing or present", word)
        return self.compared(column, cast(Operator, word.text))

    def compared(self, column: str, operator: Operator) -> Claim:
        right = self.next
        text = right.sort == "single" or (right.sort == "double" and operator in ("=", "!="))
        truth = right.is_word("true") or right.is_word("false")
        if right.sort in ("number", "moment") or text or (truth and right.text not in self.columns):
            return Claim(column, operator, values=(self.take(),))
        if right.sort == "word" and operator in ("=", "!=") and right.text not in self.columns:
            self.fail("no column of this name; text stands in double quotes")
        return Claim(column, operator, other=self.column())

    def column(self) -> str:
        word = self.take()
        quoted = word.sort in ("column", "double")
        if not quoted and (word.sort != "word" or word.text.lower() in _KEYWORDS):
            self.fail("the name of a column was expected", word)
        if word.text not in self.columns:
            self.fail_without_column(word, self.columns)
        return word.text

    def allowed(self) -> tuple[Word, ...]:
        if self.take().text != "{":
            self.fail("expected { and the allowed values", self.words[self.place - 1])
        values = []
        while True:
            word = self.take()
            known = word.sort in ("number", "moment", "double", "single")
            if not known and not (word.is_word("true") or word.is_word("false")):
                self.fail("expected a number, a date, or text in quotes", word)
            values.append(word)
            mark = self.take()
            if mark.is_sign("}"):
                return tuple(values)
            if not mark.is_sign(","):
                self.fail("expected , or }", mark)
