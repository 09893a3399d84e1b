"""The verdict's laws: copies are always found, fresh rows hardly ever, and the ends hold."""

from __future__ import annotations

import numpy as np
import pytest

from icsa.anonymization import masked_copy
from icsa.comparison.features import FeatureTable, as_features
from icsa.errors import InputError
from icsa.ics import invariant_coordinates
from icsa.privacy.before_release import expected_replicas, risk_over_redraws
from icsa.privacy.costs import estimate_cost
from icsa.privacy.everybody import look_at_everybody
from icsa.privacy.lenses import fit_lenses
from icsa.privacy.passport import assess_privacy
from icsa.privacy.people import measure_nearness, measure_surroundings
from icsa.privacy.people_findings import clopper_pearson, nearest_release_group
from icsa.privacy.policy import Policy, Threshold
from icsa.privacy.reasons import Reason, Verdict
from icsa.privacy.robust_fit import robust_fit
from icsa.privacy.self_test import ends_of_the_scale
from icsa.privacy.standing_out import named_people, standing_out
from icsa.privacy.verdict import statuses, verdict, verdict_of_release


def words_of(x: np.ndarray, *releases: np.ndarray) -> list[str]:
    lenses = fit_lenses(as_features(x, x, grids=np.zeros(x.shape[1])))
    around = measure_surroundings(lenses, standing_out(lenses))
    words = []
    for released in releases:
        seen = lenses.with_released(as_features(x, released, grids=np.zeros(x.shape[1])).released)
        near = measure_nearness(seen, around)
        group = nearest_release_group(near.rho["E"], len(x), len(released))
        words.append(verdict(around, near, group, everybody=look_at_everybody(seen)).word)
    return words


