"""A synthetic hospital: patients drawn with numpy from a seed, one row each, and a hierarchy of its zip codes.

Every name, number and weight is invented here. Columns depend on each other as they would in a real table:
age on the district, marital status on age, diagnosis on age, sex and season, ward and stay on the diagnosis,
cost on diagnosis and stay. So quasi-identifiers reveal something about the sensitive columns.
"""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

COLUMNS = (
    ("patient_id", "BIGINT"),
    ("name", "VARCHAR"),
    ("birth_date", "DATE"),
    ("sex", "VARCHAR"),
    ("zip", "VARCHAR"),
    ("marital_status", "VARCHAR"),
    ("admitted", "DATE"),
    ("ward", "VARCHAR"),
    ("diagnosis", "VARCHAR"),
    ("stay_days", "INTEGER"),
    ("cost", "DOUBLE"),
)
"""Columns of the table, with DuckDB's types."""

FIRST_DAY, LAST_DAY = date(2023, 1, 1), date(2025, 12, 31)


class _Diagnosis(NamedTuple):
    """Causes and cost of a diagnosis."""

    name: str
    ward: str
    weight: float
    peak: float
    spread: float
    women: float
    men: float
    winter: float
    stay: float
    base: float
    daily: float


_DIAGNOSES = tuple(
    _Diagnosis(*row)
    for row in (
        ("Appendicitis", "Surgery", 2.2, 20, 14, 1.0, 1.2, 1.0, 3.0, 5200, 640),
        ("Arrhythmia", "Cardiology", 3.0, 70, 14, 0.9, 1.1, 1.0, 3.5, 3800, 720),
        ("Asthma", "Pulmonology", 2.6, 12, 16, 1.0, 1.0, 1.5, 2.5, 1500, 560),
        ("Breast cancer", "Oncology", 2.1, 60, 13, 1.0, 0.01, 1.0, 5.0, 11500, 810),
        ("Bronchitis", "Pulmonology", 2.4, 55, 30, 1.0, 1.0, 2.0, 3.0, 1200, 530),
        ("Cataract", "Ophthalmology", 2.0, 75, 9, 1.1, 1.0, 1.0, 1.0, 2400, 480),
        ("Cesarean birth", "Obstetrics", 1.9, 32, 5, 1.0, 0.0, 1.0, 4.5, 7400, 690),
        ("Childbirth", "Obstetrics", 4.6, 30, 5, 1.0, 0.0, 1.0, 2.5, 4300, 650),
        ("Chronic kidney disease", "Nephrology", 1.7, 68, 14, 0.9, 1.1, 1.0, 5.5, 5200, 760),
        ("Concussion", "Neurology", 1.5, 22, 18, 0.8, 1.2, 1.1, 1.5, 1400, 590),
        ("COPD", "Pulmonology", 2.5, 70, 10, 0.8, 1.2, 1.6, 6.0, 2600, 610),
        ("Dementia", "Geriatrics", 1.9, 84, 7, 1.2, 1.0, 1.0, 9.0, 2200, 420),
        ("Depression", "Psychiatry", 2.3, 40, 17, 1.4, 0.9, 1.3, 14.0, 1800, 390),
        ("Diabetes, type 2", "Internal medicine", 3.1, 62, 14, 0.9, 1.1, 1.0, 4.5, 2300, 520),
        ("Epilepsy", "Neurology", 1.0, 28, 24, 1.0, 1.0, 1.0, 3.0, 2500, 630),
        ("Gallstones", "Surgery", 2.0, 52, 15, 1.5, 0.8, 1.0, 3.0, 5600, 650),
        ("Gastroenteritis", "Internal medicine", 2.3, 8, 30, 1.0, 1.0, 1.4, 2.0, 1100, 500),
        ("Heart failure", "Cardiology", 3.0, 79, 9, 1.0, 1.1, 1.2, 8.0, 4200, 740),
        ("Hip fracture", "Orthopedics", 2.2, 82, 8, 1.7, 0.8, 1.5, 10.0, 9800, 700),
        ("HIV infection", "Infectious diseases", 0.5, 38, 11, 0.4, 1.4, 1.0, 6.0, 6400, 720),
        ("Influenza", "Infectious diseases", 2.4, 45, 40, 1.0, 1.0, 4.0, 3.5, 1300, 540),
        ("Knee replacement", "Orthopedics", 1.9, 69, 8, 1.2, 1.0, 0.9, 6.0, 11800, 680),
        ("Leukemia", "Oncology", 0.7, 50, 30, 0.9, 1.1, 1.0, 16.0, 24000, 1150),
        ("Lung cancer", "Oncology", 1.5, 69, 9, 0.8, 1.3, 1.0, 7.5, 14200, 880),
        ("Myocardial infarction", "Cardiology", 2.6, 67, 12, 0.6, 1.4, 1.2, 6.0, 12600, 980),
        ("Pneumonia", "Pulmonology", 3.1, 72, 28, 0.9, 1.1, 2.2, 6.5, 2700, 620),
        ("Premature birth", "Neonatology", 1.2, 0, 1, 1.0, 1.1, 1.0, 18.0, 9500, 1300),
        ("Prostate cancer", "Oncology", 1.6, 70, 8, 0.0, 1.0, 1.0, 5.0, 10800, 790),
        ("Schizophrenia", "Psychiatry", 0.9, 30, 11, 0.8, 1.2, 1.0, 21.0, 2100, 380),
        ("Stroke", "Neurology", 2.5, 74, 12, 0.9, 1.1, 1.1, 11.0, 8600, 890),
        ("Substance use disorder", "Psychiatry", 1.5, 36, 11, 0.6, 1.5, 1.0, 12.0, 1600, 370),
        ("Tonsillitis", "Surgery", 1.4, 9, 8, 1.0, 1.0, 1.3, 1.5, 2300, 510),
    )
)

