"""The page of an assessment: whole, small, harmless, and in order."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields, replace

from icsa.assessment.document import Document
from icsa.assessment.document_parts import as_part
from icsa.errors import InputError
from icsa.privacy.reasons import STATUSES
from icsa.report import assessment_page
from icsa.report.assessment_page import (
    MOST_BYTES,
    Limits,
    assessment_html,
    write_assessment_report,
)
from icsa.report.glossary import GLOSSARY, anchor

from .conftest import NAMES

VOID = {"meta", "br", "link", "img", "input", "hr"}
CASES = ("everything", "at risk", "in parts", "less", "nobody", "copy", "public", "many")

Documents = dict[str, Document]


class Page(HTMLParser):
    """Elements in order, with their attributes, parents and texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[dict[str, Any]] = []
        self.open: list[dict[str, Any]] = []
        self.pieces: list[str] = []
        self.unbalanced: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parents = tuple(element["tag"] for element in self.open)
        element = {"tag": tag, "attrs": dict(attrs), "parents": parents, "inside": [], "text": ""}
        if self.open:
            self.open[-1]["inside"].append(tag)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element | {"from": len(self.pieces), "element": element})

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1]["tag"] != tag:
            self.unbalanced.append(tag)
            return
        closed = self.open.pop()
        closed["element"]["text"] = "".join(self.pieces[closed["from"] :])

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def all(self, *tags: str) -> list[dict[str, Any]]:
        return [element for element in self.elements if element["tag"] in tags]

    def visible(self) -> str:
        body: str = self.all("body")[0]["text"]
        for script in self.all("script"):
            body = body.replace(script["text"], "")
        return body


@pytest.fixture(scope="session")
def pages(documents: Documents) -> dict[str, tuple[str, Page]]:
    texts = {name: assessment_html(document) for name, document in documents.items()}
    return {name: (text, Page(text)) for name, text in texts.items()}


@pytest.fixture(params=CASES)
def page(request: pytest.FixtureRequest, pages: dict[str, tuple[str, Page]]) -> tuple[str, Page]:
    return pages[request.param]


def seen(document: Document) -> str:
    return Page(assessment_html(document)).visible()


def test_tags_are_balanced_and_the_page_is_a_whole(page: tuple[str, Page]) -> None:
    text, parsed = page
    assert text.startswith("<!doctype html>")
    assert not parsed.unbalanced
    assert not parsed.open
    assert parsed.all("html")[0]["attrs"]["lang"] == "en"
    assert len(parsed.all("h1")) == len(parsed.all("main")) == 1


