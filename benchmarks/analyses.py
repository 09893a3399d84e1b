"""Regressions that are run on a table and on its releases: what the table was collected for."""

from __future__ import annotations

import numpy as np

from icsa.schema import Schema
from icsa.tables import Table

_BREAST_CANCER = "hormone + age + menopause + size + grade + nodes + prog_recp + estrg_recp"
_BREAST_CANCER_2 = "horTh + age + menostat + tsize + tgrade + pnodes + progrec + estrec"
_COLON = "rx + sex + age + obstruct + perfor + adhere + nodes + differ + extent + surg"
_BIRTHS = "age + lwt + C(race) + smoke + ptl + ht + ui + ftv"

_OF_TABLES = {
    "birthwt": (f"low ~ {_BIRTHS}", f"bwt ~ {_BIRTHS}"),
    "colon": (f"status ~ {_COLON}", f"surv(time, status) ~ {_COLON}"),
    "flchain": ("surv(futime, death) ~ age + sex + log(kappa) + log(lambda)",),
    "gbsg2": (f"cens ~ {_BREAST_CANCER_2}", f"surv(time, cens) ~ {_BREAST_CANCER_2}"),
    "lymph_node": (
        f"censrec ~ {_BREAST_CANCER}",
        f"surv(rectime, censrec) ~ {_BREAST_CANCER}",
    ),
    "pbc": (
        "np.log(bili) ~ age + sex + albumin + edema + platelet + protime + stage",
        "time ~ age + sex + bili + albumin + edema + protime + stage",
    ),
    "pima": ("diabetes ~ pregnant + glucose + pressure + mass + pedigree + age",),
}


def analyses_of(name: str, table: Table, schema: Schema) -> tuple[str, ...]:
    """Return the formulas for a table; for one that is not known, its last column on all others."""
    if name in _OF_TABLES:
        return _OF_TABLES[name]
    frame = table.frame
    complete = [
        spec.name
        for spec in schema.columns.values()
        if spec.action == "mask"
        and spec.kind != "constant"
        and frame[spec.name].null_count() < 0.1 * frame.height
    ]
    *others, response = _independent(complete, table)
    if schema.columns[response].kind == "category":
        others, response = others[:-1], others[-1]
    return (f"`{response}` ~ " + " + ".join(f"`{other}`" for other in others),)


def _independent(names: list[str], table: Table) -> list[str]:
    """Return the names without numbers that follow from others."""
    kept: list[str] = []
    numbers: list[np.ndarray] = []
    for name in names:
        if table.frame[name].dtype.is_numeric():
            cells = table.frame[name].to_physical().cast(float).to_numpy()
            x = np.column_stack([*numbers, cells])
            x = x[~np.isnan(x).any(axis=1)]
            x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0.0, x.std(axis=0), 1.0)
            if np.linalg.svd(x, compute_uv=False)[-1] < 0.02 * np.sqrt(x.shape[0]):
                continue
            numbers.append(cells)
        kept.append(name)
    return kept