def mixed(seed: int, n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = np.round(np.exp(rng.normal(size=(n, 4))), 1)
    x[rng.random(x.shape) < 0.05] = np.nan
    return x, np.column_stack([rng.integers(0, 2, n), rng.integers(-1, 4, n)])


@pytest.mark.parametrize("seed", range(3))
def test_a_shuffled_copy_is_never_released(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_t(4, size=(120, 5))
    assessment = assess_privacy(as_features(x, rng.permutation(x), grids=np.zeros(5)))
    assert assessment.verdict.word == "do not release"
    assert assessment.measures["verbatim_rows"].value == 120
    assert assessment.measures["identical_match_share"].value == 1.0
    for person in assessment.people:
        assert (person.status, person.copies) == ("copied", 1)
        assert person.worst.rho == 0.0
        assert person.corrected_chance < 1e-5  # five cells that two of 120 may have
        assert sum(share for _, share in person.stands_out_by) == pytest.approx(1.0)
        assert dict(person.matched_by) == pytest.approx(dict(person.stands_out_by))
        assert person.attack == 1.0
    assert assessment.trusted
    assert assessment.why_not_trusted == ""


def test_a_mixed_copy_in_parts_is_never_released() -> None:
    for seed in range(3):
        x, codes = mixed(seed)
        order = np.random.default_rng(seed).permutation(len(x))
        noisy = x + 0.1 * np.nanstd(x, axis=0) * np.random.default_rng(9).normal(size=x.shape)
        one_shuffled = x.copy()
        one_shuffled[:, 1] = x[order, 1]
        for released in (x[order], noisy[order], one_shuffled[order]):
            both = as_features(x, released, original_codes=codes, released_codes=codes[order])
            assert assess_privacy(both).verdict.word != "release"


def test_fresh_rows_are_hardly_ever_stopped() -> None:
    rng = np.random.default_rng(11)
    words = []
    for _ in range(10):
        x = rng.normal(size=(100, 4))
        words += words_of(x, rng.normal(size=(100, 4)), rng.normal(size=(60, 4)))
    assert words.count("release") >= 18


def test_harmful_releases_by_kind() -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(300, 6))
    x[5] = 9.0
    synthetic = rng.normal(size=x.shape)
    synthetic[0] = x[5]
    swapped = np.hstack([x[:, :3], rng.permutation(x[:, 3:])])
    noisy = rng.permutation(x + 0.1 * rng.normal(size=x.shape))
    copied, rescaled, blocks, shaken = words_of(x, synthetic, 3.0 * x + 10.0, swapped, noisy)
    assert (copied, rescaled, shaken) == ("do not release",) * 3
    assert blocks in ("look again", "do not release")


def test_a_copy_in_other_units_is_a_copy_where_nobody_stands_out_much() -> None:
    x = np.random.default_rng(1).normal(size=(200, 5))
    assert words_of(x, 3.0 * x + 10.0) == ["do not release"]


def test_one_copied_person_is_named_and_alone() -> None:
    rng = np.random.default_rng(13)
    x = rng.normal(size=(200, 5))
    x[42] += 12.0
    released = rng.normal(size=(150, 5))
    released[7] = x[42]
    assessment = assess_privacy(as_features(x, released))
    reasons = assessment.verdict.reasons
    assert {"person", "equal cells"} <= {reason.rule for reason in reasons}
    assert {reason.rows for reason in reasons} == {(42,)}
    assert all("42" not in reason.text.split("(")[0] for reason in reasons)
    (found,) = [person for person in assessment.people if person.status != "hidden"]
    assert (found.row, found.released_row) == (42, 7)


def test_thresholds_decide() -> None:
    rng = np.random.default_rng(14)
    x = rng.normal(size=(100, 3))
    lenses = fit_lenses(as_features(x, x + 0.05))
    around = measure_surroundings(lenses, standing_out(lenses))
    near = measure_nearness(lenses, around)
    group = nearest_release_group(near.rho["E"], 100, 100)
    never = Threshold(-1.0, "for a test")
    deaf = Policy(
        person_chance=never,
        group_chance=never,
        small_ratio=never,
        part_share=Threshold(2.0, "for a test"),
    )
    assert verdict(around, near, group, policy=deaf).word == "release"
    assert set(statuses(around, near, policy=deaf)) == {"hidden"}
    row = int(around.people.rows[0])
    risky = verdict(around, near, group, before={row: 0.5}, policy=deaf)
    assert (risky.word, risky.reasons[0].rows) == ("do not release", (row,))
    assert verdict(around, near, group, before={row: 0.2}, policy=deaf).word == "look again"
    assert verdict(around, near, group, before={row: 0.1}, policy=deaf).word == "release"
    assert statuses(around, near, before={row: 0.2}, policy=deaf)[0] == "at risk"


def test_a_repeated_part_is_a_status_only_where_it_is_a_finding_about_the_group() -> None:
    rng = np.random.default_rng(21)
    x = rng.normal(size=(100, 6))
    released = rng.normal(size=(100, 6))
    chosen = [3, 13, 23, 30, 43, 60, 73, 90]
    x[chosen] += 6.0 * rng.normal(size=(8, 6))
    for repeated, word in ((chosen[:1], "hidden"), (chosen, "repeated in part")):
        copied = released.copy()
        copied[repeated, :3] = x[repeated, :3]
        lenses = fit_lenses(as_features(x, copied, grids=np.zeros(6)))
        around = measure_surroundings(lenses, named_people(lenses, chosen))
        near = measure_nearness(lenses, around)
        deaf = Policy(person_chance=Threshold(-1.0, "for a test"))
        assert statuses(around, near, policy=deaf)[0] == word
        group = nearest_release_group(near.rho["E"], 100, 100)
        reasons = verdict(around, near, group, policy=deaf).reasons
        assert any(reason.rule == "parts" for reason in reasons) == (word != "hidden")


def test_a_person_with_a_near_twin_is_said_to_have_one_unless_replicated() -> None:
    rng = np.random.default_rng(22)
    x = rng.normal(size=(100, 4))
    x[0], x[1] = 7.0, 7.0001
    lenses = fit_lenses(as_features(x, rng.normal(size=(100, 4)), grids=np.zeros(4)))
    around = measure_surroundings(lenses, named_people(lenses, [0, 50]))
    near = measure_nearness(lenses, around)
    assert around.has_near_twin.tolist() == [True, False]
    assert statuses(around, near) == ("hidden", "hidden")
    assert statuses(around, near, before={0: 0.4, 50: 0.4}) == ("near twin", "at risk")


def test_everything_about_a_release_is_decided_together() -> None:
    fine = Verdict("release")
    policy = Policy()
    assert verdict_of_release(fine, policy, n_released=100, as_they_are={}) == fine
    found = verdict_of_release(
        Verdict("look again", (Reason("look again", "person", "near", (4, 7)),)),
        policy,
        n_released=100,
        as_they_are={"name": 1, "id": 10},
        twins=[3, 7],
        reproducible=True,
        why_not_trusted="not to be trusted",
    )
    assert found.word == "do not release"
    assert [(reason.word, reason.rule) for reason in found.reasons] == [
        ("do not release", "reproducible"),
        ("do not release", "identifiers"),
        ("look again", "person"),
        ("look again", "identifiers"),
        ("look again", "self-test"),
        ("look again", "near twin"),
    ]
    assert found.reasons[-1].rows == (7,)


def test_an_exact_double_cannot_be_singled_out_and_a_twin_is_said() -> None:
    rng = np.random.default_rng(15)
    x = rng.normal(size=(100, 3))
    x[0] = x[1] = 8.0
    x[2], x[3] = [-8.0, 8.0, 8.0], [-8.0, 8.0, 8.0001]
    lenses = fit_lenses(as_features(x, x[::-1], grids=np.zeros(3)))
    around = measure_surroundings(lenses, named_people(lenses, [0, 2, 50]))
    near = measure_nearness(lenses, around)
    assert near.rho["E"].tolist() == [1.0, 0.0, 0.0]
    assert around.has_near_twin.tolist() == [True, True, False]


def test_a_wrong_end_says_why() -> None:
    # Everybody has a double: a copy singles nobody out.
    x = np.repeat(np.random.default_rng(16).normal(size=(40, 3)), 2, axis=0)
    assessment = assess_privacy(as_features(x, x, grids=np.zeros(3)))
    assert not assessment.trusted
    assert "have an exact double" in assessment.why_not_trusted


def test_large_tables_are_tested_on_a_part() -> None:
    x = np.random.default_rng(17).normal(size=(20_500, 3))
    lenses = fit_lenses(as_features(x, x[:50], grids=np.zeros(3)))
    around = measure_surroundings(lenses, named_people(lenses, np.arange(120)))
    copied, apart = ends_of_the_scale(lenses, around)
    assert copied.right
    assert apart.right
    assert copied.n_people == 100
    assert copied.n_rows < 20_500
    # what is counted in a part stands for the whole
    assert copied.measures["verbatim_rows"].value == 20_500
    assert apart.measures["verbatim_rows"].value == 0
    assert copied.measures["attack_success"].value == 1.0


@pytest.mark.parametrize(("scatters", "likely"), [(("identity", "cov"), True), (None, False)])
def test_lambda_agrees_with_redraws(scatters: tuple[str, str] | None, likely: bool) -> None:
    rng = np.random.default_rng(18)
    x = rng.normal(size=(150, 4))
    x[0] = [60.0, -50.0, 40.0, 55.0]
    coordinates = invariant_coordinates(x, scatters=scatters or ("mcd50", "mcd75"))
    lenses = fit_lenses(as_features(x, x))
    around = measure_surroundings(lenses, named_people(lenses, [0, 1, 2, 3]))
    wanted = expected_replicas(lenses, around, coordinates)

    def redraw(number: int) -> FeatureTable:
        released = masked_copy(x, coordinates, mask="permute", random_state=number)
        return as_features(x, released).released

    found = risk_over_redraws(lenses, around, redraw, 300)
    # Five Monte Carlo standard errors of a count, with room for one that has never happened.
    error = 5.0 * np.sqrt(np.maximum(wanted.value, 0.003) / 300)
    np.testing.assert_array_less(np.abs(found.expected.value - wanted.value), error)
    assert np.all(wanted.high >= wanted.value)
    assert np.all(found.risk <= np.minimum(1.0, found.expected.value) + 1e-12)
    assert (wanted.value[0] > 0.5) == likely
    assert found.luck(found.rho.max(axis=0)) == "lucky"


def test_lambda_needs_numbers() -> None:
    x, codes = mixed(1)
    lenses = fit_lenses(as_features(x, x, original_codes=codes, released_codes=codes))
    around = measure_surroundings(lenses, named_people(lenses, [0]))
    coordinates = invariant_coordinates(np.random.default_rng(0).normal(size=(50, 4)))
    with pytest.raises(InputError, match="risk_over_redraws"):
        expected_replicas(lenses, around, coordinates)
    with pytest.raises(InputError, match="At least one release"):
        risk_over_redraws(lenses, around, lambda number: lenses.features.released, 0)


def test_tied_and_dependent_columns_are_left_out_by_name() -> None:
    rng = np.random.default_rng(19)
    x = rng.normal(size=(2, 100))
    columns = np.vstack([x, x.sum(axis=0), rng.random(100) < 0.2])
    fit = robust_fit(columns, np.array([0.0, 0.0, 0.0, 0.8]), ("a", "b", "sum", "rare"))
    assert fit.anchors == (0, 1)
    assert "leave out rare" in fit.note
    assert "leave out sum: it depends" in fit.note
    assert fit.whole_scatter.shape == (4, 4)
    few = robust_fit(columns[:, :3], np.zeros(4))
    assert few.anchors == ()
    assert "cannot be had from 3 rows" in few.note


def test_people_that_cannot_be_named() -> None:
    lenses = fit_lenses(as_features(np.eye(4), np.eye(4)))
    with pytest.raises(InputError, match="from 0 to 3"):
        named_people(lenses, [4])
    with pytest.raises(InputError, match="one for each of 4 rows"):
        named_people(lenses, [True])
    with pytest.raises(InputError, match="row numbers, or of True"):
        named_people(lenses, ["a"])
    with pytest.raises(InputError, match="cap is 0"):
        standing_out(lenses, cap=0)
    assert named_people(lenses, [True, False, True, False]).rows.tolist() == [0, 2]


def test_nobody_named_is_a_table_without_a_verdict_against_it() -> None:
    x = np.random.default_rng(20).normal(size=(50, 3))
    assessment = assess_privacy(as_features(x, x), outliers=[])
    assert assessment.people == ()
    assert assessment.group.share.reason == "nobody stands out"
    assert not assessment.trusted
    assert "nobody stands out" in assessment.why_not_trusted


def test_only_categories() -> None:
    rng = np.random.default_rng(21)
    codes = rng.integers(0, 4, size=(80, 6))
    none = np.empty((80, 0))
    both = as_features(none, none, original_codes=codes, released_codes=rng.permutation(codes))
    assessment = assess_privacy(both)
    assert assessment.verdict.word == "do not release"
    assert assessment.measures["ore"].reason == "there are no numeric columns"


def test_intervals_and_costs() -> None:
    assert clopper_pearson(10, 10) == (pytest.approx(0.025 ** (1 / 10)), 1.0)
    with pytest.raises(InputError, match="0 to n successes"):
        clopper_pearson(3, 2)
    small, large = estimate_cost(10**3, 10**3, 5, 10), estimate_cost(10**6, 10**6, 20, 10**3)
    assert small.seconds < large.seconds
    assert "s and" in str(large)
    with pytest.raises(InputError, match="1 or more"):
        estimate_cost(0, 1, 1, 1)


def test_threads_and_order_of_released_rows_do_not_matter() -> None:
    rng = np.random.default_rng(22)
    x, y = rng.normal(size=(40_000, 3)), rng.normal(size=(35_000, 3))
    first, second = (
        assess_privacy(as_features(x, rows, grids=np.zeros(3)), outliers=[1, 2, 3], threads=threads)
        for rows, threads in ((y, 1), (y[::-1], 2))
    )
    for a, b in zip(first.people, second.people, strict=True):
        assert a.ratios == b.ratios
        assert (a.attack, a.equal_cells) == (b.attack, b.equal_cells)


class TestWhoStandsOutInOneColumn:
    """An extreme cell comes out of every shuffle of its column; that is no copy of a person."""

    @staticmethod
    def _table() -> np.ndarray:
        x = np.random.default_rng(3).normal(size=(300, 8))
        x[0, 2] = 400.0
        return x

    def test_shuffled_columns_are_not_a_copy(self):
        x = self._table()
        apart = np.column_stack([np.random.default_rng(j).permutation(x[:, j]) for j in range(8)])
        assessment = assess_privacy(as_features(x, apart))
        assert assessment.verdict.word == "look again"
        assert "extreme value of the one column" in assessment.verdict.reasons[0].text
        assert assessment.trusted

    def test_a_copy_is_found_all_the_same(self):
        x = self._table()
        released = np.random.default_rng(4).normal(size=(300, 8))
        released[0] = x[0] + 0.01
        assessment = assess_privacy(as_features(x, released))
        assert assessment.verdict.word == "do not release"
        assert assessment.verdict.reasons[0].rows == (0,)
