"""MM against R, its defining equations and its laws."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icsa.errors import ConvergenceError, InputError, UnknownNameError
from icsa.linalg import affine_distance, log_determinant, squared_distances
from icsa.scatters.base import LocationScatter
from icsa.scatters.mm_estimate import mm
from icsa.scatters.s_estimate import s
from tests.conftest import load_reference

# The package exports the function under the name of its module.
module = importlib.import_module("icsa.scatters.mm_estimate")

SETS = (
    *("bushfire", "hbk", "iris", "laseri8", "stackloss", "starsCYG", "swiss"),
    *("synth_200x5", "synth_60x10", "wdbc30", "wdbc_mean10", "wood"),
)

# Lower triangles of rrcov 1.7-2 CovMMest(x, tolSolve = 1e-15, maxiter = 5000), set.seed(1). The
# reference files hold the default call, which stops up to 2e-3 away from this fixed point.
CONVERGED_R = {
    "wood": (
        *(0.008454206526, -0.0003767028938, 0.0005162936656, 0.003719585873, -0.0003990897374),
        *(0.004185746884, 0.002873452111, -0.0009332506813, 0.001719765997, 0.003992458212),
        *(-0.003065052759, 0.0006454060193, -0.001714218823, -0.001027693377, 0.002744010119),
    ),
    "stackloss": (
        *(63.79565456, 18.45126635, 8.286546121, 18.4624906, 5.734821093),
        *(23.79745503, 68.61359722, 22.1738213, 17.9102068, 80.57821013),
    ),
    "hbk": (1.801570609, 0.07386894552, 1.830116854, 0.1999516034, 0.2294996577, 1.710112398),
    "starsCYG": (0.01801284558, 0.05260607573, 0.3216906226),
    "bushfire": (
        *(707.4452948, 538.1131172, 497.2983237, -2704.067174, -1376.166557),
        *(20512.75178, -557.6281503, -247.9158207, 4830.852051, 1216.189225),
        *(-464.1937411, -215.5093422, 3912.6933, 968.7731304, 777.3152037),
    ),
    "swiss": (
        *(115.166896, 35.63914305, 466.3639298, -45.07132688, -92.10886161, 51.66438313),
        *(-29.85276768, -80.12434479, 28.80347275, 39.4403975, 271.3210592, 403.1106225),
        *(-201.964291, -63.36458713, 1981.368808, 13.07834334, -9.352198287),
        *(-0.9435809574, 0.07702864855, 20.10660566, 7.927493544),
    ),
}


def initial_of_r(values):
    """Return rrcov's fast S, from which its MM starts.

    On wood there is a better S-estimate, which `s` finds and from which another MM follows.
    """
    fast = values["rrcov_CovSest_sfast"]
    return LocationScatter(np.array(fast["center"]), np.array(fast["cov"]))


def assert_fixed_point(x, found, tolerance):
    squared = squared_distances(x, found.location, found.scatter)
    weights = np.maximum(1 - squared / found.cutoff**2, 0) ** 2
    mean = weights @ x / weights.sum()
    assert np.sqrt(squared_distances(mean[None], found.location, found.scatter))[0] < tolerance
    y = x - mean
    scatter = (y * weights[:, None]).T @ y
    scatter *= found.scale**2 / math.exp(log_determinant(scatter) / x.shape[1])
    assert affine_distance(found.scatter, scatter) < tolerance


@pytest.mark.parametrize("name", SETS)
def test_default_values_of_r(name):
    """rrcov stops when its objective changes by less than 1e-7, up to 2e-3 from its fixed point."""
    x, values = load_reference(name)
    expected = values["rrcov_CovMMest"]
    found = mm(x, initial=initial_of_r(values))
    assert affine_distance(np.array(expected["cov"]), found.scatter) < 2e-3
    gap = squared_distances(found.location[None], np.array(expected["center"]), found.scatter)
    assert math.sqrt(gap[0]) < 5e-4
    assert log_determinant(found.scatter) == pytest.approx(
        log_determinant(np.array(expected["cov"])), abs=1e-6
    )


@pytest.mark.parametrize("name", CONVERGED_R)
def test_converged_values_of_r(name):
    x, values = load_reference(name)
    p = x.shape[1]
    expected = np.zeros((p, p))
    expected[np.tril_indices(p)] = CONVERGED_R[name]
    expected += np.tril(expected, -1).T
    found = mm(x, initial=initial_of_r(values))
    assert affine_distance(expected, found.scatter) < 1e-6


@pytest.mark.parametrize("name", ["bushfire", "laseri8", "synth_60x10", "wood"])
def test_defining_equations(name):
    x = load_reference(name)[0]
    initial = s(x)
    found = mm(x)
    assert found.scale == pytest.approx(initial.scale, rel=1e-9)
    assert_fixed_point(x, found, 1e-8)


def test_reweighting_lowers_the_objective():
    x = load_reference("swiss")[0]
    initial, found = s(x), mm(x)

    def objective(estimate):
        share = squared_distances(x, estimate.location, estimate.scatter) / found.cutoff**2
        return np.mean(1 - (1 - np.minimum(share, 1)) ** 3)

    assert objective(found) < objective(initial)


def test_cutoffs():
    # 4.685 is the classical constant of a single column; 6.356216 rrcov's c1 for four columns.
    assert module._efficient_cutoff(1, 0.95) == pytest.approx(4.685065, abs=1e-6)
    assert mm(load_reference("stackloss")[0]).cutoff == pytest.approx(6.356216, abs=1e-6)
    x = load_reference("stackloss")[0]
    assert mm(x, of="location").cutoff == pytest.approx(5.810315587, abs=1e-8)


def test_efficiency_of_the_shape_by_its_own_formula():
    """Lopuhaä's variance of the shape, integrated; the code takes that of a location instead."""
    p, cutoff = 3, module._efficient_cutoff(5, 0.95)
    r = np.linspace(0, cutoff, 400_001)
    density = np.sqrt(2 / np.pi) * r**2 * np.exp(-(r**2) / 2)  # chi with 3 degrees of freedom
    u = (r / cutoff) ** 2
    psi, slope = r * (1 - u) ** 2, (1 - u) * (1 - 5 * u)
    top = p * (p + 2) * np.trapezoid(psi**2 * r**2 * density, r)
    bottom = np.trapezoid((slope * r**2 + (p + 1) * psi * r) * density, r)
    assert bottom**2 / top == pytest.approx(0.95, abs=1e-8)


