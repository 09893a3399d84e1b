"""What is found about people of a table that does not fit: exactly, and from samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from icsa.assessment.blocks.filed_lenses import FiledLenses
from icsa.assessment.blocks.hashed_rows import (
    BestInFiles,
    HashedTables,
    exact_rows_of_files,
    with_lattices_and_gaps,
)
from icsa.comparison.column_pairs import RowNumbers
from icsa.comparison.features import Features
from icsa.privacy.everybody import Everybody, Resemblance, by_equal_cells, look_at_everybody
from icsa.privacy.exact_rows import ExactRows
from icsa.privacy.extremes import Extremes
from icsa.privacy.lenses import Lenses
from icsa.privacy.partial_knowledge import AttackOutcome, all_but_one_attack
from icsa.privacy.people_findings import Findings, Reread

__all__ = ["LargeFindings", "Sample"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of both tables that everything is taken from which is not exact.

    Attributes
    ----------
    lenses : Lenses
        Fitted to these rows.
    rows, released_rows : ndarray of int
        Their numbers in the tables.
    """

    lenses: Lenses
    rows: RowNumbers
    released_rows: RowNumbers

    def in_files(self, found: Resemblance) -> Resemblance:
        """Return a resemblance with row numbers of the tables."""
        nearest = np.where(
            found.released_rows >= 0, self.released_rows[found.released_rows], -1
        ).astype(np.int64)
        return replace(found, people=self.rows[found.people], released_rows=nearest)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LargeFindings(Findings):
    """Findings about tables in files.

    Attributes
    ----------
    sample : Sample
    hashed : HashedTables
    ends : Extremes
    has_gaps : bool
        Whether cells are missing in either table.
    """

    sample: Sample
    hashed: HashedTables
    ends: Extremes
    has_gaps: bool

    @property
    def for_averages(self) -> Lenses:
        """The sample."""
        return self.sample.lenses

    @cached_property
    def exact(self) -> ExactRows:
        """Whom the release repeats in every cell, of all people."""
        return exact_rows_of_files(self.hashed, self.features)

    @cached_property
    def extremes(self) -> Extremes:
        """Whose unique largest or smallest values the release shows, of all people."""
        return self.ends

    @cached_property
    def everybody(self) -> Everybody:
        """Whom released rows resemble: by equal cells of all people, by near ones of the sample."""
        features = with_lattices_and_gaps(self.hashed, self.features, has_gaps=self.has_gaps)
        equal, own, people = by_equal_cells(features, self.threads, BestInFiles(self.hashed))
        some = look_at_everybody(self.sample.lenses, threads=self.threads)
        near = self.sample.in_files(some.near)
        return Everybody(equal, near, some.closer, own, people, features.original.n_rows)

    @cached_property
    def reread(self) -> Reread | None:
        """The same in common units, in the sample; None where all columns are in them."""
        sample = self.sample
        among = np.flatnonzero(np.isin(sample.rows, self.rows)).astype(np.int64)
        found = Reread.of(sample.lenses.features, among, threads=self.threads)
        if found is None:
            return None
        exact = replace(found.exact, matched=sample.rows[found.exact.matched])
        everybody = replace(
            found.everybody,
            equal=sample.in_files(found.everybody.equal),
            near=sample.in_files(found.everybody.near),
        )
        return replace(found, exact=exact, everybody=everybody)

    @cached_property
    def _close(self) -> tuple[Lenses, RowNumbers]:
        """The people, the rows nearest to them, and the sample; and where the people are."""
        assert isinstance(self.lenses, FiledLenses)
        near = self.near.released_rows.values()
        rows = np.unique(np.concatenate([self.rows, self.around.nearest.ravel(), self.sample.rows]))
        shown = np.unique(np.concatenate([*near, self.sample.released_rows]))
        part = self.lenses.part(rows[rows >= 0], shown[shown >= 0])
        return part, np.searchsorted(rows[rows >= 0], self.rows).astype(np.int64)

    @property
    def in_raw_units(self) -> tuple[Features, RowNumbers]:
        """The people with the rows nearest to them and the sample."""
        lenses, people = self._close
        return lenses.features, people

    @cached_property
    def attack(self) -> AttackOutcome:
        """What somebody guesses, from the rows nearest to the people and the sample."""
        return all_but_one_attack(*self._close, threads=self.threads)
