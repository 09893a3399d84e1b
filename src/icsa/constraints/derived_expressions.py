"""Expressions such as ``weight / height^2`` that say how a column follows from others.

A small grammar of its own, read and computed here: nothing in an expression is ever run as code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

import numpy as np

from icsa.constraints.derived_functions import COMPARISONS, FUNCTIONS, Sort, function_of
from icsa.errors import InputError
from icsa.matrices import Vector

__all__ = ["MOST_SIGNS", "Expression", "Operand", "parse_expression", "quoted_name"]

# Longer ones are mistakes; deeper ones would reach the limit of Python's own stack.
MOST_SIGNS = 2_000
_MOST_DEPTH = 40
_TOKENS = re.compile(
    r"""\s*(?:
    (?P<moment>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |`(?P<column>(?:[^`]|``)+)`
    |"(?P<double>(?:[^"]|"")*)"
    |'(?P<single>(?:[^']|'')*)'
    |(?P<sign><=|>=|==|!=|\*\*|[-+*/^(),<>=≤≥≠])
    |(?P<word>[^\W\d][\w.]*)
    )""",
    re.VERBOSE,
)
_QUOTES = {"column": "`", "double": '"', "single": "'"}
_SPELLINGS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "**": "^"}
_PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
_KEYWORDS = frozenset({"and", "or", "not"})
# Words of rules, in which columns are quoted alike.
_OF_RULES = frozenset({"if", "then", "in", "missing", "present"})


@dataclass(frozen=True)
class Operand:
    """How the numbers of a column are read in an expression.

    Attributes
    ----------
    unit : float
        What they are divided by: 86,400 for seconds, because dates and lengths of time count in
        days.
    values : tuple of float, optional
        The values of levels whose numbers are positions.
    texts : tuple of str, optional
        The same of levels that are text; an expression sees their positions.
    moments : bool
        Whether they are dates or datetimes.
    """

    unit: float = 1.0
    values: tuple[float, ...] | None = None
    texts: tuple[str, ...] | None = None
    moments: bool = False

    def read(self, numbers: Vector) -> Vector:
        """Return the values that an expression computes with, NaN where missing."""
        if self.values is None:
            return numbers / self.unit
        known = np.append(np.asarray(self.values, dtype=np.float64), np.nan)
        places = np.where(np.isnan(numbers), len(self.values), numbers).astype(np.intp)
        return known[places]


@dataclass(frozen=True)
class _Node:
    """A number, a column, or a function of others."""

    sort: Sort
    name: str = ""
    number: float = np.nan
    text: str | None = None
    function: str = ""
    arguments: tuple[_Node, ...] = ()

    def compute(self, columns: Mapping[str, Vector]) -> Vector:
        if self.name:
            return columns[self.name]
        if not self.function:
            return np.asarray(self.number)
        values = [argument.compute(columns) for argument in self.arguments]
        return function_of(self.function)(*values)


