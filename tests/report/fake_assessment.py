"""Made-up assessments in the form that `Assessment.as_dict` gives, to be shown on a page."""

from __future__ import annotations

import math
import random
from typing import Any

NAMES = (
    "age", "income", "blood pressure", "Körpergröße", "体重", "ward", "smoker", "bmi", "stage",
    "days in hospital", "прописка", "<script>alert(1)</script>",
)  # fmt: skip
STATUSES = ("replicated", "near", "at risk", "repeated in part", "near twin", "nothing found")


def fake_assessment(
    edition: str = "internal",
    *,
    verdict: str = "look again",
    people: int = 12,
    columns: int = 12,
    making: bool = True,
    trusted: bool = True,
    redraws: bool = True,
    seed: int = 1,
) -> dict[str, Any]:
    rng = random.Random(seed)
    names = [NAMES[j] if j < len(NAMES) else f"laboratory value {j}" for j in range(columns)]
    internal = edition == "internal"
    persons = [_person(rng, row, names, redraws) for row in _rows(rng, people)]
    made: dict[str, Any] = {
        "schema_version": 1,
        "edition": edition,
        "verdict": verdict,
        "reasons": _reasons(verdict, persons, internal),
        "self_test": {
            "trusted": trusted,
            "why": "" if trusted else "an exact copy is not recognised: 7 of 12 have a double",
            "copy": {"verdict": "do not release" if trusted else "release"},
            "shuffled": {"verdict": "release"},
        },
        "tables": {
            "original": {"rows": 1000, "columns": columns + 1},
            "released": {"rows": 990, "columns": columns},
            "matched": names,
            "only_original": ["patient number"],
            "only_released": [],
            "notes": ["the release has 10 rows less; columns were reordered"],
        },
        "making": _making(names) if making else None,
        "privacy": _privacy(people),
        "people_summary": _summary(persons, internal),
        "redraws": _redraws() if redraws and people else None,
        "utility": _utility(rng, names, internal),
        "policy": [
            {
                "name": "person_chance",
                "value": 0.05,
                "reason": "P at or below it: nearer than chance explains",
                "source": "benchmarks/verdict.py",
                "owner": "the icsa developers",
            },
            {
                "name": "person_ratio",
                "value": 0.5,
                "reason": "rho at or below it besides",
                "source": "decision of the data-protection officer",
                "owner": "Zoë Müller & Søn",
            },
        ],
        "versions": {"icsa": "0.1.0", "python": "3.11.9", "numpy": "2.4.0"},
    }
    if internal:
        made["people"] = persons
    return made


def _rows(rng: random.Random, people: int) -> list[int]:
    return sorted(rng.sample(range(70_001, 99_999), people))


def _reasons(verdict: str, persons: list[dict[str, Any]], internal: bool) -> list[str]:
    if verdict == "release":
        return []
    found = [
        f"2 of {len(persons)} people who stand out: the release comes near, nearer than chance "
        "explains (smallest P 0.012, smallest rho 0.31)",
        "58% of the people who stand out are nearer to the release than to anyone else; fresh data "
        "would give 50% (p = 0.004), and their median rho is 0.62",
    ]
    if internal and persons:
        found[0] += f": row {persons[0]['row']}"
    return found


def _making(names: list[str]) -> dict[str, Any]:
    actions = ["masked"] * len(names)
    actions[1 % len(names)] = "kept"
    actions[-1] = "dropped"
    return {
        "method": "icsa",
        "scatters": ["mcd50", "mcd75"],
        "mask": "decorrelate",
        "recipe": "linear",
        "reproducible": True,
        "coordinates": len(names) - 1,
        "columns": [
            {
                "name": name,
                "kind": "number" if j % 3 else "category",
                "action": action,
                "how": {"kept": "as it is, because the schema says so"}.get(
                    action, f"{action} here"
                ),
                "type_before": "Float64",
                "type_after": "" if action == "dropped" else "Float64",
                "missing_before": j,
                "missing_after": 0 if action == "dropped" else j,
            }
            for j, (name, action) in enumerate(zip(names, actions, strict=True))
        ],
        "warnings": ["Column 'income' is kept: it is not protected."],
        "relations": ["total = systolic + diastolic"],
    }


