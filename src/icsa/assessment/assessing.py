"""The assessment of a release: the people who stand out, and what analyses lose."""

from __future__ import annotations

import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeAlias

from icsa.assessment import document as doc
from icsa.assessment.asked import Asked, check_asked, read_outliers
from icsa.assessment.attackers import encoded_as, quick_attackers
from icsa.assessment.controls import NO_CONTROL, Control, beside_control, control_reasons
from icsa.assessment.document_parts import as_part
from icsa.assessment.efficiency import Efficiency, compare_efficiency
from icsa.assessment.fresh_releases import Before, how_before
from icsa.assessment.nothing_compared import nothing_compared
from icsa.assessment.privacy_words import MEASURES
from icsa.assessment.provenance import HandedIn, handed_in
from icsa.assessment.rehearsal import ControlledBy, how_controlled
from icsa.assessment.remedies import Circumstances, with_remedies
from icsa.assessment.sameness import ANOTHER_TABLE, unless_another_table
from icsa.assessment.unit_assessing import (
    UnitFindings,
    in_the_file,
    look_at_units,
    of_sample,
    people_in_file,
)
from icsa.assessment.usefulness import Usefulness, measure_usefulness
from icsa.assessment.whom_compared import declared_of, matched, require_same_people
from icsa.attacks import AttackResult
from icsa.cards import card
from icsa.comparison.features import FeatureTable
from icsa.comparison.matching import Comparison, require_columns
from icsa.comparison.unit_matching import UnitComparison
from icsa.files import write_text_atomically
from icsa.measures import Measure, NotEstimable
from icsa.privacy import (
    Cost,
    Person,
    Policy,
    PrivacyAssessment,
    Reason,
    assess_privacy,
    estimate_cost,
)
from icsa.privacy.before_release import RedrawnRisk, reasons_over_keys
from icsa.privacy.reasons import Word, decided
from icsa.privacy.traces import of_traces
from icsa.privacy.verdict import verdict_of_release
from icsa.release import Plan, Release
from icsa.release.design_plans import DesignPlan
from icsa.schema import Schema
from icsa.tables import Table, from_frame
from icsa.tables.frames import is_lazy
from icsa.utility.beyond_range import BeyondRange
from icsa.utility.models import Analysis

__all__ = [
    "Assessment",
    "assess",
    "assessment_cost",
    "making_of",
    "part_of",
    "put_together",
    "without_columns",
]

Ends: TypeAlias = Mapping[str, tuple[float | None, float | None]]