def test_headings_never_skip_a_level(page: tuple[str, Page]) -> None:
    levels = [int(heading["tag"][1]) for heading in page[1].all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_parts_come_in_order(page: tuple[str, Page]) -> None:
    titles = [heading["text"] for heading in page[1].all("h2")]
    assert titles == [
        "Verdict",
        "What was handed in",
        "People who stand out",
        "Privacy in numbers",
        "What analyses lose",
        "What analyses lose, in detail",
        "What was done to the table",
        "What this assessment cannot see",
        "Policy used",
        "Glossary",
    ]


def test_tables_have_captions_and_scopes(page: tuple[str, Page]) -> None:
    for table in page[1].all("table"):
        assert table["inside"][0] == "caption"
    assert all(cell["attrs"].get("scope") in ("col", "row") for cell in page[1].all("th"))


def test_rows_have_as_many_cells_as_their_headings(page: tuple[str, Page]) -> None:
    widths: list[int] = []
    for row in page[1].all("tr"):
        if "thead" in row["parents"]:
            widths = []
        widths.append(sum(tag in ("td", "th") for tag in row["inside"]))
        assert widths[-1] == widths[0]


def test_drawings_have_a_title_and_links_lead_somewhere(page: tuple[str, Page]) -> None:
    parsed = page[1]
    assert all(drawing["inside"][0] == "title" for drawing in parsed.all("svg"))
    identifiers = Counter(e["attrs"]["id"] for e in parsed.elements if "id" in e["attrs"])
    assert max(identifiers.values()) == 1
    links = [e["attrs"]["href"] for e in parsed.elements if "href" in e["attrs"]]
    assert links
    assert {link.removeprefix("#") for link in links} <= set(identifiers)
    assert all(link.startswith("#") for link in links)
    labelled = {e["attrs"]["aria-labelledby"] for e in parsed.all("section")}
    assert labelled <= set(identifiers)


def test_nothing_is_loaded(page: tuple[str, Page]) -> None:
    text, parsed = page
    assert "http://" not in text
    assert "https://" not in text
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|sendBeacon", text)
    assert not parsed.all("link", "img", "iframe", "object", "embed")
    assert not any("src" in element["attrs"] for element in parsed.elements)


def test_it_is_small(page: tuple[str, Page]) -> None:
    assert len(page[0].encode()) < MOST_BYTES


def test_nothing_of_python_shows(page: tuple[str, Page]) -> None:
    assert not re.search(
        r"built-in|\bNone\b|\bnan\b|\bTrue\b|\bFalse\b|Markup|0x", page[1].visible()
    )


def test_texts_of_the_table_are_harmless(page: tuple[str, Page]) -> None:
    _, parsed = page
    assert len(parsed.all("script")) == 1
    assert "alert" not in parsed.all("script")[0]["text"]


def test_every_text_is_escaped(documents: Documents) -> None:
    bad = "</title><script>x</script>\"'><b onload=x>"
    parsed = Page(assessment_html(_with_every_text(documents["everything"], bad)))
    assert len(parsed.all("script")) == 1
    assert not parsed.all("b")
    assert not any("onload" in element["attrs"] for element in parsed.elements)
    assert parsed.visible().count("<b onload=x>") > 100


def _with_every_text(part: Any, text: str) -> Any:
    """Return a part of a document with another text wherever its type allows any."""
    changed = {}
    for field in fields(part):
        value = getattr(part, field.name)
        try:
            any_text = msgspec.convert(text, field.type) == text
        except msgspec.ValidationError:
            any_text = False
        changed[field.name] = text if any_text and value is not None else _inside(value, text)
    return replace(part, **changed)


def _inside(value: Any, text: str) -> Any:
    if isinstance(value, msgspec.Struct):
        return _with_every_text(value, text)
    if isinstance(value, dict):
        return {key: _inside(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [text if isinstance(item, str) else _inside(item, text) for item in value]
    return value


@pytest.mark.parametrize(
    ("name", "word"), [("less", "release"), ("nobody", "look again"), ("copy", "do not release")]
)
def test_the_verdict_is_one_large_word_with_its_reasons(
    name: str, word: str, documents: Documents, pages: dict[str, tuple[str, Page]]
) -> None:
    assert documents[name].verdict == word
    parsed = pages[name][1]
    large = [e for e in parsed.all("p") if e["attrs"].get("class") == "word"]
    assert [e["text"] for e in large] == [word + word]  # the symbol's title, and the word
    listed = [element["text"] for element in parsed.all("li")]
    for reason in documents[name].reasons:
        assert any(item.startswith(reason.says) and reason.text in item for item in listed)
    # Before any word that needs the glossary.
    first = parsed.visible().partition("What was handed in")[0].replace("smallest rho", "")
    assert not re.search(r"Lambda|lens|robust distance", first)
    order = [
        first.index(words) for words in (word, "Was anybody copied?", "What do attackers get?")
    ]
    assert order == sorted(order)


def test_an_assessment_that_failed_its_own_test_says_so_first(documents: Documents) -> None:
    told = seen(documents["nobody"])
    warning = told.index("This assessment is not to be trusted on this table")
    assert warning < told.index("look again")
    assert documents["nobody"].self_test.why in told
    assert "not to be trusted on this table" not in seen(documents["copy"])


def test_kept_columns_and_a_seed_stand_out(documents: Documents) -> None:
    parsed = Page(assessment_html(documents["everything"]))
    kept = [row["text"] for row in parsed.all("tr") if row["attrs"].get("class") == "kept"]
    assert len(kept) == 1
    assert kept[0].startswith("sexbinaryKEPT")
    assert "Reproducible: not for release" in parsed.visible()
    assert "Reproducible: not for release" not in seen(documents["copy"])


def test_only_the_internal_edition_is_confidential(documents: Documents) -> None:
    assert assessment_html(documents["copy"]).count("CONFIDENTIAL") >= 3
    assert "CONFIDENTIAL" not in assessment_html(documents["public"])


def test_the_public_edition_shows_nobody_even_when_people_are_given(documents: Documents) -> None:
    internal = documents["many"]
    text = assessment_html(replace(internal, edition="public", reasons=[]))
    assert internal.people
    for person in internal.people:
        for cell in (*person.before.values(), *person.after.values()):
            assert f">{cell}<" not in text
    assert not re.search(r"row \d+: ", text)
    assert "passport" not in Page(text).visible()
    assert 'class="clouds"' not in text
    assert 'class="clouds"' in assessment_html(internal)


@pytest.mark.parametrize("name", ["at risk", "in parts", "copy", "many"])
def test_a_person_is_shown_by_the_status_that_was_found(name: str, documents: Documents) -> None:
    found = documents[name].people_summary.status
    parsed = Page(assessment_html(documents[name]))
    legend = {
        item["text"]
        for item in parsed.all("li")
        if any(f" {status}: " in item["text"] for status in STATUSES)
    }
    # The symbol's title stands first.
    assert legend == {
        f"{status} {found[status]} {status}: {words}"
        for status, words in STATUSES.items()
        if found[status]
    }
    nearer = "the release comes nearer than chance explains"
    assert not any(nearer in item for item in legend)


def test_the_passport_has_a_line_for_each_person_worst_first(documents: Documents) -> None:
    for name in ("at risk", "many"):
        people = documents[name].people
        assert people
        parsed = Page(assessment_html(documents[name]))
        lines = [
            e for e in parsed.all("th") if e["attrs"].get("data-v") and "tbody" in e["parents"]
        ]
        rows = [int(line["text"]) for line in lines]
        assert sorted(rows) == sorted(person.row for person in people)
        order = {person.row: (list(STATUSES).index(person.status), person.p) for person in people}
        assert [order[row] for row in rows] == sorted(order.values())


def test_long_lists_are_cut_and_counted(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assessment_page, "_LIMITS", (Limits(people=20, cells=95, columns=3),))
    told = seen(documents["many"])
    assert "and 100 more people; the JSON has them all" in told
    assert "and 111 more people without a side-by-side table here" in told
    assert "and 7 more columns" in told


def test_lists_get_shorter_until_the_page_is_small(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = len(assessment_html(documents["many"]).encode())
    monkeypatch.setattr(assessment_page, "MOST_BYTES", full * 2 // 3)
    assert len(assessment_html(documents["many"]).encode()) < full * 2 // 3
    monkeypatch.setattr(assessment_page, "MOST_BYTES", 10_000)
    with pytest.raises(InputError, match="larger than 10,000 bytes even with the shortest lists"):
        assessment_html(documents["many"])


def test_what_is_not_estimable_says_why(documents: Documents) -> None:
    less, nobody = seen(documents["less"]), seen(documents["nobody"])
    assert "kg ~ age: not estimable: " in less
    assert "Lasso for kg: not estimable: " in less
    assert "Only in the original, and not compared: kg." in less
    assert "not estimable: nobody stands out" in nobody
    assert "Nobody stands out by distance or isolation" in nobody
    assert "not estimable: numeric cells are missing" in seen(documents["copy"])


def test_a_risk_before_any_key_that_is_given_is_not_said_to_be_unknown(
    documents: Documents,
) -> None:
    for name, given in (("at risk", True), ("copy", False)):
        assert (documents[name].privacy["expected_replicas"].value is not None) == given
        told = seen(documents[name])
        assert "How the release was made is not known here" in told
        assert ("cannot be given without knowing that" in told) != given


def test_numbers_are_rounded_and_have_their_intervals(documents: Documents) -> None:
    share = documents["many"].privacy["nearest_release_share"]
    told = f"{share.value:.3f} ({share.low:.3f} to {share.high:.3f})"
    parsed = Page(assessment_html(documents["many"]))
    assert told in parsed.visible()
    assert "less than 0.001" in seen(documents["copy"])
    cut = assessment_html(documents["many"]).split("Before and after, side by side")[0]
    cells = [cell["text"] for cell in Page(cut).all("td", "li")]
    digits = [re.findall(r"\d+\.(\d+)", cell) for cell in cells]
    assert max(len(found.lstrip("0")) for each in digits for found in each) <= 3


def test_every_measure_links_to_its_definition(documents: Documents) -> None:
    document = documents["everything"]
    parsed = Page(assessment_html(document))
    links = {e["text"]: e["attrs"]["href"] for e in parsed.all("a") if e["text"]}
    for measure in (*document.privacy.values(), *document.utility.whole.values()):
        assert links[measure.label] == f"#{anchor(measure.definition)}"
    assert links[document.privacy["dcr_median"].label] == "#glossary-dcr"
    terms = [element["attrs"]["id"] for element in parsed.all("dt") if "id" in element["attrs"]]
    linked = {link.removeprefix("#") for link in links.values() if link.startswith("#glossary-")}
    assert linked == set(terms)  # nothing else fills the page
    assert len(terms) == len(set(terms)) < len(GLOSSARY)


def test_gaps_are_shown_in_words(documents: Documents) -> None:
    document = documents["in parts"]
    assert document.people
    first, *others = document.people
    gaps = dict.fromkeys(("p", "rho", "d_rel", "robust_distance"))
    point, *points = document.people_summary.picture
    column, *columns = document.utility.columns
    changed = replace(
        document,
        people=[replace(first, **gaps), *others],
        people_summary=replace(
            document.people_summary,
            picture=[replace(point, near=None), *(replace(p, near=0.0) for p in points)],
        ),
        tables=replace(document.tables, only_released=[f"column {k}" for k in range(30)]),
        utility=replace(
            document.utility,
            columns=[
                replace(column, distance=replace(column.distance, value=None)),
                *columns,
            ],
        ),
    )
    told = seen(changed)
    assert "not estimable: no value is defined" in told
    assert "column 19, and 10 more" in told
    assert not re.search(r"\bNone\b|\binf\b|\bnan\b", told)


def test_glossary_entries_are_whole() -> None:
    assert len({anchor(key) for key in GLOSSARY}) == len(GLOSSARY)
    for term in GLOSSARY.values():
        assert term.definition.endswith(".")
        if term.direction:
            assert term.formula


def test_unicode_names_are_shown_as_they_are(documents: Documents) -> None:
    told = seen(documents["everything"])
    assert all(name in told for name in NAMES.values())
    assert "Zoë Müller & Søn" in told


def test_a_document_from_json_gives_the_same_page(documents: Documents) -> None:
    for document in documents.values():
        again = as_part(json.loads(document.as_json()), Document, "The file")
        assert again == document
    assert assessment_html(again) == assessment_html(document)


@pytest.mark.parametrize(
    ("key", "value"),
    [("edition", "secret"), ("verdict", "fine"), ("schema_version", 2), ("new", 1)],
)
def test_another_form_is_an_error(key: str, value: object, documents: Documents) -> None:
    with pytest.raises(InputError, match="another version of icsa"):
        as_part(documents["less"].as_dict() | {key: value}, Document, "The file")


def test_a_file_is_replaced_only_when_asked(tmp_path: Path, documents: Documents) -> None:
    path = tmp_path / "report.html"
    write_assessment_report(documents["public"], path)
    first = path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is there already"):
        write_assessment_report(documents["less"], path)
    assert path.read_text(encoding="utf-8") == first
    write_assessment_report(documents["less"], path, force=True)
    assert "CONFIDENTIAL" in path.read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(InputError, match="There is no folder"):
        write_assessment_report(documents["less"], tmp_path / "none" / "report.html")


def test_tasks_are_shown_beside_their_yardsticks(documents: Documents) -> None:
    document = documents["everything"]
    parsed = Page(assessment_html(document))
    rows = [row["text"] for row in parsed.all("tr")]
    (task,) = document.utility.tasks.classification
    accuracy = task.rows[0].original
    shown = f"{accuracy.value:.3f} ({accuracy.low:.3f} to {accuracy.high:.3f})"
    assert any(row.startswith("accuracy") and shown in row for row in rows)
    chosen = document.utility.tasks.selection[0]
    names = [v.name for v in chosen.variables if v.original and v.released]
    assert names
    told = [dd["text"] for dd in parsed.all("dd")]
    assert ", ".join(names) in told
    assert document.utility.efficiency is not None
    for line in document.utility.efficiency.lines:
        assert any(row.startswith(line.loss) for row in rows)


def test_a_worse_and_a_better_prediction_are_told_apart(documents: Documents) -> None:
    document = documents["everything"]
    tasks = document.utility.tasks
    (task,) = tasks.classification
    accuracy, area = task.rows
    rows = [replace(accuracy, loss=0.9, chance=0.1), replace(area, loss=-0.9, chance=0.1)]
    changed = replace(tasks, classification=[replace(task, rows=rows)])
    utility = replace(document.utility, tasks=changed)
    words = [
        cell["text"] for cell in Page(assessment_html(replace(document, utility=utility))).all("td")
    ]
    assert "worse" in words
    assert "better" in words


def test_changes_of_pairs_are_coloured_by_their_own_limits(documents: Documents) -> None:
    document = documents["less"]
    for limit, kind in ((0.5, "same"), (0.05, "u3")):
        pairs = replace(
            document.utility.pairs,
            names=["a", "b"],
            difference=[[None, 0.4], [0.4, None]],
            limit=[[None, limit], [limit, None]],
        )
        utility = replace(document.utility, pairs=pairs)
        assert f'class="heat {kind}"' in assessment_html(replace(document, utility=utility))


def test_remedies_follow_their_reason_in_the_internal_edition(documents: Documents) -> None:
    document = documents["copy"]
    first, *others = document.reasons
    advised = replace(first, remedies=["icsa anonymize FILE --mask redraw", "drop a column"])
    changed = replace(document, reasons=[advised, *others])
    parsed = Page(assessment_html(changed))
    items = [item["text"] for item in parsed.all("li")]
    assert any(
        first.says in item and item.index(first.says) < item.index("--mask redraw")
        for item in items
        if "--mask redraw" in item and first.says in item
    )
    assert "--mask redraw" not in assessment_html(replace(changed, edition="public"))


def test_every_column_is_drawn_once_for_both_tables(documents: Documents) -> None:
    for name in ("everything", "public"):
        document = documents[name]
        drawn = [column for column in document.utility.columns if column.bars]
        assert drawn
        text = assessment_html(document)
        assert text.count('class="overlay"') == len(drawn)
        assert text.count('class="bars original"') == text.count('class="bars released"')


def test_the_caption_does_not_call_marks_copies_that_are_not(documents: Documents) -> None:
    told = seen(documents["copy"])
    assert "are exact copies" not in told
    assert "an exact copy lies near the edge instead" in told


def test_a_policy_of_ones_own_is_said_on_the_first_screen(documents: Documents) -> None:
    assert "thresholds of its own, below" in seen(documents["everything"])
    assert "the usual thresholds of icsa, below" in seen(documents["copy"])