_DISTRICTS = (
    # name, zip prefix, number of zip codes, share of patients, years older than the region
    ("Old Town", "410", 14, 0.17, 4.0),
    ("Harbor", "411", 18, 0.20, -3.0),
    ("University", "412", 9, 0.11, -14.0),
    ("North Hills", "421", 16, 0.14, 2.0),
    ("Mill Valley", "422", 21, 0.13, -1.0),
    ("Lakeside", "431", 12, 0.11, 12.0),
    ("Pine County", "440", 26, 0.09, 6.0),
    ("Far Plains", "441", 22, 0.05, 5.0),
)

_WOMEN = """
Ada Agnes Alma Beatriz Bella Clara Cora Dalia Edith Elena Elsa Farah Flora Greta Hana Helen Ida Ines
Irma Iva Jana Judith Kaya Lena Lidia Luz Maia Mara Mina Nadia Nora Olga Petra Rita Rosa Ruth Selma
Tessa Vera Yara
"""
_MEN = """
Abel Adam Anton Boris Bruno Carl Dario David Diego Elias Emil Ezra Felix Frank Georg Hugo Igor Ivan
Jakob Jonas Karim Kurt Leo Luis Marco Milan Niels Omar Oscar Otto Pavel Peter Rafael Ravi Ruben
Samir Stefan Theo Viktor Yusuf
"""
_FAMILIES = """
Abbott Adler Almeida Andersson Baker Barros Becker Berg Bishop Blum Brandt Castro Chen Costa Cruz
Dahl Diaz Dvorak Eriksen Farkas Fischer Fontana Garcia Gomez Grant Haas Hansen Hoffman Horvat
Ibrahim Ito Jansen Jensen Kaplan Keller Khan Klein Kovacs Kumar Lang Larsen Lee Lindqvist Lopez
Marino Mendes Meyer Moreau Moreno Nagy Nakamura Nguyen Novak Okafor Olsen Ortega Park Patel Pereira
Petrov Quinn Ramos Reyes Ricci Rossi Santos Sato Schmidt Silva Singh Sokolov Suzuki Tanaka Torres
Varga Vega Wagner Weber Wolf Wong Yilmaz Young Zeman Ziegler
"""
_MARITAL = ("single", "married", "divorced", "widowed")


