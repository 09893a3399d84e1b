"""Columns that name or reach people are identifiers, however often their values repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from icsa.inspection import guess_schema, inspect_table
from icsa.inspection.identities import looks_like_contacts
from icsa.inspection.names import names_counts, names_given_number, names_phone, person_name_in
from icsa.tables.table import Table

rng = np.random.default_rng(5)
ROWS = 300


def table_of(name: str, cells: Sequence[Any]) -> Table:
    """Return a table of one column."""
    return Table(pl.DataFrame({name: pl.Series(list(cells))}))


def kind_of(name: str, cells: Sequence[Any]) -> str:
    """Return the guessed kind of a column."""
    return guess_schema(table_of(name, cells)).columns[name].kind


def said_of(name: str, cells: Sequence[Any]) -> str:
    """Return the reason and the notes on a column, one a line."""
    column = inspect_table(table_of(name, cells)).columns[0]
    return "\n".join((column.why, *column.notes))


def repeated(cells: Sequence[Any]) -> list[Any]:
    """Return each of some cells many times, mixed."""
    return [cells[row] for row in rng.integers(0, len(cells), ROWS)]


MAILS = [f"a{number}@x.fi" for number in range(25)]
PHONES = [f"+358 40 55{number:02}1" for number in range(12)]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("contact", repeated(MAILS)),
        ("x", repeated(MAILS[:2])),
        ("x", repeated([*MAILS, *MAILS, "unknown"])),
        ("x", repeated(PHONES)),
        ("x", repeated(["040 123 4567", "040 765 4321", "050 111 2222"])),
        ("x", repeated(["030/1234567", "089/7654321", "040/1112223"])),
        ("x", repeated(["(212) 555-1234", "(212) 555-9876", "(646) 555-1111"])),
        ("x", repeated(["0401234567", "0407654321", "0501112222"])),
        ("ward_phone", repeated(["555-1234", "555-9876"])),
        ("Tel", ["0" + str(number) for number in rng.integers(400_000, 400_060, ROWS)]),
        ("mobil", rng.integers(400_000_000, 400_000_060, ROWS)),
        ("gsm_1", rng.integers(400_000_000, 400_000_060, ROWS).astype(float)),
        ("puhelin", repeated(["1234567", "7654321", "1112223"])),
    ],
)
def test_ways_to_reach_people_are_identifiers(name: str, cells: Sequence[Any]) -> None:
    assert kind_of(name, cells) == "identifier"


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("x", repeated(["C50.1", "I10", "E11.9", "J45"]), "category"),
        ("x", repeated(["01.02.2020", "03.04.2021", "05.06.2022"]), "category"),
        ("x", repeated(["2020 02 01", "2021 04 03", "2022 06 05"]), "category"),
        ("x", repeated(["1 234 567", "2 345 678", "3 456 789"]), "category"),
        ("x", repeated(["0.1234567", "0.2345678", "0.3456789"]), "category"),
        ("x", repeated(["01310-100", "04547-000", "20040-020"]), "category"),
        ("x", repeated(["01067-1234", "02138-5678", "02139-9012"]), "category"),
        ("x", repeated(["00093715256", "00093715301", "00185006301"]), "category"),
        ("x", repeated(["120/80", "130/85", "110/70"]), "category"),
        ("x", rng.integers(400_000_000, 400_000_060, ROWS), "integer"),
        ("mobile", repeated(["walks", "chair", "bed"]), "category"),
        ("phone", repeated(["never", "daily", "weekly"]), "category"),
        ("phone_calls", rng.integers(0, 40, ROWS), "integer"),
        ("telephone", rng.integers(0, 40, ROWS), "integer"),
        ("email", repeated(["never", "daily", "weekly"]), "category"),
    ],
)
def test_what_only_looks_like_phones_is_not_one(name: str, cells: Sequence[Any], kind: str) -> None:
    assert kind_of(name, cells) == kind


def test_the_reason_is_what_the_cells_look_like() -> None:
    assert "e-mail addresses" in said_of("contact", repeated(MAILS))
    assert "telephone numbers" in said_of("x", repeated(PHONES))
    assert "by its name" not in said_of("contact", repeated(MAILS))


def test_long_columns_are_judged_by_a_sample_that_is_always_the_same() -> None:
    cells = pl.Series(MAILS * 4_000)
    assert looks_like_contacts(cells, phones_too=False) == "e-mail addresses"
    few = pl.Series(["x"] * 50_000 + MAILS)
    assert looks_like_contacts(few, phones_too=False) == ""


@pytest.mark.parametrize(
    "name",
    [
        *("name", "full_name", "lastName", "surname", "first name", "given.name", "maiden_name"),
        *("gp_name", "GPName", "patient_name", "doctor name", "Name der Mutter"),
        *("Vorname", "nachname", "Familienname", "geburtsname", "Patientenname"),
        *("nom", "prenom", "prénom", "Nom de famille", "nombre", "apellido", "apellido_2"),
        *("primer_apellido", "nome", "cognome", "voornaam", "achternaam", "naam"),
        *("fornavn", "etternavn", "efternavn", "förnamn", "efternamn", "etunimi", "sukunimi"),
    ],
)
def test_names_of_people_in_several_languages(name: str) -> None:
    assert person_name_in(name)
    assert kind_of(name, repeated(["Anna", "Ben", "Carl", "Dora", "Emil"])) == "identifier"
    # Two levels and numbers that are measured are something else.
    assert kind_of(name, repeated(["yes", "no"])) == "binary"
    assert kind_of(name, rng.normal(5, 1, ROWS).round(2)) == "continuous"


@pytest.mark.parametrize(
    "name",
    [
        *("drug_name", "hospital name", "site_name", "name_type", "nom_medicament", "tournament"),
        *("nominal", "nomenclature", "renamed", "economy", "genome", "syndrome", "filename"),
    ],
)
def test_names_of_other_things(name: str) -> None:
    assert not person_name_in(name)
    assert kind_of(name, repeated(["A", "B", "C", "D", "E"])) == "category"


@pytest.mark.parametrize(
    "name",
    [
        *("address", "home_address", "street", "Adresse", "Straße", "strasse", "Anschrift"),
        *("rue", "direccion", "dirección", "calle", "indirizzo", "woonadres", "straat"),
        *("gatuadress", "osoite", "e-mail", "epost", "e-post", "courriel", "correo"),
    ],
)
def test_addresses_in_several_languages(name: str) -> None:
    places = [f"Mill {letter}" for letter in "abcdefghijklmno"]
    assert kind_of(name, repeated(places)) == "identifier"
    assert kind_of(name, repeated(["urban", "rural", "island"])) == "category"


@pytest.mark.parametrize("name", ["phone", "Tel.", "Telefonnummer", "móvil", "handy", "fax_2"])
def test_names_of_phones(name: str) -> None:
    assert names_phone(name)


@pytest.mark.parametrize("name", ["telomere", "cell", "phoneme", "phone_type", "has_mobile"])
def test_names_of_no_phones(name: str) -> None:
    assert not names_phone(name)


GIVEN = rng.choice(np.arange(10_000, 99_999), 120, replace=False)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("family_id", np.repeat(np.arange(100) + 70_001, 3)),
        ("family_id", np.repeat(np.arange(100) + 1, 3)),
        ("family", np.repeat(np.arange(100) + 5000, 3)),
        ("household", rng.integers(10_000, 10_120, ROWS)),
        ("household_no", rng.integers(10_000, 10_120, ROWS)),
        ("kvnr", repeated(list(GIVEN))),
        ("Patientennummer", repeated(list(GIVEN))),
        ("fallnummer", repeated(list(GIVEN))),
        ("cpr", repeated([int(f"{number}12345") for number in GIVEN])),
        ("pnr_float", repeated([float(number) for number in GIVEN])),
        ("case", repeated(list(GIVEN))),
        ("patient", repeated([f"PAT-{number:04}" for number in range(1, 90)])),
        ("household_id", repeated([f"H{number}" for number in range(25)])),
        ("numero_dossier", repeated(list(GIVEN))),
        ("plz", repeated(list(GIVEN[:12]))),
    ],
)
def test_given_numbers_that_repeat_are_identifiers(name: str, cells: Sequence[Any]) -> None:
    assert kind_of(name, cells) == "identifier"


@pytest.mark.parametrize(
    ("name", "cells", "kind"),
    [
        ("no_children", rng.poisson(9, ROWS), "integer"),
        ("no_children", [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 11], "integer"),
        ("number_of_visits", rng.geometric(0.05, ROWS), "integer"),
        ("nr_nodes", rng.integers(0, 60, ROWS), "integer"),
        ("n_cells", rng.integers(1000, 60_000, ROWS), "integer"),
        ("node_number", rng.geometric(0.05, ROWS), "integer"),
        ("cpr", rng.integers(1, 60, ROWS), "integer"),
        ("site_id", [f"S{number}" for number in rng.integers(0, 22, 400)], "category"),
        ("visit_no", rng.integers(1, 6, ROWS), "ordinal"),
        ("candid", rng.integers(20, 90, ROWS), "integer"),
        ("family_size", rng.integers(1, 40, ROWS), "integer"),
    ],
)
def test_counts_and_groups_are_no_identifiers(name: str, cells: Sequence[Any], kind: str) -> None:
    assert kind_of(name, cells) == kind


def test_what_names_say_of_given_numbers_and_of_counts() -> None:
    assert names_given_number("family_id")
    assert not names_given_number("age")
    assert names_counts("number_of_visits")
    assert not names_counts("id_number")


def test_why_it_looks_like_an_id() -> None:
    assert "looks like an id by its name" in said_of("family_id", np.repeat(np.arange(100), 3))
    dollars = [f"Q{number}" for number in [*range(40), 1, 2]]
    said = said_of("usd", dollars)
    assert "looks like an id: a short code of its own in nearly every row" in said
    assert "by its name" not in said


CODES = [f"{letter}{number:02}.{number % 9}" for letter in "CEIJ" for number in range(10, 25)]


@pytest.mark.parametrize("name", ["icd", "icd_code", "diagnosis_id", "x"])
def test_diagnoses_that_repeat_are_no_identifiers(name: str) -> None:
    assert kind_of(name, repeated(CODES[:20])) == "category"
    many = said_of(name, repeated(CODES))
    assert "too many for levels" in many
    assert "shorten" in many
    assert kind_of(name, CODES) == "identifier"