def _measure(label: str, value: float | None, **rest: Any) -> dict[str, Any]:
    return {
        "label": label,
        "value": value,
        "low": rest.get("low"),
        "high": rest.get("high"),
        "n": rest.get("n", 12),
        "direction": rest.get("direction", "lower is safer"),
        "reason": rest.get("reason"),
        "definition": rest.get("definition", ""),
        "also": rest.get("also", []),
        "good": rest.get("good", ""),
        "ends": rest.get("ends", {"copy": None, "shuffled": None}),
    }


def _privacy(people: int) -> dict[str, Any]:
    nobody = "nobody stands out"
    up = "higher is safer"
    some = people > 0
    return {
        "ore": _measure(
            "outlier replication error, raw",
            0.1562 if some else None,
            low=0.0911 if some else None,
            high=0.2213 if some else None,
            n=people,
            direction=up,
            reason=None if some else nobody,
            definition="ore",
            ends={"copy": 0.0, "shuffled": 0.348},
        ),
        "ore_scaled": _measure(
            "outlier replication error, centred and robustly scaled",
            None,
            direction=up,
            reason="numeric cells are missing",
            definition="ore_scaled",
            ends={"copy": 0.0, "shuffled": 0.9},
        ),
        "verbatim_rows": _measure(
            "verbatim rows", 0.0, n=990, good="0", ends={"copy": 1000.0, "shuffled": 0.0}
        ),
        "verbatim_extremes": _measure(
            "verbatim extremes", 2.0, n=14, good="0", ends={"copy": 14.0, "shuffled": 14.0}
        ),
        "nearest_release_share": _measure(
            "nearest-release share",
            0.583,
            low=0.2767,
            high=0.8483,
            n=people,
            good="about one half",
            ends={"copy": 1.0, "shuffled": 0.41},
        ),
        "dcr_q05": _measure(
            "DCR, 5% quantile",
            0.00042,
            low=0.00031,
            high=0.00055,
            n=990,
            direction=up,
            also=["distance to closest record"],
            ends={"copy": 0.0, "shuffled": 0.0008},
        ),
        "nndr_median": _measure(
            "NNDR, median",
            0.912,
            low=0.884,
            high=0.934,
            direction=up,
            definition="nndr",
            ends={"copy": 0.0, "shuffled": 0.88},
        ),
        "identical_match_share": _measure(
            "identical match share",
            0.0,
            low=0.0,
            high=0.0037,
            n=990,
            also=["IMS"],
            good="0",
            ends={"copy": 1.0, "shuffled": 0.0},
        ),
        "attack": _measure(
            "all-but-one attack",
            0.104,
            low=0.05,
            high=0.16,
            n=people,
            ends={"copy": 1.0, "shuffled": 0.02},
        ),
        "smallest_chance": _measure(
            "smallest P", 0.0000123, direction=up, ends={"copy": 0.0, "shuffled": 0.4}
        ),
        "expected_replicas": _measure(
            "Lambda, largest", 0.31, low=0.2, high=0.41, ends={"copy": None, "shuffled": None}
        ),
        "brand_new": _measure("a measure <nobody> knows", 12_345.678, also=["nothing & nobody"]),
    }


