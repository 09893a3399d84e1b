"""Formulas as people write them, "bp ~ age + sex", read and checked before anything is computed.

Terms are those of formulaic (a cousin of R's). Formulaic evaluates them as Python; so that a
formula from anywhere can do no more than arithmetic, only known functions and operators pass.
"""

from __future__ import annotations

import ast
import importlib
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from icsa.errors import InputError, UnknownNameError

__all__ = ["FUNCTIONS", "ModelFormula", "aliases_of", "library", "read_formula", "with_aliases"]

# What a formula may call: as formulaic has it, and sqrt.
FUNCTIONS = (
    *("C", "I", "Diff", "Helmert", "Poly", "Sum", "Treatment"),
    *("bs", "cc", "center", "cr", "cs", "poly", "scale", "standardize"),
    *("exp", "exp10", "exp2", "log", "log10", "log2", "sqrt"),
)
_NUMPY = ("abs", "cos", "exp", "log", "log10", "log1p", "log2", "maximum", "minimum", "sin", "sqrt")
_SURVIVAL = re.compile(r"\s*surv\s*\((?P<time>[^,()]+),(?P<status>[^,()]+)\)\s*")
_ALLOWED = (
    *(ast.Expression, ast.Call, ast.keyword, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Attribute),
    *(ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFormula:
    """A formula that was read.

    Attributes
    ----------
    text : str
        As it was given.
    response : str
        The left side; empty for survival models.
    time, status : str
        Columns of a survival model; empty for others.
    predictors : str
        The right side.
    columns : tuple of str
        Every column that the formula needs, sorted.
    """

    text: str
    response: str
    time: str
    status: str
    predictors: str
    columns: tuple[str, ...]


def read_formula(formula: str, columns: Iterable[str]) -> ModelFormula:
    """Return the parts of a formula, after checking its grammar, functions and columns.

    Parameters
    ----------
    formula : str
        Such as ``bp ~ age + sex``, ``log(cost) ~ age * C(stage)`` or
        ``surv(time, status) ~ age``. Names with blanks or signs stand between backticks; those
        with dots, as in ``log(alk.phos)``, need none.
    columns : iterable of str
        The columns that there are.

    Examples
    --------
    >>> found = read_formula("surv(days, died) ~ age + sex", ["days", "died", "age", "sex"])
    >>> found.time, found.status, found.predictors
    ('days', 'died', 'age + sex')
    """
    left, tilde, right = formula.partition("~")
    if not tilde or not left.strip() or not right.strip() or "~" in right:
        raise InputError(
            f"The formula {formula!r} needs a response, one ~ and predictors: 'bp ~ age + sex'."
        )
    known = list(columns)
    needed = _variables(right, formula, known, sides="right")
    survival = _SURVIVAL.fullmatch(left)
    time = status = response = ""
    if survival:
        time, status = (survival[part].strip().strip("`") for part in ("time", "status"))
        needed |= {time, status}
    elif left.strip().startswith("surv"):
        raise InputError(
            f"The formula {formula!r} needs two columns in surv(time, status), no expressions."
        )
    else:
        response = left.strip()
        needed |= _variables(left, formula, known, sides="left")
    for name in sorted(needed):
        if name not in known:
            raise UnknownNameError("column", name, known)
    return ModelFormula(
        text=formula.strip(),
        response=response,
        time=time,
        status=status,
        predictors=right.strip(),
        columns=tuple(sorted(needed)),
    )


def library(name: str) -> Any:
    """Return a module of the extra `models`, or say how to install it.

    Examples
    --------
    >>> library("formulaic").__name__
    'formulaic'
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"Models need {error.name}, which is not installed. Install it by: "
            "pip install 'icsa[models]'"
        ) from None


def aliases_of(columns: Iterable[str]) -> dict[str, str]:
    """Return another name for each column whose own no expression of Python can hold.

    Examples
    --------
    >>> aliases_of(["age", "lambda"])
    {'lambda': 'column_6c616d626461'}
    """
    return {
        name: f"column_{name.encode().hex()}"
        for name in columns
        if keyword.iskeyword(name) or not name.isidentifier()
    }


def with_aliases(text: str, aliases: Mapping[str, str]) -> str:
    """Return terms in which such columns have their other names; what is quoted stays.

    Examples
    --------
    >>> with_aliases("log(lambda) + lambdas", {"lambda": "other"})
    'log(other) + lambdas'
    """
    if not aliases:
        return text
    names = "|".join(sorted(map(re.escape, aliases), key=len, reverse=True))
    strings = """'[^']*'|"[^"]*\""""
    found = re.compile(rf"{strings}|`(?P<quoted>{names})`|(?<![\w.`])(?P<bare>{names})(?![\w.`])")

    def alias(match: re.Match[str]) -> str:
        name = match["quoted"] or match["bare"]
        return aliases[name] if name else match[0]

    return found.sub(alias, text)


def _variables(side: str, formula: str, columns: list[str], *, sides: str) -> set[str]:
    """Return the columns that one side needs."""
    formulaic, aliases = library("formulaic"), aliases_of(columns)
    side = with_aliases(side, aliases)
    try:
        parsed = formulaic.Formula(side if sides == "right" else f"0 + {side}")
    except Exception:  # formulaic's own texts colour the formula for a terminal
        raise InputError(
            f"The {sides} side of the formula {formula!r} cannot be read. Write terms with "
            "+, *, : and functions, such as 'bp ~ age + log(dose)'."
        ) from None
    if not isinstance(parsed, formulaic.formula.SimpleFormula):
        raise InputError(f"The formula {formula!r} has several parts: '|' is not supported.")
    terms = list(parsed)
    # "a - b" would be the one term a
    factors = [factor.expr for term in terms for factor in term.factors]
    if sides == "left" and [_bare(expr) for expr in factors] != [_bare(side)]:
        raise InputError(
            f"The formula {formula!r} needs one response on its left side; "
            "arithmetic goes into I(...)."
        )
    needed: set[str] = set()
    for factor in (factor for term in terms for factor in term.factors):
        if factor.eval_method.value == "lookup":
            needed.add(str(factor.expr))
        elif factor.eval_method.value == "python":
            needed |= _checked_names(factor.expr, formula)
    named = {alias: name for name, alias in aliases.items()}
    return {named.get(name, name) for name in needed}


def _bare(text: str) -> str:
    return re.sub(r"[\s`{}]", "", text)


def _checked_names(expression: str, formula: str) -> set[str]:
    """Return the columns of an expression; refuse all but arithmetic and known functions."""
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError:
        raise InputError(
            f"A term of the formula {formula!r} cannot be read. Inside functions, names of columns "
            "with blanks or signs stand between backticks."
        ) from None
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    allowed_attributes = {id(function) for function in functions if _is_numpy(function)}
    for node in ast.walk(tree):
        fine = isinstance(node, _ALLOWED)
        if isinstance(node, ast.Attribute):
            fine = id(node) in allowed_attributes
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            fine = name in FUNCTIONS or _is_numpy(node.func)
        if isinstance(node, ast.Name):
            fine = not node.id.startswith("_")
        if not fine:
            raise InputError(
                f"A term of the formula {formula!r} is not allowed: only arithmetic, comparisons "
                f"and the functions {', '.join(FUNCTIONS)} are (and np.{', np.'.join(_NUMPY)})."
            )
    called = {id(function) for function in functions}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {node.id for node in names if id(node) not in called} - {"np"}


def _is_numpy(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "np"
        and function.attr in _NUMPY
    )
