"""Make examples/clinic.csv: 400 invented patients with every kind of column.

Nobody in the table exists. Five of them stand out, see `STAND_OUT`. The rules that the table keeps:

- ``admitted <= operated <= discharged``; not everyone is operated, and some are still in the house;
- ``stay_days`` is ``discharged - admitted``, missing where nobody was discharged yet;
- ``total_score`` is ``mobility_score + self_care_score + mood_score``;
- ``bmi`` is ``weight_kg / (height_cm / 100)**2``, rounded to one decimal;
- ``cigarettes_per_day`` is 0 for those who do not smoke;
- ``crp``, ``creatinine`` and ``haemoglobin`` are missing together.

Hidden states (frailty, inflammation) make columns depend on each other: blood pressure rises with
age, BMI and smoking; stay, pain, CRP and cost with the stage; readmission with age and stage.

Run ``python examples/make_clinic.py`` to write the same file again.
"""

from __future__ import annotations

import csv
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Person: TypeAlias = dict[str, Any]

FILE = Path(__file__).with_name("clinic.csv")
SEED = 20240
N_PATIENTS = 400
FIRST_DAY = date(2024, 1, 2)
LAST_DAY = date(2024, 12, 30)

CLINICS = {"North": 0.40, "Harbour": 0.28, "Hill": 0.22, "Airport": 0.10}
BLOOD_GROUPS = {
    "O+": 0.36,
    "A+": 0.34,
    "B+": 0.09,
    "O-": 0.07,
    "A-": 0.07,
    "AB+": 0.04,
    "B-": 0.02,
    "AB-": 0.005,
}
# Of each diagnosis: share, usual days in the house, share of those operated, CRP in mg/l.
DIAGNOSES = {
    "heart": (0.24, 5.0, 0.25, 8.0),
    "lung": (0.18, 5.5, 0.15, 30.0),
    "bowel": (0.17, 6.0, 0.60, 25.0),
    "bone": (0.19, 4.0, 0.85, 12.0),
    "kidney": (0.12, 5.0, 0.35, 15.0),
    "other": (0.10, 3.0, 0.20, 6.0),
}
STAGES = ("I", "II", "III", "IV")

WHO = ("Patient", "Daughter", "Son", "Partner", "Neighbour", "Ward nurse", "Family doctor")
ASKS = (
    "asks for a call before discharge",
    "brings medicines from home",
    "reports poor sleep",
    "wants a letter for work",
    "mentions a fall at home",
    "asks about walking aids",
    "is worried about the operation",
)
MORE = ("", "", ", allergic to penicillin", ", prefers a quiet room", ", lactose-free diet")
WHEN = ("", " (told at triage)", " (told at 38 °C)", " (told on the first visit)", " – to check")

# Row (counted from 0) and what makes this person stand out; what follows from it is worked out.
STAND_OUT: dict[int, Person] = {
    37: {"days": 41, "crp": 412.6, "stage": "IV", "cost": 48250.0, "discharged": True, "lab": True},
    118: {"sex": "male", "age": 39, "height_cm": 211, "weight_kg": 190.0},
    203: {"age": 103, "systolic": 236, "haemoglobin": 7.1, "days": 9, "lab": True},
    266: {"creatinine": 11.84, "haemoglobin": 5.2, "stage": "IV", "lab": True},
    351: {
        "sex": "female",
        "age": 34,
        "height_cm": 168,
        "weight_kg": 39.5,
        "smoker": "yes",
        "cigarettes_per_day": 80,
        "pain": 10,
    },
}


def pick(rng: np.random.Generator, shares: dict[str, float]) -> str:
    """Return one of the names, drawn by its share."""
    weights = np.array(list(shares.values()))
    return str(rng.choice(list(shares), p=weights / weights.sum()))


def person(rng: np.random.Generator) -> Person:
    """Return who somebody is: sex, age, body, habits."""
    sex = "female" if rng.random() < 0.52 else "male"
    height = round(rng.normal(178 if sex == "male" else 165, 6.8))
    bmi = 26 + 4.2 * rng.standard_normal() + 1.2 * rng.exponential()
    smoker = "yes" if rng.random() < 0.26 else "no"
    return {
        "sex": sex,
        "age": int(np.clip(round(rng.normal(62, 16)), 18, 96)),
        "height_cm": height,
        "weight_kg": round(2 * max(bmi, 17.5) * (height / 100) ** 2) / 2,
        "smoker": smoker,
        "cigarettes_per_day": 1 + int(rng.gamma(2.2, 5.5)) if smoker == "yes" else 0,
        "clinic": pick(rng, CLINICS),
        "blood_group": pick(rng, BLOOD_GROUPS),
        "diagnosis": pick(rng, {name: shares[0] for name, shares in DIAGNOSES.items()}),
    }


