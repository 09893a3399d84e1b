"""Expressions such as ``weight / height^2`` that say how a column follows from others.

A small grammar of its own, read and computed here: nothing in an expression is ever run as code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from icsa.constraints.derived_functions import COMPARISONS, FUNCTIONS, Sort, function_of
from icsa.constraints.written import Reader, Word, word_pattern
from icsa.errors import InputError
from icsa.matrices import Vector

__all__ = ["MOST_SIGNS", "Expression", "Operand", "parse_expression"]

# Longer ones are mistakes; deeper ones would reach the limit of Python's own stack.
MOST_SIGNS = 2_000
_MOST_DEPTH = 40
_KEYWORDS = frozenset({"and", "or", "not"})


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


class _Parser(Reader):
    """Reads one expression from left to right, loosest operators first."""

    tokens = word_pattern(r"(?:[T ]\d{2}:\d{2}(?::\d{2})?)?", r"<=|>=|==|!=|\*\*|[-+*/^(),<>=≤≥≠]")
    label = "derive ="
    most_signs = MOST_SIGNS
    example = "'weight / height^2', 'years(born, admitted)' or 'grams < 2500'"

    def __init__(self, text: str, columns: Mapping[str, Operand]) -> None:
        self.columns = columns
        self.used: dict[str, None] = {}
        self.depth = 0
        super().__init__(text)

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
        if self.next.is_word("not"):
            word = self.take()
            self.deeper(word)
            inner = self.needed(self.negated(), "truth", word)
            self.depth -= 1
            return _Node("truth", function="not", arguments=(inner,))
        return self.comparison()

    def comparison(self) -> _Node:
        left = self.sum()
        if not self.next.is_sign(*COMPARISONS):
            return left
        word = self.take()
        right = self.sum()
        left, right = self.as_level(left, right, word), self.as_level(right, left, word)
        if left.sort != right.sort or left.sort == "truth":
            self.fail(f"{_NAMED[left.sort]} and {_NAMED[right.sort]} cannot be compared", word)
        if left.sort == "text" and word.text not in ("=", "!="):
            self.fail("texts have no order; use = or !=", word)
        return _Node("truth", function=word.text, arguments=(left, right))

    def as_level(self, node: _Node, other: _Node, word: Word) -> _Node:
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
        while self.next.is_sign("+", "-"):
            word = self.take()
            found = self.added(found, word, self.product())
        return found

    def added(self, left: _Node, word: Word, right: _Node) -> _Node:
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
        if self.next.is_sign("-"):
            word = self.take()
            self.deeper(word)
            inner = self.needed(self.signed(), "number", word)
            self.depth -= 1
            return _Node("number", function="negative", arguments=(inner,))
        return self.power()

    def power(self) -> _Node:
        base = self.single()
        if not self.next.is_sign("^"):
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
        if word.is_sign("("):
            self.deeper(word)
            inner = self.either()
            self.close(word)
            return inner
        opens = self.next.is_sign("(")
        if word.sort == "word" and opens:
            return self.call(word)
        is_keyword = word.sort == "word" and word.text.lower() in _KEYWORDS
        if word.sort not in ("word", "column") or is_keyword:
            self.fail("a number, a column or '(' was expected", word)
        return self.column(word)

    def column(self, word: Word) -> _Node:
        operand = self.columns.get(word.text)
        if operand is None:
            reason = " that can be computed from (another one, not dropped, constant or text)"
            self.fail_without_column(word, self.columns, reason)
        self.used[word.text] = None
        sort: Sort = "moment" if operand.moments else "number"
        return _Node("text" if operand.texts is not None else sort, name=word.text)

    def call(self, word: Word) -> _Node:
        name = word.text.lower()
        if name not in FUNCTIONS:
            self.fail(f"no function {word.text!r}; there are {', '.join(FUNCTIONS)}", word)
        opening = self.take()
        self.deeper(opening)
        arguments = [self.either()]
        while self.next.is_sign(","):
            self.take()
            arguments.append(self.either())
        self.close(opening)
        _, sorts, sort = FUNCTIONS[name]
        self.check_arguments(word, arguments, sorts)
        if name in ("min", "max"):
            sort = arguments[0].sort
        return _Node(sort, function=name, arguments=tuple(arguments))

    def check_arguments(self, word: Word, arguments: list[_Node], sorts: tuple[str, ...]) -> None:
        least = sum(not sort.endswith("?") for sort in sorts)
        most = np.inf if sorts[-1].endswith("...") else len(sorts)
        if not least <= len(arguments) <= most:
            self.fail(f"{word.text} takes {_how_many(least, most)} in its brackets", word)
        for place, argument in enumerate(arguments):
            wanted = sorts[min(place, len(sorts) - 1)].strip("?.")
            if wanted == "same":
                wanted = "moment" if arguments[0].sort == "moment" else "number"
            self.needed(argument, wanted, word)

    def needed(self, node: _Node, sort: str, word: Word) -> _Node:
        if node.sort != sort:
            self.fail(f"{word.text} needs {_NAMED[sort]} here, not {_NAMED[node.sort]}", word)
        return node

    def moment(self, word: Word) -> float:
        try:
            found = datetime.fromisoformat(word.text)
        except ValueError:
            self.fail("no such date", word)
        since = found - datetime(1970, 1, 1)
        return since.days + since.seconds / 86_400.0

    def deeper(self, word: Word) -> None:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            self.fail(f"more than {_MOST_DEPTH} brackets in each other", word)

    def close(self, opening: Word) -> None:
        if not self.next.is_sign(")"):
            self.fail(f"')' was expected for the '(' at position {opening.position + 1}")
        self.take()
        self.depth -= 1


_NAMED = {"number": "a number", "moment": "a date", "text": "a text", "truth": "a comparison"}


def _how_many(least: float, most: float) -> str:
    if most == np.inf:
        return f"{least} or more values"
    return f"{least} value{'s' if least > 1 else ''}" + (f" to {most:g}" if most > least else "")