def draw_patients(rows: int, seed: int) -> dict[str, list[Any]]:
    """Draw the patients: one list a column, None for NULL.

    Args:
        rows: how many patients.
        seed: the same seed draws the same patients.
    """
    rng = np.random.default_rng(seed)
    district, zips = _homes(rng, rows)
    age = _ages(rng, district)
    sex = rng.choice(3, size=rows, p=(0.532, 0.466, 0.002))
    admitted = rng.integers(FIRST_DAY.toordinal(), LAST_DAY.toordinal() + 1, size=rows)
    birth = admitted - np.floor(age * 365.25).astype(np.int64)
    diagnosis = _diagnoses(rng, np.floor(age).astype(np.int64), sex, admitted)
    stay = _stays(rng, diagnosis, age)
    return {
        "patient_id": (rng.permutation(rows * 4)[:rows] + 1_000_000).tolist(),
        "name": _names(rng, sex),
        "birth_date": _dates(birth),
        "sex": _labels(("F", "M", "X"), sex),
        "zip": _with_nulls(rng, zips, 0.004),
        "marital_status": _with_nulls(rng, _labels(_MARITAL, _marital(rng, age)), 0.02),
        "admitted": _dates(admitted),
        "ward": _draw_wards(rng, diagnosis),
        "diagnosis": _labels([kind.name for kind in _DIAGNOSES], diagnosis),
        "stay_days": _with_nulls(rng, stay.tolist(), 0.01),
        "cost": _costs(rng, diagnosis, stay).tolist(),
    }


def zip_hierarchy() -> list[tuple[str, ...]]:
    """The tree of zip codes as ARX's CSV has it: code, district, region, everything."""
    return [
        (code, name, f"region {prefix[:2]}", "*")
        for name, prefix, codes, _, _ in _DISTRICTS
        for code in _codes(prefix, codes)
    ]


def _codes(prefix: str, codes: int) -> list[str]:
    return [f"{prefix}{number:02d}" for number in range(1, codes + 1)]


def _homes(rng: np.random.Generator, rows: int) -> tuple[Integers, list[str]]:
    """District and zip code; a district's first codes hold more people."""
    district = rng.choice(len(_DISTRICTS), size=rows, p=[home[3] for home in _DISTRICTS])
    sizes = np.array([home[2] for home in _DISTRICTS])[district]
    within = np.floor(rng.random(rows) ** 1.6 * sizes).astype(np.int64)
    prefixes = [home[1] for home in _DISTRICTS]
    return district, [f"{prefixes[d]}{w + 1:02d}" for d, w in zip(district.tolist(), within.tolist(), strict=True)]


def _ages(rng: np.random.Generator, district: Integers) -> Floats:
    """Age in years at admission: newborn, young, adult and old patients in one mixture."""
    rows = len(district)
    kind = rng.choice(5, size=rows, p=(0.025, 0.085, 0.25, 0.31, 0.33))
    middle = np.array((0.0, 9.0, 31.0, 55.0, 75.0))[kind]
    spread = np.array((0.0, 5.0, 8.0, 10.0, 8.5))[kind]
    older = np.array([home[4] for home in _DISTRICTS])[district] * (kind > 1)
    age = rng.normal(middle + older, spread)
    return np.where(kind == 0, rng.random(rows) * 0.05, np.clip(np.abs(age), 0.02, 101.0))


def _diagnoses(rng: np.random.Generator, age: Integers, sex: Integers, admitted: Integers) -> Integers:
    """One draw a patient from the weights of its age, sex and season."""
    columns = {name: np.array([getattr(kind, name) for kind in _DIAGNOSES]) for name in _Diagnosis._fields[2:8]}
    ages = np.arange(int(age.max()) + 1)[:, None]
    distance = (ages - columns["peak"]) / columns["spread"]
    by_age = columns["weight"] / columns["spread"] * (np.exp(-0.5 * distance**2) + 0.01)
    by_age[:, columns["peak"] == 0] *= ages == 0
    by_age[:, [kind.ward == "Obstetrics" for kind in _DIAGNOSES]] *= (ages >= 15) & (ages <= 50)
    by_sex = np.stack([columns["women"], columns["men"], (columns["women"] + columns["men"]) / 2])
    year_part = (admitted % 365.25) / 365.25
    season = np.floor(year_part * 12).astype(np.int64)
    cold = 0.5 * (1 + np.cos((np.arange(12) - 0.5) / 12 * 2 * np.pi))[:, None]
    by_season = 1 + cold * (columns["winter"] - 1)
    weights = by_age[:, None, None, :] * by_sex[None, :, None, :] * by_season[None, None, :, :]
    upper = np.cumsum(weights, axis=-1)
    mine = upper[age, sex, season]
    threshold = rng.random(len(age)) * mine[:, -1]
    return np.asarray((mine <= threshold[:, None]).sum(axis=1), dtype=np.int64)