def illness(rng: np.random.Generator, who: Person) -> Person:
    """Return how ill somebody is: stage, pain, laboratory values, days in the house, cost."""
    age, male = who["age"], who["sex"] == "male"
    bmi = who["weight_kg"] / (who["height_cm"] / 100) ** 2
    smokes = who["smoker"] == "yes"
    _, days, operated, crp = DIAGNOSES[who["diagnosis"]]
    frailty = 0.5 * (age - 62) / 16 + 0.85 * rng.standard_normal()
    stage = int(np.searchsorted([-0.7, 0.35, 1.2], frailty + 0.25 * smokes))
    inflamed = 0.5 * frailty + rng.standard_normal()
    kidney = 1.3 if who["diagnosis"] == "kidney" else 1.0
    stay = int(np.clip(rng.gamma(3.0, days / 3.0) * (1 + 0.25 * stage), 0, 28))
    covered = rng.random() < 0.45
    return {
        "systolic": round(
            92 + 0.45 * age + 0.75 * (bmi - 26) + 5 * smokes + 4 * male + 12 * rng.standard_normal()
        ),
        "stage": STAGES[stage],
        "pain": int(np.clip(round(2.2 + 1.3 * stage + 1.8 * rng.standard_normal()), 0, 10)),
        "crp": round(crp * float(np.exp(0.7 * inflamed + 0.15 * stage - 0.3)) + 0.3, 1),
        "creatinine": round(
            kidney
            * (0.72 + 0.17 * male + 0.004 * (age - 60))
            * float(np.exp(0.2 * rng.standard_normal() + 0.07 * max(frailty, 0))),
            2,
        ),
        "haemoglobin": round(
            13.4 + 1.3 * male - 0.5 * stage - 0.3 * inflamed + 0.9 * rng.standard_normal(), 1
        ),
        "days": stay,
        "operated": rng.random() < operated,
        "cost": 0.0 if covered else round(float(rng.lognormal(5.2 + 0.1 * stay, 0.7)), 2),
        "readmitted": "yes" if rng.random() < 1 / (1 + np.exp(2.1 - 0.9 * frailty)) else "no",
        "frailty": frailty,
        "lab": rng.random() < 0.89,
        "discharged": rng.random() < 0.95,
    }


def scores(rng: np.random.Generator, frailty: float) -> Person:
    """Return three parts of a questionnaire (0 is best, 20 worst) and their sum."""
    parts = [
        int(np.clip(round(level + 2.4 * frailty + 2.5 * rng.standard_normal()), 0, 20))
        for level in (8.0, 6.5, 7.5)
    ]
    names = ("mobility_score", "self_care_score", "mood_score")
    return {**dict(zip(names, parts, strict=True)), "total_score": sum(parts)}


def visit(rng: np.random.Generator, admitted: date, state: Person) -> Person:
    """Return dates and times of the stay, in their order."""
    days = state["days"]
    theatre = admitted + timedelta(days=int(rng.integers(0, min(days, 4) + 1)))
    closed = datetime.combine(date(2025, 2, 3), time()) + timedelta(
        days=int(rng.integers(0, 12)), minutes=int(rng.integers(7 * 60, 18 * 60))
    )
    minutes = int(rng.normal(13.0 * 60, 4.0 * 60)) % (24 * 60)
    return {
        "admitted": admitted.isoformat(),
        "triage_time": f"{minutes // 60:02d}:{minutes % 60:02d}",
        "operated": theatre.isoformat() if state["operated"] else "",
        "discharged": (admitted + timedelta(days=days)).isoformat() if state["discharged"] else "",
        "stay_days": days if state["discharged"] else "",
        "record_closed": closed.isoformat(sep=" ", timespec="seconds"),
    }


def remark(rng: np.random.Generator) -> str:
    """Return what a nurse might have typed; nothing for one in five."""
    if rng.random() < 0.2:
        return ""
    return "".join(
        [
            str(rng.choice(WHO)),
            " ",
            str(rng.choice(ASKS)),
            str(rng.choice(MORE)),
            str(rng.choice(WHEN)),
        ]
    )


def patient(rng: np.random.Generator, number: int, admitted: date, special: Person) -> Person:
    """Return one line of the table; `special` takes the place of what was drawn."""
    who = {**person(rng), **{key: special[key] for key in special if key in PERSONAL}}
    state = {**illness(rng, who), **special}
    height, weight = who["height_cm"], who["weight_kg"]
    lab = {
        "crp": f"{state['crp']:.1f}",
        "creatinine": f"{state['creatinine']:.2f}",
        "haemoglobin": f"{state['haemoglobin']:.1f}",
    }
    return {
        "patient_id": f"P-{number:06d}",
        "country": "Atlantis",
        **who,
        "weight_kg": f"{weight:.1f}",
        "bmi": f"{weight / (height / 100) ** 2:.1f}",
        **{name: state[name] for name in ("systolic", "stage", "pain", "readmitted")},
        **(lab if state["lab"] else dict.fromkeys(lab, "")),
        **scores(rng, state["frailty"]),
        **visit(rng, admitted, state),
        "cost_eur": f"{state['cost']:.2f}",
        "remark": remark(rng),
    }


PERSONAL = ("sex", "age", "height_cm", "weight_kg", "smoker", "cigarettes_per_day")
COLUMNS = (
    "patient_id",
    "country",
    "clinic",
    "sex",
    "age",
    "height_cm",
    "weight_kg",
    "bmi",
    "blood_group",
    "smoker",
    "cigarettes_per_day",
    "systolic",
    "diagnosis",
    "stage",
    "pain",
    "crp",
    "creatinine",
    "haemoglobin",
    "mobility_score",
    "self_care_score",
    "mood_score",
    "total_score",
    "admitted",
    "triage_time",
    "operated",
    "discharged",
    "stay_days",
    "record_closed",
    "cost_eur",
    "readmitted",
    "remark",
)


def main() -> None:
    """Write the table."""
    rng = np.random.default_rng(SEED)
    first = np.sort(rng.integers(0, (LAST_DAY - FIRST_DAY).days + 1, N_PATIENTS))
    numbers = np.sort(rng.choice(np.arange(100, 9000), N_PATIENTS, replace=False))
    rows = [
        patient(rng, int(number), FIRST_DAY + timedelta(days=int(day)), STAND_OUT.get(row, {}))
        for row, (number, day) in enumerate(zip(numbers, first, strict=True))
    ]
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
