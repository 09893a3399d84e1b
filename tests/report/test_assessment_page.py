"""The page of an assessment: whole, small, harmless, and in order."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from icsa.errors import InputError
from icsa.report import assessment_page
from icsa.report.assessment_page import MOST_BYTES, assessment_html, write_assessment_report
from icsa.report.glossary import ALIASES, GLOSSARY, anchor
from tests.report.fake_assessment import NAMES, fake_assessment

VOID = {"meta", "br", "link", "img", "input", "hr"}
CASES: dict[str, dict[str, Any]] = {
    "internal": {},
    "public": {"edition": "public"},
    "nobody": {"people": 0, "making": False, "redraws": False, "verdict": "release"},
    "nobody, public": {"edition": "public", "people": 0, "making": False},
    "many": {"people": 1000, "columns": 100, "verdict": "do not release", "trusted": False},
    "many, public": {"edition": "public", "people": 1000, "columns": 100},
    "one column": {"columns": 1, "people": 1},
}


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


@pytest.fixture(scope="module")
def pages() -> dict[str, tuple[str, Page]]:
    texts = {name: assessment_html(fake_assessment(**options)) for name, options in CASES.items()}
    return {name: (text, Page(text)) for name, text in texts.items()}


@pytest.fixture(params=CASES)
def page(request: pytest.FixtureRequest, pages: dict[str, tuple[str, Page]]) -> tuple[str, Page]:
    return pages[request.param]


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
        "What was done to the table",
        "People who stand out",
        "Privacy in numbers",
        "Utility at a glance",
        "Utility in detail",
        "What this assessment cannot see",
        "Glossary",
        "Policy used",
        "Versions",
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


def test_every_text_is_escaped() -> None:
    bad = "</title><script>x</script>\"'><b onload=x>"
    shown = _with_every_text(fake_assessment(), bad)
    parsed = Page(assessment_html(shown))
    assert len(parsed.all("script")) == 1
    assert not parsed.all("b")
    assert not any("onload" in element["attrs"] for element in parsed.elements)


def _with_every_text(value: Any, text: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _with_every_text(inner, text, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_with_every_text(inner, text) for inner in value]
    return text if isinstance(value, str) and key not in ("edition", "verdict") else value


@pytest.mark.parametrize("word", ["release", "look again", "do not release"])
def test_the_verdict_is_one_large_word_with_its_reasons(word: str) -> None:
    made = fake_assessment(verdict=word)
    parsed = Page(assessment_html(made))
    large = [e for e in parsed.all("p") if e["attrs"].get("class") == "word"]
    assert [e["text"] for e in large] == [word + word]  # the symbol's title, and the word
    listed = [element["text"] for element in parsed.all("li")]
    assert all(reason in listed for reason in made["reasons"])


def test_an_assessment_that_failed_its_own_test_says_so_first() -> None:
    made = fake_assessment(trusted=False)
    seen = Page(assessment_html(made)).visible()
    warning = seen.index("This assessment is not to be trusted on this table")
    assert warning < seen.index("look again")
    assert made["self_test"]["why"] in seen
    assert (
        "not to be trusted on this table" not in Page(assessment_html(fake_assessment())).visible()
    )


def test_kept_columns_and_a_seed_stand_out() -> None:
    parsed = Page(assessment_html(fake_assessment()))
    kept = [row["text"] for row in parsed.all("tr") if row["attrs"].get("class") == "kept"]
    assert len(kept) == 1
    assert "incomenumberKEPT" in kept[0]
    assert "Reproducible: not for release" in parsed.visible()
    made = fake_assessment()
    made["making"]["reproducible"] = False
    assert "Reproducible: not for release" not in assessment_html(made)


def test_only_the_internal_edition_is_confidential() -> None:
    assert assessment_html(fake_assessment()).count("CONFIDENTIAL") >= 3
    assert "CONFIDENTIAL" not in assessment_html(fake_assessment("public"))


def test_the_public_edition_shows_nobody_even_when_people_are_given() -> None:
    internal = fake_assessment("internal", people=30)
    leaking = internal | {"edition": "public", "reasons": []}
    text = assessment_html(leaking)
    for person in internal["people"]:
        assert str(person["row"]) not in text
        for cell in (*person["before"].values(), *person["after"].values()):
            assert f">{cell}<" not in text
    assert "passport" not in Page(text).visible()
    assert "principal components (" not in text
    assert 'class="clouds"' not in text


def test_the_passport_has_a_line_for_each_person_worst_first() -> None:
    made = fake_assessment(people=40)
    parsed = Page(assessment_html(made))
    lines = [r for r in parsed.all("tr") if "table" in r["parents"] and r["text"][:1].isdigit()]
    rows = [int(match[0]) for line in lines if (match := re.match(r"\d{5}", line["text"]))]
    assert sorted(rows) == [person["row"] for person in made["people"]]
    status = {person["row"]: person["status"] for person in made["people"]}
    order = ("replicated", "near", "at risk", "repeated in part", "near twin", "nothing found")
    ranks = [order.index(status[row]) for row in rows]
    assert ranks == sorted(ranks)


def test_long_lists_are_cut_and_counted() -> None:
    made = fake_assessment(people=100, columns=100)
    seen = Page(assessment_html(made)).visible()
    assert "and 70 more people without a side-by-side table here" in seen
    made["people"] = [person | {"row": k} for k, person in enumerate(made["people"] * 20)]
    assert "and 1,000 more people; the JSON has them all" in Page(assessment_html(made)).visible()


def test_lists_get_shorter_until_the_page_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    made = fake_assessment(people=300, columns=30)
    full = len(assessment_html(made).encode())
    monkeypatch.setattr(assessment_page, "MOST_BYTES", full * 2 // 3)
    assert len(assessment_html(made).encode()) < full * 2 // 3
    monkeypatch.setattr(assessment_page, "MOST_BYTES", 10_000)
    with pytest.raises(InputError, match="larger than 10,000 bytes even with the shortest lists"):
        assessment_html(made)


def test_what_is_not_estimable_says_why() -> None:
    seen = Page(assessment_html(fake_assessment(people=0))).visible()
    assert "not estimable: numeric cells are missing" in seen
    assert "not estimable: nobody stands out" in seen
    assert "not estimable: one cluster only" in seen
    assert "Not estimable: the release has no events." in seen
    assert "Nobody stands out by distance or isolation" in seen


def test_numbers_are_rounded_and_have_their_intervals() -> None:
    seen = Page(assessment_html(fake_assessment())).visible()
    assert "0.156 (0.091 to 0.221)" in seen
    assert "less than 0.001" in seen
    cells = [cell["text"] for cell in Page(assessment_html(fake_assessment())).all("td", "li")]
    digits = [re.findall(r"\d+\.(\d+)", cell) for cell in cells]
    assert max(len(found.lstrip("0")) for each in digits for found in each) <= 3


def test_every_measure_links_to_its_definition() -> None:
    made = fake_assessment()
    parsed = Page(assessment_html(made))
    links = {e["text"]: e["attrs"]["href"] for e in parsed.all("a") if e["text"]}
    assert links["DCR, 5% quantile"] == "#glossary-dcr"
    assert links["a measure <nobody> knows"] == "#glossary-brand-new"
    for measure in made["privacy"].values():
        assert measure["label"] in links
    terms = [element["text"] for element in parsed.all("dt")]
    assert len(terms) == len(set(terms))


def test_gaps_and_extremes_are_shown_in_words() -> None:
    made = fake_assessment(people=6)
    empty = dict.fromkeys(("p", "rho", "d_rel", "h", "attack", "robust_distance"))
    made["people"][0] |= empty | {"status": "something new", "before": {}, "after": {}}
    made["people"][1] |= {"rho": float("inf"), "d_org": 0.0, "status": "replicated"}
    picture = made["people_summary"]["picture"]
    picture[0] |= {"near": None}
    picture[1] |= {"alone": 0.0, "near": 0.0, "status": "something new"}
    made["utility"]["pairs"]["chance"] = None
    made["utility"]["columns"][0]["distance"] = {"name": "TV", "value": None, "reason": "no cells"}
    made["utility"]["columns"][3]["levels"] = [{"level": "a & b", "original": 0.5, "released": 1}]
    made["utility"]["models"][0]["rows"][0]["released"] = {"estimate": None}
    made["tables"]["only_released"] = [f"column {k}" for k in range(30)]
    seen = Page(assessment_html(made)).visible()
    assert "infinite" in seen
    assert "not estimable: no cells" in seen
    assert "a & b 0.500 → 1" in seen
    assert "column 19, and 10 more" in seen
    assert not re.search(r"\bNone\b|\binf\b|\bnan\b", seen)


@pytest.mark.parametrize("part", ["utility", "privacy", "tables", "people_summary", "policy"])
def test_a_part_may_be_empty(part: str) -> None:
    made = fake_assessment() | {part: None}
    assert not Page(assessment_html(made)).unbalanced


def test_glossary_entries_are_whole() -> None:
    assert set(ALIASES.values()) <= set(GLOSSARY)
    assert len({anchor(key) for key in GLOSSARY}) == len(GLOSSARY)
    for term in GLOSSARY.values():
        assert term.definition.endswith(".")
        if term.direction:
            assert term.formula


def test_unicode_names_are_shown_as_they_are() -> None:
    seen = Page(assessment_html(fake_assessment())).visible()
    assert all(name in seen for name in NAMES)


def test_a_table_from_json_gives_the_same_page() -> None:
    made = fake_assessment()
    assert assessment_html(json.loads(json.dumps(made))) == assessment_html(made)


@pytest.mark.parametrize(
    ("key", "value"), [("edition", "secret"), ("verdict", "fine"), ("schema_version", 2)]
)
def test_another_form_is_an_error(key: str, value: object) -> None:
    with pytest.raises(InputError, match=f"'{key}' must be one of"):
        assessment_html(fake_assessment() | {key: value})


def test_a_file_is_replaced_only_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_assessment_report(fake_assessment("public", people=3), path)
    first = path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is there already"):
        write_assessment_report(fake_assessment(), path)
    assert path.read_text(encoding="utf-8") == first
    write_assessment_report(fake_assessment(people=3), path, force=True)
    assert "CONFIDENTIAL" in path.read_text(encoding="utf-8")
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(InputError, match="There is no folder"):
        write_assessment_report(fake_assessment(), tmp_path / "none" / "report.html")


def test_tasks_are_shown_beside_their_yardsticks() -> None:
    made = fake_assessment(columns=7)
    parsed = Page(assessment_html(made))
    terms = {
        dt["text"]: dd["text"] for dt, dd in zip(parsed.all("dt"), parsed.all("dd"), strict=True)
    }
    assert terms["on both"] == "age, smoker"
    assert terms["on the original only"] == "blood pressure, 体重"
    assert terms["on the release only"] == "Körpergröße"
    rows = [row["text"] for row in parsed.all("tr")]
    assert "recall0.6670.712lower is safer" in rows
    assert any(row.startswith("accuracy0.5230.812 (0.780 to 0.840)") for row in rows)
    assert "mean distance0.02100.03401.23 (this)1.23 (this)" in rows
    assert any(row.startswith("1 − recall, smoker0–not estimable") for row in rows)


def test_a_worse_and_a_better_prediction_are_told_apart() -> None:
    made = fake_assessment()
    accuracy, area = made["utility"]["tasks"]["classification"][0]["rows"]
    made["utility"]["tasks"]["classification"][0]["rows"] = [
        accuracy | {"loss": 0.2},
        area | {"loss": -0.2},
    ]
    words = [cell["text"] for cell in Page(assessment_html(made)).all("td")]
    assert "worse" in words
    assert "better" in words


def test_changes_of_pairs_are_coloured_by_their_own_limits() -> None:
    made = fake_assessment(columns=2)
    pairs = made["utility"]["pairs"]
    pairs["difference"] = [[None, 0.4], [0.4, None]]
    pairs["limit"] = [[None, 0.5], [0.5, None]]
    assert 'class="heat same"' in assessment_html(made)
    pairs["limit"] = [[None, 0.05], [0.05, None]]
    assert 'class="heat u3"' in assessment_html(made)
