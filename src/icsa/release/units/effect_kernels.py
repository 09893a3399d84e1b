"""Kernels over people: effects drawn from their posterior, residuals whitened along time, times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from icsa.compilation import kernel
from icsa.matrices import Matrix, Vector

__all__ = ["colour_rows", "draw_effects", "set_times", "whiten_rows"]

_Places = npt.NDArray[np.int64]


@kernel
def draw_effects(
    residuals: Matrix,
    starts: _Places,
    times: Vector,
    sloped: _Places,
    prior: Matrix,
    between: Matrix,
    within: Matrix,
    normals: Matrix,
    out: Matrix,
) -> None:
    """Set each unit's levels and slopes to a draw from their law given the unit's rows.

    With Z = (1, z) the precision is P = `between` + Z'Z (x) `within` (both given as inverses of
    covariances; slopes of the scores `sloped` only), the mean P^-1 (`between` prior + Z' r within),
    and the draw the mean + L^-T `normals`, P = L L'.
    """
    q, m = residuals.shape[1], prior.shape[1]
    s = sloped.size
    precision, side = np.empty((m, m)), np.empty(m)
    total, weighted = np.empty(q), np.empty(q)
    for unit in range(starts.size - 1):
        total[:], weighted[:] = 0.0, 0.0
        n, sum_z, sum_zz = 0.0, 0.0, 0.0
        for row in range(starts[unit], starts[unit + 1]):
            z = times[row]
            n, sum_z, sum_zz = n + 1.0, sum_z + z, sum_zz + z * z
            for j in range(q):
                total[j] += residuals[row, j]
                weighted[j] += z * residuals[row, j]
        for j in range(m):
            value = 0.0
            for k in range(m):
                precision[j, k] = between[j, k]
                value += between[j, k] * prior[unit, k]
            side[j] = value
        for j in range(q):
            for k in range(q):
                precision[j, k] += n * within[j, k]
                side[j] += within[j, k] * total[k]
        for a in range(s):
            ja = sloped[a]
            for k in range(q):
                cross = sum_z * within[k, ja]
                precision[k, q + a] += cross
                precision[q + a, k] += cross
                side[q + a] += within[ja, k] * weighted[k]
            for b in range(s):
                precision[q + a, q + b] += sum_zz * within[ja, sloped[b]]
        factor = np.linalg.cholesky(precision)
        for j in range(m):  # L y = side
            value = side[j]
            for k in range(j):
                value -= factor[j, k] * side[k]
            side[j] = value / factor[j, j]
        for j in range(m):
            side[j] += normals[unit, j]
        for j in range(m - 1, -1, -1):  # L' b = y + normals
            value = side[j]
            for k in range(j + 1, m):
                value -= factor[k, j] * side[k]
            side[j] = value / factor[j, j]
            out[unit, j] = side[j]


@kernel
def whiten_rows(rows: Matrix, starts: _Places, lags: Vector, memory: Vector) -> None:
    """Leave what is new in each row: (e_j - rho e_{j-1}) / sqrt(1 - rho^2), rho = memory^lag.

    The first row of a unit is all new; `lags` are gaps in units of the usual one.
    """
    q = rows.shape[1]
    for unit in range(starts.size - 1):
        for row in range(starts[unit + 1] - 1, starts[unit], -1):  # needs the row before as it was
            for j in range(q):
                if memory[j] > 0.0:
                    rho = memory[j] ** lags[row]
                    new = rows[row, j] - rho * rows[row - 1, j]
                    rows[row, j] = new / np.sqrt(1.0 - rho * rho)


@kernel
def colour_rows(rows: Matrix, starts: _Places, lags: Vector, memory: Vector) -> None:
    """Undo `whiten_rows`, with other units and gaps."""
    q = rows.shape[1]
    for unit in range(starts.size - 1):
        for row in range(starts[unit] + 1, starts[unit + 1]):
            for j in range(q):
                if memory[j] > 0.0:
                    rho = memory[j] ** lags[row]
                    fresh = rows[row, j] * np.sqrt(1.0 - rho * rho)
                    rows[row, j] = fresh + rho * rows[row - 1, j]


@kernel
def set_times(
    gaps: Vector, starts: _Places, spans: Vector, ends: Vector, step: float, out: Vector
) -> None:
    """Set the times of each unit: gaps scaled to its span, on a lattice, growing, none beyond ends.

    Ends are at least as many steps as the unit has gaps.
    """
    for unit in range(starts.size - 1):
        first, last = starts[unit], starts[unit + 1] - 1
        total = 0.0
        for row in range(first + 1, last + 1):
            total += gaps[row]
        scale = spans[unit] / total if total > 0.0 else 0.0
        out[first], passed = 0.0, 0.0
        for row in range(first + 1, last + 1):
            passed += gaps[row] * scale
            out[row] = max(np.rint(passed / step), np.rint(out[row - 1] / step) + 1.0) * step
        most = np.floor(ends[unit] / step + 1e-9) * step
        for row in range(last, first, -1):
            out[row] = min(out[row], most)
            most = out[row] - step