# Measured on one core beside the privacy part: seconds for any table, and for each cell.
_START, _CELL = 1.5, 5e-7
# Bytes that the program itself takes, and how often the tables lie in memory.
_PROGRAM, _COPIES = 250 * 2**20, 4
# Of so many rows one stands out; at most so many people are looked at.
_ROWS_A_PERSON, _MOST_PEOPLE = 100, 1_000


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment:
    """What was found out about a release. It holds both tables: keep it to yourself.

    `as_dict("public")` and `to_json(path, "public")` give what can be handed out.

    Attributes
    ----------
    verdict : "release", "look again" or "do not release"
    reasons : tuple of Reason
        Why, the worst first. None for "release": nothing was found, which is no proof.
    privacy : PrivacyAssessment
    measures : mapping of str to Measure
        The privacy measures by their names in files.
    ends : mapping of str to pair
        By the same names: what a shuffled copy gives, and columns shuffled apart.
    utility : Usefulness
    tables : Comparison
        How the columns of the two tables were matched.
    making : mapping, optional
        How the release was made, where that is known.
    versions : mapping of str to str
        Of programs.
    handed_in : HandedIn
        Files with their fingerprints, the date, and who answers for it.
    control : Control
        Which people who were not in the table those in it were compared with, if any.
    efficiency : Efficiency, optional
        Against another release, where one was given.
    attackers : tuple of AttackResult
        What attackers get, beside what they would get on others.
    units : UnitFindings, optional
        What else was found, where people have several rows: then everything above goes by unit, and
        rows of `people` are units as they come first in the table.
    """

    verdict: Word
    reasons: tuple[Reason, ...]
    privacy: PrivacyAssessment
    measures: Mapping[str, Measure]
    ends: Ends
    utility: Usefulness
    tables: Comparison
    making: Mapping[str, Any] | None
    versions: Mapping[str, str]
    handed_in: HandedIn
    control: Control = NO_CONTROL
    efficiency: Efficiency | None = None
    attackers: tuple[AttackResult, ...] = ()
    units: UnitFindings | None = None

    @property
    def people(self) -> tuple[Person, ...]:
        """Those who stand out; for an internal report only."""
        return self.privacy.people

    @property
    def policy(self) -> Policy:
        """The thresholds used."""
        return self.privacy.policy

    @property
    def trusted(self) -> bool:
        """Whether the assessment's own test came out right on this table."""
        return self.privacy.trusted

    @property
    def gate(self) -> int:
        """The exit code that a gate gives: 0 open, 3 look again, 4 closed."""
        another = any(reason.rule == ANOTHER_TABLE for reason in self.reasons)
        if self.verdict == "do not release" or not (self.trusted or another):
            return 4
        return 3 if self.verdict == "look again" else 0

    def document(self, edition: doc.Edition = "internal") -> doc.Document:
        """Return everything that files and pages show.

        Parameters
        ----------
        edition : "internal" or "public"
            Public: aggregates only, rounded; no cell, no row number, no extreme.
        """
        from icsa.assessment.filling import filled_document

        return filled_document(self, edition)

    def as_dict(self, edition: doc.Edition = "internal") -> dict[str, Any]:
        """Return the document as plain values; `schema.json` beside this module describes them."""
        return self.document(edition).as_dict()

    def to_json(self, path: str | Path, edition: doc.Edition = "internal") -> None:
        """Write the document as a JSON file, as a whole or not at all."""
        write_text_atomically(Path(path), self.document(edition).as_json())

    def _repr_html_(self) -> str:
        """Show the public edition's first screen in a notebook, which is often handed on."""
        from icsa.assessment.answers import attack_lines, copied_answer, loss_answer

        shown = self.document("public")
        why = [f"{reason.word}: {reason.says}" for reason in shown.reasons]
        told = [copied_answer(shown)[1], loss_answer(shown)]
        lines = [(x.knows, x.guesses, x.right, x.control, x.means) for x in attack_lines(shown)]
        headings = ("an attacker who knows", "guesses", "right", "not in the table", "that means")
        return card(f"Assessment: {shown.verdict}", [*why, *told], headings=headings, rows=lines)

    def __repr__(self) -> str:
        """Show the word and sizes."""
        n, m = self.privacy.n_rows, self.privacy.n_released
        return (
            f"<Assessment: {self.verdict}, {len(self.people)} people stand out of {n}, "
            f"{m} released rows, {len(self.tables.columns)} columns compared>"
        )