def _person(rng: random.Random, row: int, names: list[str], redraws: bool) -> dict[str, Any]:
    status = rng.choices(STATUSES, weights=(1, 2, 1, 1, 1, 12))[0]
    alone = math.exp(rng.gauss(1.5, 0.7))
    rho = rng.uniform(0.0, 0.4) if status == "replicated" else math.exp(rng.gauss(0.1, 0.3))
    weights = sorted((rng.random() ** 3 for _ in names), reverse=True)
    shares = [
        {"column": name, "share": weight / sum(weights)}
        for name, weight in zip(names, weights, strict=True)
    ]
    return {
        "row": row,
        "why": rng.choice(["distance", "isolation", "distance and isolation"]),
        "robust_distance": 4 + 3 * rng.random(),
        "d_org": alone,
        "d_rel": alone * rho,
        "rho": rho,
        "worst_lens": rng.choice("EMA"),
        "p": min(1.0, rng.random() ** (12 if status == "replicated" else 0.5)),
        "attack": {"success": rng.random() * 0.4, "control": rng.random() * 0.2},
        "h": rng.randrange(4),
        "h_control": rng.randrange(3),
        "expected_replicas": None if rng.random() < 0.2 else {"value": 0.02, "high": 0.0345678},
        "stands_out_by": shares[:6],
        "match_by": shares[3:5] if rng.random() < 0.8 else [],
        "near_twin": rng.random() < 0.1,
        "status": status,
        "redraws": {"rho_low": 0.4, "rho_median": 1.02, "rho_high": 1.91} if redraws else None,
        "before": {name: f"{rng.gauss(50, 10):.1f}" for name in names},
        "after": {name: f"{rng.gauss(50, 10):.1f}" for name in names},
    }


def _summary(persons: list[dict[str, Any]], internal: bool) -> dict[str, Any]:
    counted = {status: sum(p["status"] == status for p in persons) for status in STATUSES}
    picture: list[dict[str, Any]] = []
    for person in persons:
        point = {"alone": person["d_org"], "near": person["d_rel"], "status": person["status"]}
        if internal:
            point["row"] = person["row"]
        else:
            point |= {key: float(f"{point[key]:.2g}") for key in ("alone", "near")}
        picture.append(point)
    return {
        "count": len(persons),
        "beyond": len(persons) * 2 // 3,
        "left_out": 3 if len(persons) == 1000 else 0,
        "status": {status: n for status, n in counted.items() if n},
        "picture": picture,
    }


def _redraws() -> dict[str, Any]:
    worst = _measure(
        "smallest rho over the redraws", 0.21, low=0.1, high=0.3, n=100, direction="higher is safer"
    )
    return {"n": 100, "words": "this key was typical", "worst": worst}


def _utility(rng: random.Random, names: list[str], internal: bool) -> dict[str, Any]:
    n = len(names)
    difference: list[list[float | None]] = [[None] * n for _ in names]
    for i in range(n):
        for j in range(i):
            difference[i][j] = difference[j][i] = rng.gauss(0, 0.08)
    cloud = [[[rng.gauss(0, 1), rng.gauss(0, 1)] for _ in range(600)] for _ in range(2)]
    return {
        "columns": [_column(rng, j, name) for j, name in enumerate(names)],
        "pairs": {
            "names": names,
            "difference": difference,
            "chance": 0.062,
            "worst": [
                {
                    "first": names[0],
                    "second": names[-1],
                    "measure": "pearson",
                    "original": 0.4123,
                    "released": 0.1789,
                    "difference": -0.2334,
                    "chance": 0.0623,
                }
            ],
        },
        "whole": {
            "pmse": _measure("pMSE", 0.00123, n=1990, direction="lower is better"),
            "s_pmse": _measure("S_pMSE", 1.31, n=1990, direction="lower is better", good="about 1"),
        },
        "picture": {"original": cloud[0], "released": cloud[1], "explained": [0.41, 0.22]}
        if internal
        else None,
        "models": _models(),
        "tasks": _tasks(names),
        "efficiency": _efficiency(names),
    }


