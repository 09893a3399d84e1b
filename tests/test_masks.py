"""The laws of the masks and of decorrelate, and what they cost a statistician."""

from __future__ import annotations

import logging
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from icsa import masks
from icsa.errors import ICSAError, InputError, UnknownNameError
from icsa.masks import (
    MASKS,
    Moments,
    decorrelate,
    drawn_permutation,
    flip,
    moments,
    permute,
    redraw,
    resolve,
    rotate,
)
from icsa.randomness import Key, as_key

SECRET = bytes(range(100, 132))

cells = st.floats(-1e8, 1e8, allow_nan=False).map(lambda cell: round(cell, 3))
tables = hnp.arrays(float, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=cells)
seeds = st.integers(0, 10**6)
every_mask = pytest.mark.parametrize("name", sorted(MASKS))


def normal_scores(n_rows: int, n_components: int, seed: int, *, spread: float = 0.0) -> np.ndarray:
    """Correlated columns whose scales go over `spread` powers of ten, with means of that size."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(n_components) + 0.3 * rng.normal(size=(n_components, n_components))
    scales = 10.0 ** rng.uniform(-spread / 2, spread / 2, n_components)
    return (
        rng.normal(size=(n_rows, n_components)) @ mixing + rng.normal(size=n_components)
    ) * scales


def assert_decorrelated(released: np.ndarray, original: np.ndarray) -> None:
    deviation = original.std(axis=0)
    size = np.abs(original.mean(axis=0)) + deviation
    np.testing.assert_array_less(
        np.abs(released.mean(axis=0) - original.mean(axis=0)), 1e-12 * size + 1e-300
    )
    np.testing.assert_allclose(released.std(axis=0), deviation, rtol=1e-12)
    correlations = np.corrcoef(released, rowvar=False).reshape(2 * (released.shape[1],))
    np.testing.assert_allclose(correlations, np.eye(released.shape[1]), atol=1e-13)


# --- by hand -------------------------------------------------------------------------------------

FOUR = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0], [4.0, 40.0]])


def test_four_rows_permuted_by_hand() -> None:
    # Cell i goes to place j = floor(d (i + 1) / 2^32), and the one that was there to place i.
    for column in range(2):
        draws = as_key(7).stream("permute", column).half_words(4)
        expected: list[float] = []
        for i, draw in enumerate(draws):
            j = int(draw) * (i + 1) >> 32
            expected.append(FOUR[i, column])
            expected[i], expected[j] = expected[j], expected[i]
        assert list(permute(FOUR, key=7)[:, column]) == expected


def test_four_rows_flipped_by_hand() -> None:
    # The signs are the four highest bits of the stream's first byte: 1 is a minus.
    for column in range(2):
        bits = f"{as_key(7).stream('flip', column).random_bytes(1)[0]:08b}"[:4]
        expected = [-x if b == "1" else x for x, b in zip(FOUR[:, column], bits, strict=True)]
        assert list(flip(FOUR, key=7)[:, column]) == expected


def test_four_rows_rotated_by_hand() -> None:
    z = np.array([[1.0], [1.0], [-1.0], [-1.0]])  # of length 2
    normals = as_key(7).stream("rotate", 0).normals(4)
    expected = 2.0 * normals / np.sqrt(np.sum(normals**2))
    np.testing.assert_allclose(rotate(z, key=7)[:, 0], expected, rtol=1e-14)


def test_one_row_rotated_is_itself_or_its_negative() -> None:
    rotated = {float(rotate(np.array([[3.0]]), key=seed).round(12)[0, 0]) for seed in range(20)}
    assert rotated == {3.0, -3.0}


def test_four_rows_decorrelated_by_hand() -> None:
    # Correlation .6: R^(-1/2) has (1/sqrt(1.6) + 1/sqrt(.4))/2 on and (1/sqrt(1.6) - 1/sqrt(.4))/2
    # off the diagonal, so the rows (1, 1.4), (1, -.2) become multiples of sqrt(.4).
    a, c = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1.0, -1.0, 1.0, -1.0])
    masked = np.column_stack([a, 0.6 * a + 0.8 * c])
    wanted = Moments(np.array([5.0, -1.0]), np.array([1.0, 10.0]))
    unit = np.sqrt(0.4) * np.array([[1, 2], [2, -1], [-2, 1], [-1, -2]])
    expected = unit * [1.0, 10.0] + [5.0, -1.0]
    np.testing.assert_allclose(decorrelate(masked, wanted), expected, rtol=1e-13)


# --- the laws ------------------------------------------------------------------------------------


@given(z=tables, seed=seeds)
def test_permute_keeps_each_components_values(z: np.ndarray, seed: int) -> None:
    np.testing.assert_array_equal(np.sort(permute(z, key=seed), axis=0), np.sort(z, axis=0))


@given(z=tables, seed=seeds)
def test_orders_drawn_beforehand_are_those_of_permute(z: np.ndarray, seed: int) -> None:
    mask = drawn_permutation(*z.shape, key=seed)
    np.testing.assert_array_equal(mask(z), permute(z, key=seed))
    np.testing.assert_array_equal(resolve(mask)(z, key=None), permute(z, key=seed))
    with pytest.raises(InputError, match="scores were drawn"):
        mask(np.vstack([z, z]))


@given(z=tables, seed=seeds)
def test_flip_keeps_absolute_values(z: np.ndarray, seed: int) -> None:
    np.testing.assert_array_equal(np.abs(flip(z, key=seed)), np.abs(z))


@given(z=tables, seed=seeds)
def test_rotate_keeps_each_columns_length(z: np.ndarray, seed: int) -> None:
    np.testing.assert_allclose(
        np.linalg.norm(rotate(z, key=seed), axis=0), np.linalg.norm(z, axis=0), rtol=1e-13
    )


@every_mask
@given(
    n_components=st.integers(1, 6),
    more=st.integers(2, 60),
    spread=st.floats(0, 16),
    seed=seeds,
)
def test_decorrelate_restores_moments_and_leaves_no_correlation(
    name: str, n_components: int, more: int, spread: float, seed: int
) -> None:
    z = normal_scores(n_components + more, n_components, seed, spread=spread)
    masked = MASKS[name](z, key=seed)
    assert_decorrelated(decorrelate(masked, z), z)


@every_mask
@given(z=tables, seed=seeds)
def test_masks_have_one_form(name: str, z: np.ndarray, seed: int) -> None:
    kept = z.copy()
    masked = MASKS[name](z, key=seed)
    np.testing.assert_array_equal(z, kept)
    assert masked.shape == z.shape
    assert masked.dtype == np.float64
    assert masked.flags.f_contiguous
    assert not np.may_share_memory(masked, z)
    # The same key: the same result, whatever the layout, the threads and the target.
    frozen = z.copy()
    frozen.setflags(write=False)
    for same in (z.tolist(), np.asfortranarray(z), frozen, np.repeat(z, 2, axis=1)[:, ::2]):
        np.testing.assert_array_equal(MASKS[name](same, key=as_key(seed), threads=3), masked)
    target = np.empty(z.shape, order="F")
    assert MASKS[name](z, key=seed, out=target) is target
    np.testing.assert_array_equal(target, masked)
    in_place = np.array(z, order="F")
    assert MASKS[name](in_place, key=seed, out=in_place) is in_place
    np.testing.assert_array_equal(in_place, masked)


@every_mask
@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_matter_for_long_columns(name: str, threads: int) -> None:
    z = np.asfortranarray(np.random.default_rng(1).normal(size=(70_001, 5)))
    expected = MASKS[name](z, key=3)
    np.testing.assert_array_equal(MASKS[name](z, key=3, threads=threads), expected)
    MASKS[name](z, key=3, out=z[:], threads=threads)
    np.testing.assert_array_equal(z, expected)


@every_mask
def test_keys_and_columns_differ(name: str) -> None:
    z = np.repeat(np.random.default_rng(1).normal(size=(200, 1)), 3, axis=1)
    first, second = MASKS[name](z, key=1), MASKS[name](z, key=2)
    fresh = [MASKS[name](z, key=None) for _ in range(2)]
    columns = [*first.T, *second.T, *fresh[0].T, *fresh[1].T]
    assert np.unique(np.array(columns), axis=0).shape[0] == 12


@every_mask
def test_a_key_of_bytes_and_a_generator_work(name: str) -> None:
    z = normal_scores(10, 2, 1)
    np.testing.assert_array_equal(MASKS[name](z, key=SECRET), MASKS[name](z, key=Key(SECRET)))
    drawn = as_key(np.random.default_rng(5))
    np.testing.assert_array_equal(
        MASKS[name](z, key=np.random.default_rng(5)), MASKS[name](z, key=drawn)
    )


def test_overlapping_target_gives_the_same() -> None:
    room = np.asfortranarray(np.random.default_rng(1).normal(size=(50, 4)))
    z, out = room[:, :3], room[:, 1:]
    expected = permute(z.copy(), key=1)
    np.testing.assert_array_equal(permute(z, key=1, out=out), expected)


# --- decorrelate: blocks, conditions, constants --------------------------------------------------


def test_decorrelate_leaves_the_masked_moments_where_no_others_are_given() -> None:
    for seed in range(5):
        masked = redraw(normal_scores(60, 4, seed, spread=6.0), key=seed)
        assert_decorrelated(decorrelate(masked), masked)


def test_decorrelate_in_place_from_moments() -> None:
    z = np.asfortranarray(normal_scores(40_000, 4, 1, spread=6))
    before, original = moments(z), z.copy()
    permute(z, key=1, out=z)
    released = decorrelate(z, before, out=z)
    assert released is z
    assert_decorrelated(released, original)
    np.testing.assert_array_equal(released, decorrelate(permute(original, key=1), original))


@pytest.mark.parametrize("mixing", [1e-2, 1e-5])
def test_decorrelate_is_exact_for_nearly_dependent_components(mixing: float) -> None:
    rng = np.random.default_rng(3)
    z = rng.normal(size=(100, 4))
    masked = z[:, [0]] + mixing * rng.normal(size=(100, 4))  # correlations near 1
    assert_decorrelated(decorrelate(masked, z), z)


def test_decorrelate_with_one_row_more_than_the_limit() -> None:
    for seed in range(20):
        z = normal_scores(8, 6, seed)
        assert_decorrelated(decorrelate(rotate(z, key=seed), z), z)


def test_decorrelated_scores_are_near_the_masked_ones() -> None:
    # Of all uncorrelated versions the symmetric root's is the nearest: it moves by n^(-1/2) only.
    z = np.random.default_rng(4).normal(size=(10_000, 3))
    masked = permute(z, key=1)
    assert np.abs(decorrelate(masked, z) - masked).max() < 0.2


def test_moments_are_exact_far_from_zero() -> None:
    rng = np.random.default_rng(5)
    z = np.column_stack(
        [rng.normal(size=50_000) + 1e9, np.full(50_000, 0.1), rng.normal(size=50_000)]
    )
    z[0, 2] = 1e9  # the first row must not matter
    mean, deviation = moments(z)
    exact = z.astype(np.longdouble)
    np.testing.assert_allclose(mean, exact.mean(axis=0).astype(float), rtol=1e-14)
    np.testing.assert_allclose(deviation[::2], exact.std(axis=0)[::2].astype(float), rtol=1e-12)
    assert mean[1] == 0.1
    assert deviation[1] == 0.0


@every_mask
def test_a_constant_component_is_kept(name: str) -> None:
    z = normal_scores(30, 3, 6)
    z[:, 1] = 0.1
    released = decorrelate(MASKS[name](z, key=1), z)
    np.testing.assert_array_equal(released[:, 1], z[:, 1])
    assert_decorrelated(released[:, [0, 2]], z[:, [0, 2]])


def test_only_constant_components_are_kept_even_with_one_row() -> None:
    np.testing.assert_array_equal(decorrelate(np.ones((1, 2)), np.ones((1, 2))), np.ones((1, 2)))


@pytest.mark.parametrize("n_rows", [1, 3, 4])
def test_decorrelate_needs_more_rows_than_components_plus_one(n_rows: int) -> None:
    z = np.random.default_rng(7).normal(size=(n_rows, 3))
    z[0] += 1 if n_rows > 1 else 0
    wanted = Moments(np.zeros(3), np.ones(3))
    with pytest.raises(
        InputError,
        match=rf"more rows than components \+ 1: got {n_rows} rows, 3 components\. Use more rows",
    ):
        decorrelate(z, wanted)


def test_dependent_and_lost_components_are_errors() -> None:
    z = normal_scores(20, 2, 8)
    with pytest.raises(InputError, match=r"depend on each other exactly.*decorrelate=False"):
        decorrelate(z[:, [0, 0]], z)
    masked = z.copy()
    masked[:, 1] = 4.0
    with pytest.raises(InputError, match="component 1 is constant after the mask"):
        decorrelate(masked, z)


def test_decorrelate_refuses_other_shapes_and_missing_cells() -> None:
    z = normal_scores(20, 2, 9)
    with pytest.raises(InputError, match="same shape"):
        decorrelate(z, z[:-1])
    masked = z.copy()
    masked[3, 1] = np.nan
    with pytest.raises(InputError, match=r"Column '1': 1 of 20 values are missing"):
        decorrelate(masked, z)


# --- the registry --------------------------------------------------------------------------------


def test_names_and_functions_resolve() -> None:
    assert {name: resolve(name) for name in MASKS} == {n: m.load() for n, m in MASKS.items()}
    assert [resolve(function) for function in (flip, permute, rotate)] == [flip, permute, rotate]
    with pytest.raises(UnknownNameError, match=r"No mask 'permut'. Did you mean 'permute'\?"):
        resolve("permut")
    with pytest.raises(
        InputError, match=r"flip, permute, redraw, rotate\) or a function .* type int"
    ):
        resolve(3)  # type: ignore[arg-type]


def test_a_function_of_the_users_becomes_a_mask() -> None:
    seen = []

    def backwards(z: np.ndarray, *, key: Key) -> np.ndarray:
        """Return the rows from last to first."""
        seen.append(key)
        return z[::-1]

    mask = resolve(backwards)
    np.testing.assert_array_equal(mask(FOUR, key=5, threads=2), FOUR[::-1])
    assert seen == [as_key(5)]
    assert mask.__doc__ == backwards.__doc__
    table = np.array(FOUR, order="F")
    assert mask(table, key=5, out=table) is table
    np.testing.assert_array_equal(table, FOUR[::-1])
    with pytest.raises(InputError, match=r"keep the shape of the scores, \(4, 2\): got \(3, 2\)"):
        resolve(lambda z, *, key: z[1:])(FOUR, key=5)


def test_the_public_names_are_sorted_and_there() -> None:
    assert masks.__all__ == sorted(masks.__all__)
    assert all(hasattr(masks, name) for name in masks.__all__)


# --- errors and secrets --------------------------------------------------------------------------


@every_mask
def test_bad_arguments_are_refused(name: str) -> None:
    mask = MASKS[name]
    for out in (np.empty((4, 3), order="F"), np.empty((4, 2)), np.empty((4, 2), int, order="F")):
        with pytest.raises(InputError, match=r"float64 array of shape \(4, 2\) in Fortran order"):
            mask(FOUR, key=1, out=out)
    with pytest.raises(InputError, match="threads must be 1 or more"):
        mask(FOUR, key=1, threads=0)
    with pytest.raises(InputError, match="rows and columns"):
        mask(FOUR[0], key=1)
    with pytest.raises(InputError, match="not numbers"):
        mask([["a", "b"]], key=1)  # type: ignore[arg-type]


@every_mask
def test_errors_and_logs_hold_no_key(name: str, caplog: pytest.LogCaptureFixture) -> None:
    forms = [SECRET.hex(), repr(SECRET)[2:-1], repr(list(SECRET))]
    with caplog.at_level(logging.DEBUG):
        with pytest.raises(ICSAError) as caught:
            MASKS[name](FOUR, key=SECRET, out=np.empty((1, 1)))
        with pytest.raises(ICSAError) as short:
            MASKS[name](FOUR, key=SECRET[:-1] + b"more")
        MASKS[name](FOUR, key=SECRET)
    for text in (str(caught.value), str(short.value), caplog.text):
        assert not any(re.search(re.escape(form), text) for form in forms)


# --- what the masks cost: Perkonoja and Virta 2024, arXiv 2405.20779 -----------------------------


def spectral_release(x: np.ndarray, name: str, key: Key, *, decorrelated: bool) -> np.ndarray:
    centre = x.mean(axis=0)
    axes = np.linalg.eigh(np.cov(x, rowvar=False))[1]
    z = (x - centre) @ axes
    masked = MASKS[name](z, key=key)
    return centre + (decorrelate(masked, z) if decorrelated else masked) @ axes.T


def errors_of(x: np.ndarray, scatter: np.ndarray) -> np.ndarray:
    """Squared errors of means, variances and covariances, in units of the true deviations."""
    scale = np.sqrt(np.diagonal(scatter))
    errors = (np.cov(x, rowvar=False) - scatter) / np.outer(scale, scale)
    upper = np.triu_indices(scale.size, 1)
    means = np.mean((x.mean(axis=0) / scale) ** 2)
    return np.array([means, np.mean(np.diagonal(errors) ** 2), np.mean(errors[upper] ** 2)])


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "mean_efficiency"), [("permute", 1.0), ("flip", 0.5), ("rotate", 0.5)]
)
def test_relative_efficiencies_on_normal_data(name: str, mean_efficiency: float) -> None:
    # In its own axes (the paper's covariance diag(9, 4, 1)): covariances lose half, and so do means
    # but for permute; variances, which every mask keeps up to the mean's shift, lose nothing.
    scatter = np.diag([9.0, 4.0, 1.0])
    n_rows, repetitions = 400, 2_000
    rng = np.random.default_rng(2405)
    total = np.zeros((3, 3))
    for repetition in range(repetitions):
        x = rng.normal(size=(n_rows, 3)) * np.sqrt(np.diagonal(scatter))
        key = as_key(repetition)
        plain = spectral_release(x, name, key, decorrelated=False)
        better = spectral_release(x, name, key, decorrelated=True)
        total += [errors_of(x, scatter), errors_of(plain, scatter), errors_of(better, scatter)]
    original, masked, decorrelated = total
    np.testing.assert_allclose(original / masked, [mean_efficiency, 1.0, 0.5], rtol=0.07)
    np.testing.assert_allclose(original / decorrelated, 1.0, rtol=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(MASKS))
def test_decorrelated_release_has_exactly_the_originals_least_squares(name: str) -> None:
    x = normal_scores(300, 4, 11)
    released = spectral_release(x, name, as_key(1), decorrelated=True)

    def coefficients(table: np.ndarray) -> np.ndarray:
        design = np.column_stack([np.ones(len(table)), table[:, 1:]])
        return np.linalg.lstsq(design, table[:, 0], rcond=None)[0]

    np.testing.assert_allclose(coefficients(released), coefficients(x), rtol=1e-9)
