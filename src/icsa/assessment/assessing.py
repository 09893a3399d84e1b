"""The assessment of a release: the people who stand out, and what analyses lose."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from typing import Any

from icsa.assessment.asked import Asked, check_asked
from icsa.assessment.efficiency import compare_efficiency
from icsa.assessment.measure_words import MEASURES
from icsa.assessment.outliers import read_outliers
from icsa.assessment.records import Assessment, Ends
from icsa.assessment.redrawing import Before, how_before
from icsa.assessment.usefulness import measure_usefulness
from icsa.comparison.matching import Comparison, match_tables
from icsa.errors import InputError
from icsa.inspection import guess_schema
from icsa.measures import Measure, NotEstimable
from icsa.privacy import Policy, PrivacyAssessment, Reason, assess_privacy
from icsa.privacy.verdict import Word
from icsa.release import Plan, Release
from icsa.schema import Schema
from icsa.tables import Table, from_frame
from icsa.utility.models import Analysis

__all__ = ["assess", "making_of"]

_WORDS: tuple[Word, ...] = ("release", "look again", "do not release")


def assess(
    original: Any,
    released: Any,
    *,
    schema: Schema | None = None,
    outliers: Any = None,
    policy: Policy | None = None,
    models: Sequence[str] = (),
    utility: Mapping[str, Analysis] | None = None,
    classify: Sequence[str] = (),
    clusters: int | None = None,
    select: Sequence[str] = (),
    against: Any = None,
    redraws: int = 0,
    plan: Plan | None = None,
    making: Mapping[str, Any] | Release | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Assessment:
    """Return whether a release replicates the people who stand out, and what analyses lose.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow table, or icsa.tables.Table
        Columns are matched by name. Missing, extra and reordered columns, other types and another
        number of rows are handled, and said in the notes.
    schema : Schema, optional
        What each column of the original is; by default guessed.
    outliers : optional
        Who is to be looked at: row numbers from 1, True and False for every row, the name of a
        column of the original that marks them, or a file of row numbers. By default found.
    policy : Policy, optional
        Other thresholds than the usual ones.
    models : sequence of str
        Regressions to fit to both tables, such as ``"bp ~ age + sex"``.
    utility : mapping of str to callable, optional
        Other analyses: from a polars frame to named pairs of estimate and standard error.
    classify : sequence of str
        Categories or binary columns to predict from all others, learnt from the release and from
        the original, tried on original rows that the latter has not seen.
    clusters : int, optional
        Number of groups that k-means is to find in both tables.
    select : sequence of str
        Numeric or binary responses: which other columns does the lasso select for them in both?
    against : optional
        Another release of the same original. It is assessed too, for the same people, and the
        relative privacy efficiency of `released` against it is given for every loss of utility.
    redraws : int
        How many fresh releases the risk before any key is found from; 0 takes what suits the size.
        Needs `plan`.
    plan : Plan, optional
        That the release was made by: gives Lambda, the risk before any key is drawn.
    making : Release or mapping, optional
        How the release was made, for the report.
    progress : callable, optional
        Called with the name of each stage and the share of the work that is done before it.

    Returns
    -------
    Assessment

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> x = np.random.default_rng(1).normal(size=(100, 4))
    >>> frame = pl.DataFrame(x, schema=["a", "b", "c", "d"])
    >>> assess(frame, frame.sample(100, shuffle=True, seed=1))
    <Assessment: do not release, 5 people stand out of 100, 100 released rows, 4 columns compared>
    """
    told = progress or _silent
    told("matching columns", 0.0)
    before, after = _table(original), _table(released)
    declared = _declared(schema, before)
    rows, marker = read_outliers(outliers, before)
    leave_out = [marker] if marker else []
    comparison = match_tables(before, after, declared, leave_out=leave_out)
    rival = None
    if against is not None:
        rival = match_tables(before, _table(against), declared, leave_out=leave_out)
    asked = Asked(
        models=tuple(models),
        analyses=dict(utility or {}),
        classify=tuple(classify),
        clusters=clusters,
        select=tuple(select),
    )
    check_asked(asked, comparison)
    known = _before(comparison, plan, declared, redraws)
    part = told if rival is None else _part_of(told, 0.0)
    found = _assessed(comparison, rows, known, policy, asked, making, part)
    if rival is None:
        return found
    people = found.privacy.standing_out.rows
    part = _part_of(told, 0.5, "the other release: ")
    other = _assessed(rival, people, Before(), policy, asked, None, part)
    return replace(found, efficiency=compare_efficiency(found, other))


def making_of(release: Release) -> dict[str, Any]:
    """Return how a release was made as plain values, without anything of its table or key."""
    shown = (
        "name",
        "kind",
        "action",
        "how",
        "type_before",
        "type_after",
        "missing_before",
        "missing_after",
    )
    return {
        "method": release.method,
        "scatters": list(release.scatters),
        "mask": release.mask,
        "recipe": release.recipe.name,
        "reproducible": release.reproducible,
        "coordinates": release.n_components,
        "columns": [{key: getattr(column, key) for key in shown} for column in release.columns],
        "warnings": list(release.warnings),
        "relations": list(release.relations),
    }


def _assessed(
    comparison: Comparison,
    rows: Any,
    known: Before,
    policy: Policy | None,
    asked: Asked,
    making: Mapping[str, Any] | Release | None,
    told: Callable[[str, float], None],
) -> Assessment:
    """Return the assessment of one release."""
    told("looking for people in the release", 0.1)
    privacy = assess_privacy(
        comparison.features,
        outliers=rows,
        coordinates=known.coordinates,
        redraw=_telling(known.redraw, known.n_redraws, told),
        n_redraws=max(1, known.n_redraws),
        policy=policy,
    )
    useful = measure_usefulness(comparison, asked, progress=told)
    made = making_of(making) if isinstance(making, Release) else making
    reasons = _reasons(privacy, comparison, made)
    notes = (*comparison.notes, known.note, privacy.standing_out.note)
    return Assessment(
        verdict=_WORDS[max((_WORDS.index(reason.word) for reason in reasons), default=0)],
        reasons=reasons,
        privacy=privacy,
        measures=_measures(privacy),
        ends=_ends(privacy),
        utility=useful,
        tables=replace(comparison, notes=tuple(_sentence(note) for note in notes if note)),
        making=made,
        versions=_versions(),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _silent(_stage: str, _share: float) -> None:
    pass


def _part_of(
    told: Callable[[str, float], None], start: float, prefix: str = ""
) -> Callable[[str, float], None]:
    """Return how one of two assessments tells its progress."""
    return lambda stage, share: told(f"{prefix}{stage}", start + 0.5 * share)


def _table(table: Any) -> Table:
    return table if isinstance(table, Table) else from_frame(table)


def _declared(schema: Schema | None, table: Table) -> Schema:
    """Return the schema, with guesses for columns that it does not mention."""
    if schema is not None and all(name in schema.columns for name in table.frame.columns):
        return schema
    guessed = guess_schema(table)
    if schema is None:
        return guessed
    return replace(schema, columns={**guessed.columns, **schema.columns})


def _before(comparison: Comparison, plan: Plan | None, schema: Schema, redraws: int) -> Before:
    if redraws < 0:
        raise InputError(f"redraws must be 0 or larger: got {redraws}.")
    if plan is not None:
        return how_before(comparison, plan, schema, redraws)
    if redraws:
        raise InputError(
            "Releases can be made again only by the plan that made this one: give it as plan=."
        )
    return Before()


def _telling(
    redraw: Callable[[int], Any] | None, count: int, told: Callable[[str, float], None]
) -> Callable[[int], Any] | None:
    if redraw is None:
        return None

    def drawn(number: int) -> Any:
        told("releasing again under fresh keys", 0.2 + 0.3 * number / count)
        return redraw(number)

    return drawn


def _reasons(
    privacy: PrivacyAssessment, comparison: Comparison, making: Mapping[str, Any] | None
) -> tuple[Reason, ...]:
    """Return everything that speaks against the release, the worst first."""
    reasons = list(privacy.verdict.reasons)
    if making is not None and making.get("reproducible"):
        reasons.append(
            Reason(
                "do not release",
                "reproducible",
                "The key came from a seed: whoever guesses it can repeat every draw, and so check "
                "guesses about people. Make the release again without a seed",
            )
        )
    reasons += _identifiers(comparison, privacy.policy)
    if not privacy.trusted:
        reasons.append(
            Reason("look again", "self-test", f"The assessment is {privacy.why_not_trusted}")
        )
    twins = [
        person.row
        for person in privacy.people
        if person.has_near_twin and person.status in ("replicated", "near")
    ]
    if twins:
        reasons.append(
            Reason(
                "look again",
                "near twin",
                f"Near twins in the original: {len(twins)} of these people have one, and what the "
                "release comes near to may be the twin",
                tuple(twins),
            )
        )
    return tuple(sorted(reasons, key=lambda reason: -_WORDS.index(reason.word)))


def _identifiers(comparison: Comparison, policy: Policy) -> list[Reason]:
    """Return what speaks against names, texts and the like that came through."""
    rows = comparison.released.frame.height
    most = policy.identifier_share.value * rows
    return [
        Reason(
            "do not release" if count >= most else "look again",
            "identifiers",
            f"{name!r} was released as it is: {count} of {rows} released rows have a value that "
            "only one original row has",
        )
        for name, count in comparison.as_they_are.items()
    ]


def _measures(privacy: PrivacyAssessment) -> dict[str, Measure]:
    """Return the measures by their names in files, with Lambda of the worst person."""
    every = {**privacy.measures, "expected_replicas": _largest_lambda(privacy)}
    return {key: every[words.source] for key, words in MEASURES.items()}


def _ends(privacy: PrivacyAssessment) -> Ends:
    """Return what the measures say of both ends of the scale, by their names in files."""
    copied, apart = (end.measures for end in privacy.ends)

    def value(measures: Mapping[str, Measure], name: str) -> float | None:
        return measures[name].value if name in measures else None

    return {
        key: (value(copied, words.source), value(apart, words.source))
        for key, words in MEASURES.items()
    }


def _largest_lambda(privacy: PrivacyAssessment) -> Measure:
    known = [
        (person.expected_replicas, person.expected_replicas_high or 0.0)
        for person in privacy.people
        if person.expected_replicas is not None
    ]
    name = "largest Lambda"
    if not known:
        reason = NotEstimable("how the release was made is not known")
        return Measure.of(reason, name=name, direction="lower is safer")
    value, high = max(known, key=lambda pair: pair[1])
    return Measure.of(
        value,
        name=name,
        direction="lower is safer",
        n=len(known),
        interval=(min(value, 0.0), max(value, high)),
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("icsa", "numpy", "scipy", "polars", "scikit-learn"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from its source
            continue
    return found