def test_one_column_keeps_the_scale_and_moves_the_location():
    x = np.array([[-3.0], [-1.0], [0.0], [0.5], [1.0], [2.0], [90.0]])
    found, initial = mm(x), s(x)
    assert found.scatter[0, 0] == pytest.approx(initial.scatter[0, 0], rel=1e-9)
    assert found.cutoff == pytest.approx(4.685065, abs=1e-6)
    assert_fixed_point(x, found, 1e-8)


def test_efficiency_is_higher_than_that_of_s():
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(40):
        x = rng.normal(size=(40, 2))
        initial = s(x, n_starts=20)
        found = mm(x, initial=initial)
        errors.append([e.location @ e.location for e in (initial, found)])
    of_s, of_mm = np.mean(errors, axis=0)
    assert of_mm < 0.9 * of_s


def test_outliers_do_not_reach_it():
    x = np.random.default_rng(1).normal(size=(100, 4))
    x[:40] += 20.0
    found = mm(x)
    assert np.all(np.abs(found.location) < 1)
    assert np.linalg.eigvalsh(found.scatter)[-1] < 5


@given(st.integers(0, 2**32))
def test_affine_maps_and_row_order_go_through(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_t(5, size=(40, 3))
    a = (10.0 ** rng.uniform(-8, 8, 3))[:, None] * np.linalg.qr(rng.normal(size=(3, 3)))[0]
    start = LocationScatter(np.median(x, axis=0), np.cov(x.T))
    moved_start = LocationScatter(a @ start.location, a @ start.scatter @ a.T)
    plain = mm(x, initial=start)
    moved = mm(x[rng.permutation(40)] @ a.T, initial=moved_start)
    assert affine_distance(a @ plain.scatter @ a.T, moved.scatter) < 1e-7
    gap = moved.location - a @ plain.location
    assert np.sqrt(squared_distances(gap[None], np.zeros(3), moved.scatter))[0] < 1e-7


def test_random_state_reaches_the_initial_estimate(monkeypatch):
    seen = []

    def recorded(x, *, tolerance, random_state):
        seen.append(random_state)
        return s(x, n_starts=5)

    monkeypatch.setattr(module, "s", recorded)
    mm(load_reference("hbk")[0], random_state=17)
    assert seen == [17]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"efficiency": 0.3}, r"efficiency from 0\.5 to 0\.9999: got 0\.3"),
        ({"efficiency": 1.0}, r"efficiency from 0\.5 to 0\.9999: got 1\.0"),
        (
            {"initial": LocationScatter(np.zeros(2), np.eye(2))},
            "initial estimate of the same 4 columns: got one of 2",
        ),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        mm(load_reference("stackloss")[0], **options)


def test_unknown_efficiency():
    with pytest.raises(UnknownNameError, match=r"No efficiency 'shap'. Did you mean 'shape'"):
        mm(load_reference("stackloss")[0], of="shap")


def test_an_initial_estimate_far_from_all_rows():
    far = LocationScatter(np.full(4, 1e6), np.eye(4))
    with pytest.raises(ConvergenceError, match="mm: in step 1 the rows that have weight lie on"):
        mm(load_reference("stackloss")[0], initial=far)


def test_too_few_steps():
    with pytest.raises(ConvergenceError, match="mm: location and shape still change"):
        mm(load_reference("stackloss")[0], max_iterations=3)
