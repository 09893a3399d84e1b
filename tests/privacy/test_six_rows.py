"""One passport worked out by hand on six rows, and every measure on a few.

Both columns have the median absolute deviation 1, so one robust unit is 1.4826 raw units. Half of
each column's cells are equal, so neither can anchor a robust scatter: lens M is lens E.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from icsa.comparison.features import Features, as_features
from icsa.ics import invariant_coordinates
from icsa.privacy.closest_records import closest_record_measures, quantile_measure
from icsa.privacy.copies import copied_row_measures, verbatim_extremes
from icsa.privacy.exact_rows import exact_rows
from icsa.privacy.extremes import verbatim_ends
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.measuring import raw_outlier_replication_error
from icsa.privacy.passport import PrivacyAssessment, assess_privacy

UNIT = 1.4826022185056018
ORIGINAL = np.array([[0, 1], [0, 3], [0, 5], [2, 3], [3, 3], [20, 31]], dtype=float)
RELEASED = np.array([[1, 3], [0, 2], [3, 1], [0, 3], [2, 5], [20, 29]], dtype=float)
NAMES = ["visits", "cost"]


def six_rows() -> Features:
    return as_features(ORIGINAL, RELEASED, names=NAMES, grids=[0, 0])


@pytest.fixture(scope="module")
def assessment() -> PrivacyAssessment:
    coordinates = invariant_coordinates(ORIGINAL, scatters=("identity", "variances"))
    return assess_privacy(six_rows(), outliers=[5], coordinates=coordinates)


def test_distances_and_chance(assessment: PrivacyAssessment) -> None:
    (person,) = assessment.people
    # The nearest other original is (3, 3): 17 and 28 away. The nearest released row is (20, 29).
    for ratio in person.ratios:
        assert ratio.d_org == pytest.approx(math.sqrt(17**2 + 28**2) / UNIT)
        assert ratio.d_rel == pytest.approx(2 / UNIT)
        assert ratio.rho == pytest.approx(2 / math.sqrt(1073))
        # Ratios r2/r1 of the rows: sqrt 2, 1, sqrt 2, 2, 3 and sqrt(1076/1073): TwoNN is
        # 5 / (2 ln 2 + ln 3 + .0014) = 2.011, and there are two columns.
        assert ratio.dimension == 2.0
        assert ratio.p == pytest.approx(4 / (4 + 1073))
    assert person.corrected_chance == pytest.approx(3 * 4 / 1077)
    assert person.released_row == 5
    assert person.worst is person.ratios[0]


def test_how_the_person_was_chosen_and_stands_out(assessment: PrivacyAssessment) -> None:
    (person,) = assessment.people
    assert (person.row, person.why, person.robust_distance) == (5, "given", 0.0)
    assert "no robust distances" in assessment.standing_out.note
    assert person.isolation == pytest.approx(math.sqrt(20**2 + 30**2) / UNIT)  # to (0, 1)
    # 19 and 28 from the medians 1 and 3.
    assert dict(person.stands_out_by) == pytest.approx({"cost": 784 / 1145, "visits": 361 / 1145})
    # The released row repeats all of 19^2 and 28^2 - 2^2 of 28^2.
    assert dict(person.matched_by) == pytest.approx({"cost": 780 / 1141, "visits": 361 / 1141})
    assert not person.has_near_twin


def test_partial_knowledge(assessment: PrivacyAssessment) -> None:
    (person,) = assessment.people
    # Who knows the cost 31 finds 29, and reads 20 visits. Who knows 20 visits reads a cost of 29,
    # within a tenth of 28. The other originals give 0 visits and a cost of 3.
    assert (person.attack, person.attack_control) == (1.0, 0.0)
    assert (person.equal_cells, person.equal_cells_control) == (1, 0)


def test_before_release(assessment: PrivacyAssessment) -> None:
    (person,) = assessment.people
    # Within d_org/2 = 16.4 of (20, 31) only these two values lie: 6 rows times (1/6)^2.
    assert person.expected_replicas == pytest.approx(1 / 6)
    assert person.expected_replicas_high == pytest.approx(1 / 6)


def test_verdict_and_group(assessment: PrivacyAssessment) -> None:
    assert assessment.verdict.word == "do not release"
    assert assessment.people[0].status == "replicated"
    rules = {(reason.rule, reason.word) for reason in assessment.verdict.reasons}
    # Lambda is 1/6, and fresh people would come as near with probability .25 / 1.25: no finding.
    assert rules == {("person", "do not release")}
    assert assessment.group.share.value == 1.0
    assert assessment.group.p_value == pytest.approx(6 / 11)
    assert repr(assessment.people[0]) == "<Person: replicated>"


def test_measures(assessment: PrivacyAssessment) -> None:
    measures = assessment.measures
    assert measures["ore"].value == pytest.approx(4 / (400 + 961))
    assert measures["ore_scaled"].value == pytest.approx(4 / 1145)
    assert measures["verbatim_rows"].value == 1.0  # (0, 3)
    assert measures["replicated_uniques"].value == pytest.approx(1 / 6)
    # Ends of one person only: 20 visits, and costs of 1 and 31. 20 and 1 are released.
    assert (measures["verbatim_extremes"].value, measures["verbatim_extremes"].n) == (2.0, 3)
    assert measures["interval_disclosure"].value == 0.0  # 2/1.4826 against .1 sqrt 2


def test_closest_records_on_four_rows() -> None:
    # Median 2, deviations 2, 1, 1, 5: scale 1.5 units. Released rows are .5 from 0, 1 from 3,
    # 4 from 3 and 1 from 7.
    x = np.array([[0.0], [1.0], [3.0], [7.0]])
    released = np.array([[-0.5], [4.0], [40.0], [8.0]])
    found = closest_record_measures(fit_lenses(as_features(x, released, grids=[0])))
    unit = 1.5 * UNIT
    assert found["dcr_median"].value == pytest.approx((1 + 1) / 2 / unit)
    assert found["dcr_median_original"].value == pytest.approx((1 + 2) / 2 / unit)
    # Second closest: 1.5, 3, 37, 5: ratios .333, .333, .892, .2.
    assert found["nndr_median"].value == pytest.approx(1 / 3)
    # 0 has .5 < 1; 1 has 1.5 > 1; 3 has 1 < 2; 7 has 1 < 4.
    assert found["dcr_share"].value == 0.75
    assert found["dcr_share"].n == 4


def test_copies_are_counted_with_categories_and_missing_cells() -> None:
    both = as_features(
        [[1.0], [np.nan], [2.0], [2.0]],
        [[np.nan], [1.0], [2.0]],
        original_codes=[[0], [1], [-1], [-1]],
        released_codes=[[1], [1], [-1]],
    )
    found = copied_row_measures(exact_rows(both))
    assert found["verbatim_rows"].value == 2.0
    assert found["identical_match_share"].value == pytest.approx(2 / 3)
    assert found["replicated_uniques"].value == 0.5


def test_what_cannot_be_estimated_says_why() -> None:
    both = as_features([[1.0], [1.0], [np.nan]], [[np.nan]])
    assert raw_outlier_replication_error(both, np.array([0])).reason == "numeric cells are missing"
    huge = as_features([[1e200], [1.0], [2.0]], [[2.0], [1.0]])
    assert "larger than 1e+150" in raw_outlier_replication_error(huge, np.array([0])).reason
    assert "no column" in verbatim_extremes(verbatim_ends(both)).reason
    same = as_features([[1.0], [1.0]], [[1.0]])
    reason = copied_row_measures(exact_rows(same))["replicated_uniques"].reason
    assert reason == "no row of the original is unique"
    assert quantile_measure(np.array([np.nan]), 0.5, name="x").reason == "no distance is defined"
