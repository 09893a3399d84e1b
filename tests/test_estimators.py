"""The scikit-learn classes: scikit-learn's own checks, frames, secrecy, equalities."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from icsa import ICS, ICSAnonymizer, SpectralAnonymizer, anonymize
from icsa.errors import InputError, UnmatchedRowsWarning, VerbatimColumnWarning
from icsa.randomness import as_key

ANONYMIZERS = [ICSAnonymizer(), SpectralAnonymizer()]

# A released row is made of many rows, so what comes out depends on which rows stand beside it, and
# in which order.
_MASKING = {
    "check_methods_subset_invariance": "a released row depends on the other rows",
    "check_methods_sample_order_invariance": "masks go by row number",
}


def expected_failed_checks(estimator: object) -> dict[str, str]:
    return {} if isinstance(estimator, ICS) else _MASKING


@pytest.mark.filterwarnings("ignore::icsa.errors.VerbatimColumnWarning")
@pytest.mark.filterwarnings("ignore::icsa.errors.UnmatchedRowsWarning")
@parametrize_with_checks(
    [
        ICS(scatters=("cov", "cov4")),
        ICS(),
        ICSAnonymizer(),
        ICSAnonymizer(scatters=("hr", "tyler"), mask="rotate", decorrelate=True),
        SpectralAnonymizer(),
        SpectralAnonymizer(standardize=True, mask="flip"),
    ],
    expected_failed_checks=expected_failed_checks,
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


@pytest.fixture
def table() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(60, 3)) @ np.array(
        [[2, 1, 0], [0, 1, 1], [0, 0, 3]]
    )


@pytest.mark.filterwarnings("ignore:mask=.flip")
@pytest.mark.parametrize("mask", ["permute", "flip", "rotate"])
@pytest.mark.parametrize("decorrelate", [False, True])
def test_spectral_is_ics_with_identity_and_covariance_to_the_last_bit(
    table: np.ndarray, mask: str, decorrelate: bool
) -> None:
    options = {"mask": mask, "decorrelate": decorrelate, "random_state": 5}
    spectral = SpectralAnonymizer(**options).fit_transform(table)
    general = ICSAnonymizer(scatters=("identity", "cov"), **options).fit_transform(table)
    np.testing.assert_array_equal(spectral, general)


def test_standardizing_makes_units_irrelevant(table: np.ndarray) -> None:
    units = np.array([1e-3, 1.0, 1e4])
    plain = SpectralAnonymizer(standardize=True, random_state=1).fit_transform(table)
    scaled = SpectralAnonymizer(standardize=True, random_state=1).fit_transform(table * units)
    np.testing.assert_allclose(scaled / units, plain, rtol=1e-10)
    raw = SpectralAnonymizer(random_state=1).fit_transform(table * units)
    assert not np.allclose(raw / units, plain, rtol=0.01)


@pytest.mark.parametrize("anonymizer", ANONYMIZERS)
def test_without_a_seed_every_release_has_a_key_of_its_own(anonymizer, table: np.ndarray) -> None:
    fitted = clone(anonymizer).fit(table)
    assert not np.array_equal(fitted.transform(table), fitted.transform(table))


@pytest.mark.parametrize("estimator", [*ANONYMIZERS, ICS()])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_kind_and_names(estimator, frame, table: np.ndarray) -> None:
    given = frame(dict(zip("abc", table.T, strict=True)))
    out = clone(estimator).fit_transform(given)
    assert type(out) is type(given)
    wanted = ["ics0", "ics1", "ics2"] if isinstance(estimator, ICS) else ["a", "b", "c"]
    assert list(out.columns) == wanted
    assert out.shape == given.shape


@pytest.mark.parametrize("anonymizer", ANONYMIZERS)
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_released_frame_has_a_new_index_in_every_way_to_ask(
    anonymizer, kind: str, table: np.ndarray
) -> None:
    given = pd.DataFrame(table, columns=list("abc"), index=[f"patient {i}" for i in range(60)])
    if kind == "polars":
        given = pl.from_pandas(given)
    fixed = clone(anonymizer).set_params(random_state=0)
    releases = [clone(fixed).set_output(transform="pandas").fit_transform(given)]
    releases += [clone(fixed).set_output(transform="pandas").fit(given).transform(given)]
    releases += [clone(clone(fixed).set_output(transform="pandas")).fit_transform(given)]
    with config_context(transform_output="pandas"):
        releases += [clone(fixed).fit_transform(given)]
        releases += [make_pipeline(StandardScaler(), clone(fixed)).fit_transform(given)]
    if kind == "pandas":
        releases += [clone(fixed).fit_transform(given)]
    for release in releases:
        assert isinstance(release, pd.DataFrame)
        assert isinstance(release.index, pd.RangeIndex)
        assert list(release.index) == list(range(60))
        assert list(release.columns) == ["a", "b", "c"]
        assert "patient" not in repr(release)
    np.testing.assert_array_equal(releases[0], clone(fixed).fit_transform(given))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_pyarrow_tables(kind: str, table: np.ndarray) -> None:
    given = pa.table(dict(zip("abc", table.T, strict=True)))
    out = ICSAnonymizer(random_state=0).fit_transform(given)
    assert isinstance(out, pa.Table)
    assert out.column_names == ["a", "b", "c"]
    asked = ICSAnonymizer(random_state=0).set_output(transform=kind).fit_transform(given)
    assert list(asked.columns)[:1] in (["a"], ["x0"])
    np.testing.assert_array_equal(np.asarray(asked), np.asarray(out))


def test_repeated_column_names_are_refused(table: np.ndarray) -> None:
    for given in (
        pd.DataFrame(table, columns=list("aba")),
        pa.table([*table.T], names=list("aba")),
    ):
        with pytest.raises(InputError, match="More than one column is called 'a'"):
            ICSAnonymizer().fit(given)


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(kind: str, frame: type, table: np.ndarray) -> None:
    out = ICSAnonymizer(random_state=0).set_output(transform=kind).fit_transform(table)
    assert isinstance(out, frame)
    assert list(out.columns) == ["x0", "x1", "x2"]
    given = pd.DataFrame(table, columns=list("abc"))
    out = ICSAnonymizer(random_state=0).set_output(transform=kind).fit_transform(given)
    assert isinstance(out, frame)
    assert list(out.columns) == ["a", "b", "c"]


def test_pipelines_clones_and_pickles(table: np.ndarray) -> None:
    pipeline = make_pipeline(StandardScaler(), ICSAnonymizer(random_state=3))
    out = pipeline.fit_transform(table)
    np.testing.assert_array_equal(clone(pipeline).fit_transform(table), out)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pipeline)).transform(table), out)
    assert list(pipeline.get_feature_names_out()) == ["x0", "x1", "x2"]


def test_inverse_transform_is_the_inverse(table: np.ndarray) -> None:
    ics = ICS().fit(table)
    np.testing.assert_allclose(ics.inverse_transform(ics.transform(table)), table, atol=1e-12)
    np.testing.assert_allclose(
        (table - ics.location_) @ ics.components_.T, ics.transform(table), atol=1e-12
    )
    assert np.all(np.diff(ics.eigenvalues_) <= 0)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_inverse_transform_of_a_frame_has_the_names_seen_in_fit(frame, table: np.ndarray) -> None:
    given = frame(dict(zip("abc", table.T, strict=True)))
    ics = ICS().fit(given)
    back = ics.inverse_transform(ics.transform(given))
    assert type(back) is type(given)
    assert list(getattr(back, "column_names", back.columns)) == ["a", "b", "c"]
    np.testing.assert_allclose(np.asarray(back), table, atol=1e-12)


@pytest.mark.parametrize("anonymizer", ANONYMIZERS)
@pytest.mark.parametrize("as_given", [bytes, bytearray, as_key])
def test_a_key_is_neither_shown_nor_pickled(anonymizer, as_given, table: np.ndarray) -> None:
    secret = bytes(range(65, 97))
    fitted = clone(anonymizer).set_params(random_state=as_given(secret)).fit(table)
    for shown in (repr(fitted), str(fitted), fitted._repr_html_(), repr(make_pipeline(fitted))):
        assert "ABCDEFG" not in shown
        assert secret.hex() not in shown
    with pytest.raises(InputError, match="secret"):
        pickle.dumps(fitted)
    np.testing.assert_array_equal(fitted.transform(table), clone(fitted).fit_transform(table))


@pytest.mark.parametrize("anonymizer", ANONYMIZERS)
@pytest.mark.parametrize(
    "secret", [b"password", bytearray(b"password"), b"password" * 5, memoryview(b"password" * 4)]
)
def test_bytes_that_are_no_key_are_refused_at_once(anonymizer, secret) -> None:
    with pytest.raises(InputError) as caught:
        type(anonymizer)(random_state=secret)
    assert "password" not in str(caught.value)
    with pytest.raises(InputError):
        clone(anonymizer).set_params(random_state=secret)


BAD_INPUT = {
    "missing": (
        np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]]),
        "Column '0': 1 of 3 values are missing",
    ),
    "infinite": (np.array([[1.0, np.inf], [2.0, 3.0]]), "Column '1': 1 of 2 values are not finite"),
    "text": (
        pd.DataFrame({"age": [1.0, 2.0], "name": ["1", "Ann, HIV+"]}),
        "Column 'name': 1 of 2 values are not numbers",
    ),
    "one row": (np.ones((1, 3)), "1 row"),
    "nothing varies": (np.ones((9, 3)), "No column varies"),
    "complex": (np.ones((5, 2)) * 1j, "Complex data not supported"),
    "empty": (np.empty((0, 3)), "0 row"),
    "no columns": (np.empty((3, 0)), "no columns"),
    "one dimension": (np.arange(5.0), "1 dimension"),
}


@pytest.mark.parametrize("anonymizer", ANONYMIZERS)
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_gets_one_clear_error_without_cells(anonymizer, case: str) -> None:
    x, message = BAD_INPUT[case]
    with pytest.raises(InputError, match=message) as caught:
        clone(anonymizer).fit(x)
    assert isinstance(caught.value, ValueError)
    assert "HIV" not in str(caught.value)


def test_sparse_input_is_refused() -> None:
    from scipy.sparse import csr_array

    with pytest.raises(InputError, match="sparse"):
        ICSAnonymizer().fit(csr_array(np.eye(4)))


def test_too_few_rows_for_the_mcd_names_limit_and_remedy() -> None:
    with pytest.raises(InputError, match="more rows than columns \\+ 1: got 20 rows, 32 columns"):
        ICSAnonymizer().fit(np.random.default_rng(0).normal(size=(20, 32)))


def test_one_row_alone_is_refused(table: np.ndarray) -> None:
    with pytest.raises(InputError, match="One row alone"):
        ICSAnonymizer().fit(table).transform(table[:1])


def test_the_warning_of_a_verbatim_column_names_it(table: np.ndarray) -> None:
    given = pd.DataFrame({"age": table[:, 0]})
    with pytest.warns(VerbatimColumnWarning, match=r"Column\(s\) age: each is one component"):
        ICSAnonymizer(mask="permute").fit_transform(given)


def ill(seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return measurements and who is ill, which follows from them but for some noise."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(400, 4))
    return pd.DataFrame(x, columns=list("abcd")), pd.Series(
        x.sum(axis=1) + generator.normal(size=400) > 0, name="ill"
    )


@pytest.mark.parametrize("anonymizer", ANONYMIZERS, ids=["icsa", "sa"])
def test_a_target_outside_the_table_is_warned_of(anonymizer):
    x, y = ill(0)
    pipeline = make_pipeline(StandardScaler(), clone(anonymizer), LogisticRegression())
    with pytest.warns(UnmatchedRowsWarning, match="Release X and y together"):
        pipeline.fit(x, y)
    with pytest.warns(UnmatchedRowsWarning):
        clone(anonymizer).fit_transform(x, y)
    clone(anonymizer).fit_transform(x)  # warnings are errors: none without a target


@pytest.mark.filterwarnings("ignore::icsa.errors.UnmatchedRowsWarning")
def test_a_model_learns_from_x_and_y_released_together_and_not_from_x_alone():
    apart, together = [], []
    for seed in range(6):
        (x, y), (new_x, new_y) = ill(seed), ill(100 + seed)
        pipeline = make_pipeline(ICSAnonymizer(random_state=seed), LogisticRegression())
        model = pipeline.fit(x, y)[-1]
        apart.append(model.score(new_x, new_y))
        table = anonymize(x.assign(ill=y), random_state=seed).table
        model = LogisticRegression().fit(table[list("abcd")], table["ill"])
        together.append(model.score(new_x, new_y))
    assert np.mean(together) > 0.8
    assert np.mean(apart) < np.mean(together) - 0.15