@dataclass(frozen=True)
class Expression:
    """An expression, parsed.

    Attributes
    ----------
    text : str
        As it was written.
    operands : tuple of (str, Operand)
        The columns that it reads, and how.

    Examples
    --------
    >>> bmi = parse_expression("kg / (cm / 100)^2", {"kg": Operand(), "cm": Operand()})
    >>> bmi.compute({"kg": np.array([80.0, np.nan]), "cm": np.array([200.0, 170.0])})
    array([20., nan])
    """

    text: str
    operands: tuple[tuple[str, Operand], ...]
    root: _Node

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it reads."""
        return tuple(name for name, _ in self.operands)

    @property
    def is_column(self) -> bool:
        """Whether it is the name of one column."""
        return bool(self.root.name)

    @property
    def gives_classes(self) -> bool:
        """Whether the result is a class of rows, not a number that means something itself."""
        return self.root.sort in ("text", "truth") or self.root.function == "cut"

    @property
    def gives_truth(self) -> bool:
        """Whether the result is that something holds, or not."""
        return self.root.sort == "truth"

    @property
    def gives_moments(self) -> bool:
        """Whether the result is a date or datetime."""
        return self.root.sort == "moment"

    def compute(self, numbers: Mapping[str, Vector]) -> Vector:
        """Return one result a row, in days for dates; NaN where a column is missing."""
        values = {name: operand.read(numbers[name]) for name, operand in self.operands}
        with np.errstate(all="ignore"):
            found = self.root.compute(values)
        first = values[self.operands[0][0]]
        result: Vector = np.where(np.isfinite(found), found, np.nan)
        return np.broadcast_to(result, first.shape).astype(np.float64)


def quoted_name(name: str) -> str:
    """Return the name of a column as expressions and rules write it.

    Examples
    --------
    >>> quoted_name("weight"), quoted_name("birth weight")
    ('weight', '`birth weight`')
    """
    plain = _PLAIN_NAME.fullmatch(name) and name.lower() not in _KEYWORDS | _OF_RULES
    return name if plain else "`" + name.replace("`", "``") + "`"


def parse_expression(text: str, columns: Mapping[str, Operand]) -> Expression:
    """Return what an expression says.

    Parameters
    ----------
    text : str
        Numbers, names of columns (in backquotes where they are no single words), ``+ - * / ^``,
        comparisons, ``and``, ``or``, ``not``, and the functions years, months, days (between two
        dates), year, month, day, weekday, hour, date (of a moment), floor, ceil, round, abs, sqrt,
        log, log10, exp, min, max and cut (the class of a number among ascending bounds).
    columns : mapping of str to Operand
        The table's columns that it may speak of.

    Raises
    ------
    InputError
        When it cannot be read, with the place, or names a column that the table does not have.

    Examples
    --------
    >>> parse_expression("years(born, admitted)", {
    ...     "born": Operand(moments=True), "admitted": Operand(moments=True)}).columns
    ('born', 'admitted')
    """
    parser = _Parser(text, columns)
    root = parser.whole()
    used = tuple((name, columns[name]) for name in parser.used)
    if not used:
        raise InputError(f"The expression {text!r} names no column. Name those that it reads.")
    return Expression(text.strip(), used, root)


@dataclass(frozen=True)
class _Word:
    sort: str
    text: str
    position: int


class _Parser:
    """Reads one expression from left to right, loosest operators first."""

    def __init__(self, text: str, columns: Mapping[str, Operand]) -> None:
        self.text = text
        self.columns = columns
        self.used: dict[str, None] = {}
        self.place = 0
        self.depth = 0
        self.words: list[_Word] = [_Word("end", "", 0)]
        if len(text) > MOST_SIGNS:
            self.fail(f"longer than {MOST_SIGNS} signs")
        self.words = self._read()

    def whole(self) -> _Node:
        found = self.either()
        if self.next.sort != "end":
            self.fail("an operator was expected")
        return found

    def either(self) -> _Node:
        return self.chain(self.both, ("or",), "truth")

    def both(self) -> _Node:
        return self.chain(self.negated, ("and",), "truth")

    def negated(self) -> _Node:
        if self.next.sort == "word" and self.next.text.lower() == "not":
            word = self.take()
            self.deeper(word)
            inner = self.needed(self.negated(), "truth", word)
            self.depth -= 1
            return _Node("truth", function="not", arguments=(inner,))
        return self.comparison()

    def comparison(self) -> _Node:
        left = self.sum()
        if self.next.sort != "sign" or self.next.text not in COMPARISONS:
            return left
        word = self.take()
        right = self.sum()
        left, right = self.as_level(left, right, word), self.as_level(right, left, word)
        if left.sort != right.sort or left.sort == "truth":
            self.fail(f"{_NAMED[left.sort]} and {_NAMED[right.sort]} cannot be compared", word)
        if left.sort == "text" and word.text not in ("=", "!="):
            self.fail("texts have no order; use = or !=", word)
        return _Node("truth", function=word.text, arguments=(left, right))

    def as_level(self, node: _Node, other: _Node, word: _Word) -> _Node:
        """Return a quoted text as the position of that level in the column beside it."""
        if node.text is None:
            return node
        texts = self.columns[other.name].texts if other.name else None
        if texts is None:
            self.fail("a text is compared with a column of texts only", word)
        place = texts.index(node.text) if node.text in texts else -1
        return _Node("text", number=float(place))

    def sum(self) -> _Node:
        found = self.product()
        while self.next.sort == "sign" and self.next.text in ("+", "-"):
            word = self.take()
            found = self.added(found, word, self.product())
        return found

    def added(self, left: _Node, word: _Word, right: _Node) -> _Node:
        sorts = (left.sort, right.sort)
        dates = {("moment", "moment"): "number", ("moment", "number"): "moment"}
        if word.text == "+":
            dates = {("moment", "number"): "moment", ("number", "moment"): "moment"}
        sort = "number" if sorts == ("number", "number") else dates.get(sorts)
        if sort is None:
            self.fail(f"{_NAMED[left.sort]} {word.text} {_NAMED[right.sort]} means nothing", word)
        return _Node(sort, function=word.text, arguments=(left, right))  # type: ignore[arg-type]

    def product(self) -> _Node:
        return self.chain(self.signed, ("*", "/"), "number")

    def signed(self) -> _Node:
        if self.next.sort == "sign" and self.next.text == "-":
            word = self.take()
            self.deeper(word)
            inner = self.needed(self.signed(), "number", word)
            self.depth -= 1
            return _Node("number", function="negative", arguments=(inner,))
        return self.power()

    def power(self) -> _Node:
        base = self.single()
        if self.next.sort != "sign" or self.next.text != "^":
            return base
        word = self.take()
        self.deeper(word)
        arguments = (self.needed(base, "number", word), self.needed(self.signed(), "number", word))
        self.depth -= 1
        return _Node("number", function="^", arguments=arguments)

    def chain(self, part: Callable[[], _Node], operators: tuple[str, ...], sort: Sort) -> _Node:
        found = part()
        while self.next.sort in ("sign", "word") and self.next.text.lower() in operators:
            word = self.take()
            left, right = self.needed(found, sort, word), self.needed(part(), sort, word)
            found = _Node(sort, function=word.text.lower(), arguments=(left, right))
        return found

    def single(self) -> _Node:
        word = self.take()
        if word.sort == "number":
            return _Node("number", number=float(word.text))
        if word.sort == "moment":
            return _Node("moment", number=self.moment(word))
        if word.sort in ("double", "single"):
            return _Node("text", text=word.text)
        if word.sort == "sign" and word.text == "(":
            self.deeper(word)
            inner = self.either()
            self.close(word)
            return inner
        opens = self.next.sort == "sign" and self.next.text == "("
        if word.sort == "word" and opens:
            return self.call(word)
        is_keyword = word.sort == "word" and word.text.lower() in _KEYWORDS
        if word.sort not in ("word", "column") or is_keyword:
            self.fail("a number, a column or '(' was expected", word)
        return self.column(word)

    def column(self, word: _Word) -> _Node:
        operand = self.columns.get(word.text)
        if operand is None:
            near = difflib.get_close_matches(word.text, list(self.columns), n=1, cutoff=0.4)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            self.fail(
                f"no column {word.text!r} that can be computed from (it must be another one, and "
                f"not dropped, constant or text){hint}",
                word,
            )
        self.used[word.text] = None
        sort: Sort = "moment" if operand.moments else "number"
        return _Node("text" if operand.texts is not None else sort, name=word.text)

    def call(self, word: _Word) -> _Node:
        name = word.text.lower()
        if name not in FUNCTIONS:
            self.fail(f"no function {word.text!r}; there are {', '.join(FUNCTIONS)}", word)
        opening = self.take()
        self.deeper(opening)
        arguments = [self.either()]
        while self.next.sort == "sign" and self.next.text == ",":
            self.take()
            arguments.append(self.either())
        self.close(opening)
        _, sorts, sort = FUNCTIONS[name]
        self.check_arguments(word, arguments, sorts)
        if name in ("min", "max"):
            sort = arguments[0].sort
        return _Node(sort, function=name, arguments=tuple(arguments))

    def check_arguments(self, word: _Word, arguments: list[_Node], sorts: tuple[str, ...]) -> None:
        least = sum(not sort.endswith("?") for sort in sorts)
        most = np.inf if sorts[-1].endswith("...") else len(sorts)
        if not least <= len(arguments) <= most:
            self.fail(f"{word.text} takes {_how_many(least, most)} in its brackets", word)
        for place, argument in enumerate(arguments):
            wanted = sorts[min(place, len(sorts) - 1)].strip("?.")
            if wanted == "same":
                wanted = "moment" if arguments[0].sort == "moment" else "number"
            self.needed(argument, wanted, word)

    def needed(self, node: _Node, sort: str, word: _Word) -> _Node:
        if node.sort != sort:
            self.fail(f"{word.text} needs {_NAMED[sort]} here, not {_NAMED[node.sort]}", word)
        return node

    def moment(self, word: _Word) -> float:
        try:
            found = datetime.fromisoformat(word.text)
        except ValueError:
            self.fail("no such date", word)
        since = found - datetime(1970, 1, 1)
        return since.days + since.seconds / 86_400.0

    def deeper(self, word: _Word) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            self.fail(f"more than {_MOST_DEPTH} brackets in each other", word)

    def close(self, opening: _Word) -> None:
        if self.next.sort != "sign" or self.next.text != ")":
            self.fail(f"')' was expected for the '(' at position {opening.position + 1}")
        self.take()
        self.depth -= 1

    @property
    def next(self) -> _Word:
        return self.words[self.place]

    def take(self) -> _Word:
        word = self.words[self.place]
        self.place = min(self.place + 1, len(self.words) - 1)
        return word

    def fail(self, what: str, word: _Word | None = None) -> NoReturn:
        shown = self.text if len(self.text) <= MOST_SIGNS else f"{self.text[:40]}..."
        raise InputError(
            f"derive = {shown!r}, position {(word or self.next).position + 1}: {what}. "
            "Write it as in 'weight / height^2', 'years(born, admitted)' or 'grams < 2500'."
        )

    def _read(self) -> list[_Word]:
        words: list[_Word] = []
        place, end = 0, len(self.text.rstrip())
        while place < end:
            match = _TOKENS.match(self.text, place)
            if match is None or match.lastgroup is None:
                start = end - len(self.text[place:end].lstrip())
                self.fail("cannot be read", _Word("end", "", start))
            sort, content = match.lastgroup, match[match.lastgroup]
            mark = _QUOTES.get(sort)
            if mark is not None:
                content = content.replace(mark * 2, mark)
            if sort == "sign":
                content = _SPELLINGS.get(content, content)
            words.append(_Word(sort, content, match.start(sort) - (mark is not None)))
            place = match.end()
        return [*words, _Word("end", "", end)]


_NAMED = {"number": "a number", "moment": "a date", "text": "a text", "truth": "a comparison"}


def _how_many(least: float, most: float) -> str:
    if most == np.inf:
        return f"{least} or more values"
    return f"{least} value{'s' if least > 1 else ''}" + (f" to {most:g}" if most > least else "")
