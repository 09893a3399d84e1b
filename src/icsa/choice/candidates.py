"""Who takes part: the releases that icsa could make of a table, and what others would do."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from icsa.columns import kind_of
from icsa.errors import InputError
from icsa.rivals import RIVALS
from icsa.schema import Design, Schema, names_with
from icsa.tables import output_options

__all__ = ["METHODS", "Candidate", "candidates_of"]

# Those that differ: what is taken where nobody chooses is one of them.
METHODS = ("icsa", "sa", "forest")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A way to make a release, or a rival, which is compared and never advised.

    Attributes
    ----------
    name : str
        Such as "icsa topcode", "icsa mixed, mask rotate" or "mdav".
    method, recipe : str
        Those of `icsa.anonymize`; empty for a rival.
    scatters : tuple of str
        Empty for what the method takes by itself.
    mask : str
        Empty for what the recipe says.
    rival : str
        One of `icsa.rivals.RIVALS`; empty for a release of our own.

    Examples
    --------
    >>> Candidate(name="icsa topcode", method="icsa", recipe="topcode").options
    {'method': 'icsa', 'recipe': 'topcode'}
    """

    name: str
    method: str = ""
    recipe: str = ""
    scatters: tuple[str, ...] = ()
    mask: str = ""
    rival: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """The options of `icsa.anonymize` that make it; none for a rival."""
        given = {"method": self.method, "recipe": self.recipe, "mask": self.mask}
        found: dict[str, Any] = {name: value for name, value in given.items() if value}
        return {**found, **({"scatters": list(self.scatters)} if self.scatters else {})}

    @property
    def job(self) -> str:
        """Its name as that of a file."""
        return self.name.replace(", ", "_").replace(" ", "-")

    def command(
        self,
        file: Path | None,
        schema: Path | None = None,
        said: Mapping[str, Any] = MappingProxyType({}),
    ) -> str:
        """Return what to type, or to call where there is no file; empty for a rival.

        `said` is what was said of the rows besides the schema, by the keys of a design.

        Examples
        --------
        >>> candidate = Candidate(name="", method="icsa", recipe="mixed", scatters=("hr", "tyler"))
        >>> candidate.command(Path("a table.csv"))
        "icsa anonymize 'a table.csv' --method icsa --recipe mixed --scatters hr,tyler"
        >>> candidate.command(None)
        "icsa.anonymize(table, method='icsa', recipe='mixed', scatters=['hr', 'tyler'])"
        """
        if self.rival:
            return ""
        given = {key: value for key, value in said.items() if value not in (None, ())}
        if file is None:
            both = {**given, **self.options}.items()
            return f"icsa.anonymize(table{''.join(f', {name}={value!r}' for name, value in both)})"
        words = ["icsa", "anonymize", str(file)]
        if schema is not None:
            words += ["--schema", str(schema)]
        words += Design(**given).options
        for name, value in self.options.items():
            words += [f"--{name}", value if isinstance(value, str) else ",".join(value)]
        words += output_options(file)
        return shlex.join(words)


def candidates_of(schema: Schema, methods: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Return the candidates that suit a table, and the rivals.

    Parameters
    ----------
    schema : Schema
        Of the table: without categories the paper's recipe and another pair of scatters take part.
        Rivals know of rows only, and are left out where people have several.
    methods : sequence of str
        Methods and rivals to take; all where it is empty.

    Examples
    --------
    >>> from icsa.columns import ColumnSpec
    >>> schema = Schema(columns={"ward": ColumnSpec(name="ward", kind="category")})
    >>> [candidate.name for candidate in candidates_of(schema, ["sa", "mdav"])]
    ['sa mixed', 'sa topcode', 'mdav']
    """
    known = (*METHODS, *RIVALS)
    unknown = [name for name in methods if name not in known]
    if unknown:
        raise InputError(f"No method or rival {unknown[0]!r}: there are {', '.join(known)}.")
    rivals = [name for name in methods if name in RIVALS]
    if schema.design.unit and rivals:
        raise InputError(
            f"The rival {rivals[0]!r} knows of rows only, and people have several here. Leave it "
            f"out, and name {', '.join(METHODS)}."
        )
    own = [*_own(numbers_only=_numbers_only(schema))]
    others = [
        Candidate(name=name, rival=name)
        for name, rival in RIVALS.items()
        if name in methods or (not methods and not rival.library and not schema.design.unit)
    ]
    chosen = [one for one in own if not methods or one.method in methods]
    if not chosen:
        raise InputError(
            f"Only rivals are named, which are compared and not advised: name {', '.join(METHODS)} "
            "too."
        )
    return (*chosen, *others)


def _own(*, numbers_only: bool) -> list[Candidate]:
    def one(method: str, recipe: str, **more: Any) -> Candidate:
        told = [f", {name} {','.join(v) if name == 'scatters' else v}" for name, v in more.items()]
        return Candidate(
            name=f"{method} {recipe}{''.join(told)}", method=method, recipe=recipe, **more
        )

    found = [one(method, recipe) for method in METHODS for recipe in ("mixed", "topcode")]
    found += [one("icsa", "mixed", mask=mask) for mask in ("permute", "rotate")]
    found.append(one("icsa", "mixed", scatters=("mcd50", "cov")))
    if numbers_only:
        found.append(one("icsa", "mixed", scatters=("hr", "tyler")))
        found += [one(method, "paper") for method in ("icsa", "sa")]
    return found


def _numbers_only(schema: Schema) -> bool:
    """Return whether all masked columns are numbers without levels."""
    kinds = [kind_of(schema.columns[name].kind) for name in names_with("mask", schema)]
    return all(kind.compared == "numbers" for kind in kinds)