def _tasks(names: list[str]) -> dict[str, Any]:
    accuracy = _measure("accuracy", 0.812, low=0.78, high=0.84, n=250)
    area = _measure("area under the curve", 0.871, n=250)
    learnt = [
        {"name": name, "original": of, "released": of, "loss": 0.0123, "chance": 0.0456}
        for name, of in (("accuracy", accuracy), ("auc", area))
    ]
    found = {"target": names[0], "model": "forest", "n_test": 250, "guessing": 0.523}
    values = {
        "recall": _measure("recall", 0.667, definition="recall") | {"chance": 0.712},
        "fpr": _measure("false positive rate", None, reason="the reference selects every variable")
        | {"chance": None},
    }
    return {
        "classification": [
            {**found, "rows": learnt, "reason": None},
            {**found, "rows": [], "target": names[-1], "reason": "it was not released"},
        ],
        "clustering": {
            "clusters": 3,
            "agreement": _measure("adjusted Rand index", None, reason="one cluster only"),
            "of_a_sample": _measure("adjusted Rand index", 0.912, low=0.861, high=0.973, n=10),
        },
        "selection": [
            {
                "response": names[0],
                "n": [900, 890],
                "n_incomplete": [100, 100],
                "left_out": names[-1:],
                "variables": [
                    {"name": name, "original": j % 2 == 0, "released": j % 3 == 0}
                    for j, name in enumerate(names)
                ],
                "measures": values,
                "reason": None,
            },
            {
                "response": names[-1],
                "n": [0, 0],
                "n_incomplete": [0, 0],
                "left_out": [],
                "variables": [],
                "measures": {},
                "reason": "the response does not vary",
            },
        ],
    }


def _efficiency(names: list[str]) -> dict[str, Any]:
    ratio = _measure("efficiency ratio", 1.234, n=2, definition="efficiency")
    none = _measure("efficiency ratio", None, reason="the release loses nothing")
    return {
        "other": {"verdict": "look again", "rows": 980, "notes": [f"Only here: {names[0]}."]},
        "ore": {"is": "ore_scaled", "released": ratio, "other": ratio},
        "lines": [
            {"loss": "mean distance", "released": 0.021, "other": 0.034}
            | dict.fromkeys(("defined", "printed"), ratio),
            {"loss": f"1 − recall, {names[-1]}", "released": 0, "other": None}
            | dict.fromkeys(("defined", "printed"), none),
        ],
        "no_interval": "there is one release of each",
    }


def _column(rng: random.Random, j: int, name: str) -> dict[str, Any]:
    number = j % 3 > 0
    centre, spread = 10.0 ** (j % 5), 3.0 * 10.0 ** (j % 4)
    sides = [
        {
            "mean": centre + rng.gauss(0, spread / 9) if number else None,
            "sd": spread * rng.uniform(0.9, 1.1) if number else None,
            "quantiles": sorted(rng.gauss(centre, spread) for _ in range(5)) if number else None,
        }
        for _ in range(2)
    ]
    value = rng.uniform(0.01, 0.08)
    return {
        "name": name,
        "kind": "number" if number else "category",
        "original": sides[0],
        "released": sides[1],
        "missing": [0.05, 0.051] if j == 1 else [0, 0],
        "distance": {
            "name": "KS" if number else "TV",
            "value": value,
            "chance": 0.031,
            "chance_high": 0.061,
        },
        "levels": None,
    }


def _models() -> list[dict[str, Any]]:
    def side(estimate: float, half: float) -> dict[str, float]:
        return {"estimate": estimate, "low": estimate - half, "high": estimate + half}

    rows = [
        ("Intercept", side(81.234, 4.1), side(79.9, 4.4), 0.86, 0.6, False, False),
        ("age", side(0.412, 0.09), side(0.351, 0.1), 0.67, 1.3, False, False),
        ("smoker[yes]", side(2.1, 1.9), side(-0.4, 2.0), 0.31, 2.6, True, True),
    ]
    keys = ("term", "original", "released", "overlap", "error_in_se", "sign_flip")
    fitted = [dict(zip((*keys, "significance_flip"), row, strict=True)) for row in rows]
    return [
        {
            "formula": "bp ~ age + smoker",
            "family": "least squares",
            "n": [1000, 990],
            "rows": fitted,
            "reason": None,
        },
        {
            "formula": "surv(time, status) ~ age",
            "family": "Cox",
            "n": [1000, 990],
            "rows": [],
            "reason": "the release has no events",
        },
    ]