def assess(
    original: Any,
    released: Any,
    *,
    schema: Schema | None = None,
    unit: str | Literal[False] | None = None,
    time: str | None = None,
    bound: str | None = None,
    role: str | None = None,
    weight: str | None = None,
    strata: str | Sequence[str] = (),
    outliers: Any = None,
    policy: Policy | None = None,
    models: Sequence[str] = (),
    utility: Mapping[str, Analysis] | None = None,
    classify: Sequence[str] = (),
    clusters: int | None = None,
    select: Sequence[str] = (),
    against: Any = None,
    holdout: Any = None,
    also_released: Any = None,
    redraws: int = 0,
    rehearse: int | None = None,
    plan: Plan | DesignPlan | None = None,
    making: Mapping[str, Any] | Release | None = None,
    files: Mapping[str, str | Path | None] | None = None,
    prepared_by: str = "",
    decided_by: str = "",
    progress: Callable[[str, float], None] | None = None,
) -> Assessment:
    """Return whether a release replicates the people who stand out, and what analyses lose.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow table, or icsa.tables.Table
        Columns are matched by name. Missing, extra and reordered columns, other types and another
        number of rows are handled, and said in the notes. A polars LazyFrame or a Dask DataFrame is
        computed once, into private files, and assessed from them.
    schema : Schema, optional
        What each column of the original is; by default guessed.
    unit, time, bound, role, weight, strata : optional
        Whom the rows are about, as in `icsa.anonymize`; they go before what the schema says. With a
        unit everything is about people with several rows, and not about rows.
    outliers : optional
        Who is to be looked at: row numbers from 1, True and False for every row, the name of a
        column of the original that marks them, or a file of row numbers. By default found.
    policy : Policy, optional
        Other thresholds than the usual ones.
    models : sequence of str
        Regressions to fit to both tables, such as ``"bp ~ age + sex"``, and mixed models, such as
        ``"bp ~ day + (1 + day | id)"``.
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
    holdout : optional
        A table of people who were not in the original, with every column that is compared: those
        in it are attacked beside them. For releases that cannot be rehearsed.
    also_released : optional
        Another release of the same original that is already out: do the two give away the map?
    redraws : int
        How many fresh releases the risk before any key is found from; 0 takes what suits the size.
        Needs `plan`.
    rehearse : int, optional
        How many random halves of the people are released by the same recipe, so that those who
        were in can be compared with those who were not; 0 for none, by default what takes less
        than a minute. Needs `plan`.
    plan : Plan, optional
        That the release was made by: gives Lambda, the risk before any key is drawn, and makes
        rehearsals.
    making : Release or mapping, optional
        How the release was made, for the report.
    files : mapping of str to str or Path, optional
        Files to be named in the report with their fingerprints (SHA-256), by their roles, such as
        ``{"release": "release.csv", "schema": "schema.toml"}``. Tables that `read_table` gave have
        their own already.
    prepared_by, decided_by : str
        Who made the release and who decides about it, for both editions of the report; left empty,
        it has lines to sign on.
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
    given = dict(locals())  # nothing but the parameters
    if any(is_lazy(frame) for frame in (original, released, against)):
        from icsa.assessment.blocks.lazy_assessing import assess_lazily  # by way of files

        return assess_lazily(given, assess, _making(making))
    told = progress or (lambda _stage, _share: None)
    told("matching columns", 0.0)
    before, after = _table(original), _table(released)
    names = (strata,) if isinstance(strata, str) else tuple(strata)
    said = {"unit": unit, "time": time, "bound": bound, "role": role, "weight": weight}
    declared = declared_of(schema, before, **said, strata=names)
    rows, marker = read_outliers(outliers, before)
    leave_out = [marker] if marker else []
    comparison = matched(before, after, declared, leave_out)
    if rows is not None and isinstance(comparison, UnitComparison):
        rows = comparison.units_of(rows)
    rival = None
    other_table = None if against is None else _table(against)
    if other_table is not None:
        three = (table.frame.columns for table in (before, after, other_table))
        require_same_people(declared.design, *three)
        rival = matched(before, other_table, declared, leave_out)
        require_columns(rival)
    asked = Asked(
        models=tuple(models),
        analyses=dict(utility or {}),
        classify=tuple(classify),
        clusters=clusters,
        select=tuple(select),
        design=declared.design,
    )
    check_asked(asked, comparison)
    made = _making(making)
    tables = {"original": before, "release": after, "other release": other_table}
    out = None if also_released is None else _table(also_released)
    others = None if holdout is None else _table(holdout)
    tables["holdout"] = others if isinstance(holdout, Table) else None
    tables["also released"] = out
    handed = handed_in(tables, files, prepared_by=prepared_by, decided_by=decided_by)
    if comparison.columns:
        known = how_before(comparison, plan, redraws)
        controlled = how_controlled(comparison, plan, rehearse, holdout)
        part = told if rival is None else part_of(told, 0.0)
        more = {"also_released": out, "holdout": others}
        found = _assessed(
            comparison, rows, known, controlled, policy, asked, made, handed, part, **more
        )
    else:
        rival = None
        found = without_columns(comparison, policy, handed, made)
    advice = Circumstances(
        file=None if before.origin is None else before.origin.path,
        schema=_path((files or {}).get("schema")),
        making=made,
        people=people_in_file(found.people, comparison),
        design=declared.design,
    )
    found = replace(found, reasons=with_remedies(found.reasons, advice))
    if rival is None:
        return found
    people = found.privacy.standing_out.rows
    part = part_of(told, 0.5, "the other release: ")
    nobody: ControlledBy = lambda _told: NO_CONTROL  # noqa: E731
    other = _assessed(rival, people, Before(), nobody, policy, asked, None, handed, part)
    return replace(found, efficiency=compare_efficiency(found, other))


def making_of(release: Release) -> dict[str, Any]:
    """Return how a release was made as plain values, without anything of its table or key."""
    shown = doc.MadeColumn.__struct_fields__
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
        "why": release.why,
    }


def assessment_cost(n_rows: int, n_released: int, n_columns: int) -> Cost:
    """Return the time and memory that `icsa.assessment.assess` will need, to a factor of two.

    Releases that are made again, and analyses by formula, come on top.

    Examples
    --------
    >>> print(assessment_cost(1_000, 1_000, 10))
    about 2 s and 251 MB
    """
    people = min(_MOST_PEOPLE, max(5, n_rows // _ROWS_A_PERSON))
    privacy = estimate_cost(max(1, n_rows), max(1, n_released), max(1, n_columns), people)
    cells = (n_rows + n_released) * n_columns
    return Cost(privacy.seconds + _START + _CELL * cells, _PROGRAM + _COPIES * 8 * cells)


def _assessed(
    comparison: Comparison,
    rows: Any,
    known: Before,
    controlled: ControlledBy,
    policy: Policy | None,
    asked: Asked,
    made: Mapping[str, Any] | None,
    handed: HandedIn,
    told: Callable[[str, float], None],
    also_released: Table | None = None,
    holdout: Table | None = None,
) -> Assessment:
    """Return the assessment of one release."""
    out = None
    if also_released is not None:
        out = encoded_as(comparison, also_released, "other release")
    told("looking for people in the release", 0.1)
    privacy = assess_privacy(
        comparison.features,
        outliers=rows,
        coordinates=known.coordinates,
        redraw=_telling(known.redraw, known.n_redraws, told),
        n_redraws=max(1, known.n_redraws),
        policy=policy,
    )
    return put_together(
        comparison,
        privacy,
        controlled,
        asked,
        handed,
        told,
        note=known.note,
        made=made,
        out=out,
        holdout=holdout,
    )


def without_columns(
    comparison: Comparison,
    policy: Policy | None,
    handed: HandedIn,
    made: Mapping[str, Any] | None = None,
) -> Assessment:
    """Return the assessment of two tables of which no column can be compared."""
    said_of = nothing_compared(comparison, policy)
    return Assessment(**said_of, making=made, versions=_versions(), handed_in=handed)


def put_together(
    comparison: Comparison,
    privacy: PrivacyAssessment,
    controlled: ControlledBy,
    asked: Asked,
    handed: HandedIn,
    told: Callable[[str, float], None],
    *,
    note: str = "",
    made: Mapping[str, Any] | None = None,
    out: FeatureTable | None = None,
    holdout: Table | None = None,
    without_attacks: Collection[str] = (),
    beyond: BeyondRange | None = None,
    rows: PrivacyAssessment | None = None,
    redrawn: RedrawnRisk | None = None,
) -> Assessment:
    """Return an assessment whose privacy part is known: attackers, utility, and the word.

    Parameters
    ----------
    comparison : Comparison
    privacy : PrivacyAssessment
    controlled : callable
        What finds the control.
    asked : Asked
    handed : HandedIn
    told : callable
        Called with the name of each stage and the share of the work that is done before it.
    note : str
        On the risk before any key.
    made : mapping, optional
        How the release was made.
    out : FeatureTable, optional
        Another release.
    holdout : Table, optional
    without_attacks : collection of str
        Attacks that are not tried.
    beyond : BeyondRange, optional
        How released cells leave the original's range, where that is known already.
    rows : PrivacyAssessment, optional
        What is found about rows of units that are people themselves, where that is known already.
    redrawn : RedrawnRisk, optional
        What fresh keys give for other people than those of the privacy part.
    """
    policy = privacy.policy
    control = controlled(lambda stage, share: told(stage, 0.4 + 0.1 * share))
    told("trying attacks", 0.5)
    attackers, against_it = quick_attackers(
        comparison, control.outsiders, out, policy=policy, leave_out=without_attacks
    )
    others = None if holdout is None or control.kind != "holdout" else holdout.frame
    units = look_at_units(comparison, control, privacy.policy, others, told, rows)
    useful = measure_usefulness(comparison, asked, progress=told)
    useful = useful if beyond is None else replace(useful, beyond=beyond)
    people = people_in_file(privacy.people, comparison)
    why = tuple(in_the_file(reason, comparison) for reason in privacy.verdict.reasons)
    found = verdict_of_release(
        replace(privacy.verdict, reasons=why),
        privacy.policy,
        n_released=comparison.n_released,
        as_they_are=comparison.as_they_are,
        twins=[person.row for person in people if person.has_near_twin],
        reproducible=made is not None and made["reproducible"],
        why_not_trusted=privacy.why_not_trusted,
        more=(
            *_not_compared(comparison),
            *reasons_over_keys(redrawn or privacy.redrawn, privacy.policy),
            *control_reasons(control, privacy.policy),
            *(of_sample(reason, comparison) for reason in against_it),
            *(() if units is None else units.reasons),
        ),
    )
    if found.word != "do not release":  # who was copied row by row has left traces, too
        traces = (of_sample(reason, comparison) for reason in of_traces(comparison.features))
        found = decided([*found.reasons, *traces])
    found = unless_another_table(found, comparison.files, useful.margins)
    measures, ends = _measures(privacy)
    notes = (*comparison.notes, note, privacy.standing_out.note)
    return Assessment(
        verdict=found.word,
        reasons=found.reasons,
        privacy=privacy,
        measures=measures,
        ends=ends,
        utility=useful,
        tables=replace(comparison, notes=tuple(_sentence(note) for note in notes if note)),
        making=made,
        versions=_versions(),
        handed_in=handed,
        control=control,
        attackers=beside_control(control, (*attackers, *(units.attackers if units else ()))),
        units=units,
    )


def _not_compared(comparison: Comparison) -> tuple[Reason, ...]:
    """Return which columns of the release were not looked at: copies in them are not seen."""
    found = []
    names = comparison.not_compared
    if names:
        text = (
            f"{len(names)} of {len(comparison.matched)} columns hold something else in the release "
            "(text instead of numbers, or levels of which the original has none) and could not be "
            "compared: what they give away was not seen"
        )
        found.append(Reason("look again", "not compared", text, columns=names))
    released = comparison.files.released.frame
    new = tuple(
        name
        for name in comparison.files.only_released
        if released[name].drop_nulls().n_unique() > 1  # what is the same in all rows tells nothing
    )
    if new:
        of = f"{len(new)} of {released.width} columns of the release are"
        text = f"{of} not in the original, or have another name there: they were not looked at"
        found.append(Reason("look again", "not assessed", text, columns=new))
    return tuple(found)


def _making(making: Mapping[str, Any] | Release | None) -> Mapping[str, Any] | None:
    """Return how a release was made, in the form that the document has."""
    if isinstance(making, Release):
        return making_of(making)
    if making is not None:
        as_part(dict(making), doc.Making, "How the release was made")
    return making


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def part_of(
    told: Callable[[str, float], None], start: float, prefix: str = ""
) -> Callable[[str, float], None]:
    """Return how one of two assessments tells its progress."""
    return lambda stage, share: told(f"{prefix}{stage}", start + 0.5 * share)


def _path(file: str | Path | None) -> Path | None:
    return None if file is None else Path(file)


def _table(table: Any) -> Table:
    return table if isinstance(table, Table) else from_frame(table)


def _telling(
    redraw: Callable[[int], Any] | None, count: int, told: Callable[[str, float], None]
) -> Callable[[int], Any] | None:
    if redraw is None:
        return None

    def drawn(number: int) -> Any:
        told("releasing again under fresh keys", 0.2 + 0.3 * number / count)
        return redraw(number)

    return drawn


def _measures(privacy: PrivacyAssessment) -> tuple[dict[str, Measure], Ends]:
    """Return the measures, and what they say of both ends of the scale, by their names in files."""
    every = {**privacy.measures, "expected_replicas": _largest_lambda(privacy)}
    sources = {key: words.source or key for key, words in MEASURES.items()}
    copied, apart = (
        {name: measure.value for name, measure in end.measures.items()} for end in privacy.ends
    )
    return (
        {key: every[source] for key, source in sources.items()},
        {key: (copied.get(source), apart.get(source)) for key, source in sources.items()},
    )


def _largest_lambda(privacy: PrivacyAssessment) -> Measure:
    known = [
        (person.expected_replicas, person.expected_replicas_high or 0.0)
        for person in privacy.people
        if person.expected_replicas is not None
    ]
    told: dict[str, Any] = {"name": "largest Lambda", "direction": "lower is safer"}
    if not known:
        return Measure.of(NotEstimable("how the release was made is not known"), **told)
    value, high = max(known, key=lambda pair: pair[1])
    interval = min(value, 0.0), max(value, high)
    return Measure.of(value, n=len(known), interval=interval, **told)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("icsa", "numpy", "scipy", "polars", "scikit-learn"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from its source
            continue
    return found
