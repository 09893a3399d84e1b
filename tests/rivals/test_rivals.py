"""Every rival gives a table of the right kind, and does what its authors say."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest

from icsa.errors import InputError, UnknownNameError
from icsa.rivals import RIVALS, rival_release
from icsa.rivals.microaggregation import mdav_groups
from icsa.rivals.rank_swapping import swapped
from icsa.tables import Table
from tests.release.tables import clinic

# One that needs a library that is not there is tested where it is.
HERE = [name for name, rival in RIVALS.items() if not rival.library]
NEEDS = pytest.mark.skipif(
    not RIVALS["dp"].installed, reason="OpenDP is not installed: pip install 'icsa[dp]'"
)


def numbers(n: int = 600, seed: int = 0) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    a = generator.normal(size=n)
    b = 0.8 * a + 0.6 * generator.normal(size=n)
    c = np.where(a**2 + 0.3 * generator.normal(size=n) > 1.0, "far", "near")
    return pl.DataFrame({"a": a, "b": b, "c": c})


@pytest.mark.parametrize("name", [*HERE, pytest.param("dp", marks=NEEDS)])
def test_types_identifiers_and_missing_cells_are_right(name: str) -> None:
    frame = clinic(150)
    made = rival_release(Table(frame), name, random_state=1).frame
    assert made.height == frame.height
    for column in made.columns:
        assert made[column].dtype == frame[column].dtype
        expected, gone = frame[column].null_count(), made[column].null_count()
        assert gone < frame.height
        assert (gone == 0) == (expected == 0)
        if name != "dp":  # its noise moves these counts, too, and differs from run to run
            assert abs(gone - expected) <= 0.15 * frame.height
    assert made["patient_id"].n_unique() == frame.height
    assert not set(made["patient_id"]) & set(frame["patient_id"])


@pytest.mark.parametrize("name", HERE)
def test_one_key_one_table(name: str) -> None:
    table = Table(numbers(100))
    first, second, other = (rival_release(table, name, random_state=s).frame for s in (1, 1, 2))
    assert first.equals(second)
    assert not first.equals(other)


@pytest.mark.parametrize("name", sorted({*HERE} - {"mdav"}))
def test_margins_and_correlations_are_kept_about(name: str) -> None:
    frame = numbers()
    made = rival_release(Table(frame), name, random_state=1).frame
    for column in ("a", "b"):
        assert abs(made[column].mean() - frame[column].mean()) < 0.15
        assert abs(made[column].std() - frame[column].std()) < 0.15
    before, after = (np.corrcoef(f["a"], f["b"])[0, 1] for f in (frame, made))
    assert abs(before - after) < 0.12
    assert abs((made["c"] == "far").mean() - (frame["c"] == "far").mean()) < 0.08


def test_only_trees_and_those_who_copy_see_a_curve() -> None:
    frame = numbers(1000)

    def share_far(of: pl.DataFrame) -> float:
        return float((of.filter(pl.col("a").abs() > 1.5)["c"] == "far").mean())

    released = {n: rival_release(Table(frame), n, random_state=1).frame for n in HERE}
    assert share_far(frame) > 0.95
    assert share_far(released["cart"]) > 0.85
    assert share_far(released["copula"]) < 0.6


def test_noise_has_the_size_and_the_correlation_that_it_should_have() -> None:
    frame = numbers(4000).select("a", "b")
    made = rival_release(Table(frame), "noise", random_state=1).frame
    assert made["a"].var() / frame["a"].var() == pytest.approx(1.04, abs=0.02)
    before, after = (np.corrcoef(f["a"], f["b"])[0, 1] for f in (frame, made))
    assert after == pytest.approx(before, abs=0.01)


def test_mdav_by_hand() -> None:
    # Mean 6: 14 is farthest; with 13 a group. 1 is farthest from 14; with 2 a group. 5, 7 are left.
    x = np.array([[1.0], [2.0], [5.0], [7.0], [13.0], [14.0]])
    groups = mdav_groups(x, 2)
    assert [sorted(np.flatnonzero(groups == g).tolist()) for g in range(3)] == [
        [4, 5],
        [0, 1],
        [2, 3],
    ]


@pytest.mark.parametrize("n", [5, 14, 15, 16, 101])
def test_mdav_groups_have_k_rows_and_fewer_than_twice_as_many(n: int) -> None:
    sizes = np.bincount(mdav_groups(np.random.default_rng(n).normal(size=(n, 3)), 5))
    assert sizes.min() >= 5
    assert sizes.max() < 10


def test_mdav_gives_everybody_the_mean_of_five() -> None:
    frame = numbers(100).select("a", "b")
    made = rival_release(Table(frame), "mdav", random_state=1).frame
    assert made.group_by("a", "b").len()["len"].min() >= 5
    assert made["a"].mean() == pytest.approx(frame["a"].mean())


def test_swapped_cells_come_from_near_ranks_and_none_is_lost() -> None:
    generator = np.random.default_rng(0)
    cells = np.append(generator.permutation(200).astype(float), np.nan)
    out = swapped(cells, 10, generator)
    assert np.array_equal(np.sort(out), np.sort(cells), equal_nan=True)
    assert np.nanmax(np.abs(out - cells)) <= 10
    assert np.mean(out[:-1] != cells[:-1]) > 0.95


def test_drawn_people_are_people() -> None:
    frame = numbers(80)
    made = rival_release(Table(frame), "bootstrap", random_state=1).frame
    assert made.join(frame, on=frame.columns, how="semi").height == 80
    assert made.n_unique() < 70


def test_an_unknown_rival_is_refused_with_the_names() -> None:
    with pytest.raises(UnknownNameError, match=r"cart.*mdav"):
        rival_release(Table(numbers(50)), "sdcmicro")


@NEEDS
def test_private_synthesis_keeps_margins_about_and_draws_anew() -> None:
    frame = numbers(1500)
    made, other = (rival_release(Table(frame), "dp", random_state=1).frame for _ in range(2))
    assert not made.equals(other)  # the noise is nobody's to repeat
    for column in ("a", "b"):
        assert abs(made[column].mean() - frame[column].mean()) < 0.3
        assert frame[column].min() <= made[column].min()
        assert made[column].max() <= frame[column].max()
    assert np.corrcoef(made["a"], made["b"])[0, 1] > 0.3
    assert abs((made["c"] == "far").mean() - (frame["c"] == "far").mean()) < 0.15


def test_a_missing_library_gives_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(InputError, match=r"pip install 'icsa\[dp\]'"):
        rival_release(Table(numbers(50)), "dp")