def _stays(rng: np.random.Generator, diagnosis: Integers, age: Floats) -> Integers:
    mean = np.array([kind.stay for kind in _DIAGNOSES])[diagnosis] * (0.8 + age / 160)
    return np.maximum(1, np.rint(rng.gamma(2.2, mean / 2.2))).astype(np.int64)


def _costs(rng: np.random.Generator, diagnosis: Integers, stay: Integers) -> Floats:
    """Cost of the case, rounded: to 10, above 2,000 to 100, above 20,000 to 1,000, so that few costs are unique."""
    base = np.array([kind.base for kind in _DIAGNOSES])[diagnosis]
    daily = np.array([kind.daily for kind in _DIAGNOSES])[diagnosis]
    cost = (base + daily * stay) * np.exp(rng.normal(0.0, 0.22, size=len(stay)))
    step = np.select([cost < 2_000, cost < 20_000], [10.0, 100.0], 1_000.0)
    rounded: Floats = np.rint(cost / step) * step
    return rounded


def _draw_wards(rng: np.random.Generator, diagnosis: Integers) -> list[str]:
    """The diagnosis's ward, except for patients in intensive care or moved where a bed was free."""
    usual = [kind.ward for kind in _DIAGNOSES]
    elsewhere = rng.random(len(diagnosis))
    return [
        "Intensive care" if chance < 0.05 else "Internal medicine" if chance < 0.09 else usual[code]
        for code, chance in zip(diagnosis.tolist(), elsewhere.tolist(), strict=True)
    ]


def _marital(rng: np.random.Generator, age: Floats) -> Integers:
    """Single when young, then married; divorce and widowhood grow with age."""
    married = 0.72 / (1 + np.exp(-(age - 29) / 4))
    divorced = 0.15 / (1 + np.exp(-(age - 42) / 6))
    widowed = 0.55 / (1 + np.exp(-(age - 80) / 5))
    shares = np.stack([married * (1 - widowed), divorced, widowed]) * (age >= 18)
    upper = np.cumsum(shares, axis=0)
    chances = rng.random(len(age))
    first = (chances[None, :] < upper).argmax(axis=0) + 1
    return np.where(chances < upper[-1], first, 0)


def _names(rng: np.random.Generator, sex: Integers) -> list[str]:
    rows = len(sex)
    first_women, first_men, last_names = _WOMEN.split(), _MEN.split(), _FAMILIES.split()
    women = rng.integers(len(first_women), size=rows).tolist()
    men = rng.integers(len(first_men), size=rows).tolist()
    families = np.floor(rng.random(rows) ** 1.3 * len(last_names)).astype(np.int64).tolist()
    feminine = np.where(sex == 2, rng.random(rows) < 0.5, sex == 0).tolist()
    return [
        f"{first_women[w] if f else first_men[m]} {last_names[last]}"
        for f, w, m, last in zip(feminine, women, men, families, strict=True)
    ]


def _labels(names: list[str] | tuple[str, ...], codes: Integers) -> list[str]:
    return [names[code] for code in codes.tolist()]


def _dates(ordinals: Integers) -> list[date]:
    days = ordinals.tolist()
    dates = {day: date.fromordinal(day) for day in set(days)}
    return [dates[day] for day in days]


def _with_nulls(rng: np.random.Generator, values: list[Any], share: float) -> list[Any]:
    missing = (rng.random(len(values)) < share).tolist()
    return [None if gone else value for value, gone in zip(values, missing, strict=True)]
