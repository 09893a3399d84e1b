"""The third step: how the release is made, in words; the work, and what is at hand of it."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from time import monotonic

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from icsa.app.command_lines import anonymize_line, compare_line, schema_name
from icsa.app.forms import Form
from icsa.app.project import Project, Tried
from icsa.app.site import Site, to
from icsa.app.workshop import Work, run_command
from icsa.errors import InputError
from icsa.files import write_text_atomically

__all__ = [
    "ASSESSMENT",
    "METHODS",
    "RECIPES",
    "cancel_work",
    "progress",
    "show_release",
    "show_work",
    "start_release",
    "with_original",
]

ASSESSMENT = "assessment.json"
# The first of each is what a release has if nothing is said.
RECIPES = {
    "mixed": (
        "Usual",
        "Every column by its kind; its spread, the levels and how columns go together are kept.",
    ),
    "topcode": (
        "Stricter at the ends",
        "As usual, and the largest and smallest values are cut: for tables with people far out.",
    ),
    "paper": (
        "As published",
        "Shuffled on the plain scale, for studies of the method. People who stand out can be put "
        "together again: not for handing out.",
    ),
}
METHODS = {
    "icsa": ("Robust", "Coordinates that people who stand out cannot steer."),
    "sa": ("Spectral", "Principal components; people who stand out steer them."),
    "forest": (
        "Forests",
        "Keeps curves and interactions between columns; hides people somewhat less well.",
    ),
}
THOROUGH = {
    "fully": (
        "Fully",
        "Random halves of the people are released too, and other keys are tried: a minute or more.",
    ),
    "quickly": (
        "A quick look",
        "Neither of these: seconds. To see what a choice does, before the release that counts.",
    ),
}
_QUICKLY = ("--rehearse", "0", "--redraws", "1")
MASKS = {
    "": ("As the recipe has it", "The usual recipe draws coordinates anew."),
    "redraw": ("Drawn anew", "From groups of eight people or more."),
    "permute": ("Shuffled", "Each coordinate keeps its values, in another order."),
    "rotate": ("Turned", "Coordinates are turned by chance."),
    "flip": ("Signs", "Signs are changed by chance."),
}


async def show_release(site: Site, _request: Request) -> Response:
    """Show how the next release will be made, and those that were."""
    project = site.project
    if not project.is_open:
        return to("file")
    name = project.found["release_name"]
    line = anonymize_line(project.file, _of_release(project.choices), name, *_reports(project))
    return site.page(
        "release",
        recipes=RECIPES,
        methods=METHODS,
        masks=MASKS,
        thorough=THOROUGH,
        comparing=_comparing(project),
        line=line,
    )


async def start_release(site: Site, _request: Request, form: Form) -> Response:
    """Make a release, and assess it."""
    project = site.project
    if not project.is_open:
        raise InputError("There is no table yet. Choose a file first.")
    project.choices = _chosen(form)
    if form.one("do") == "choose":  # only the command that is shown changes
        project.save()
        return to("release")
    if project.problem:
        raise InputError(f"The schema is not in order yet: {project.problem}")
    await site.workshop.begin(
        Work(title="Making a release", back="release", then="look", parts=2),
        lambda work: _make(site, work),
        0.2,
    )
    return to("working")


def _comparing(project: Project) -> list[str] | None:
    """Return the command that compares, where this icsa has it."""
    if importlib.util.find_spec("icsa.cli.compare") is None:
        return None
    minutes = project.advice.get("minutes", "5")
    return compare_line(project.file, "--budget", minutes, "--report", "comparison.html")


def _chosen(form: Form) -> dict[str, str]:
    """Return what differs from the usual among the choices of a form."""
    known = {"recipe": RECIPES, "method": METHODS, "mask": MASKS, "assessed": THOROUGH}
    found = {}
    for key, choices in known.items():
        given = form.one(key)
        if given and given not in choices:
            raise InputError(f"There is no {key} of that name. Choose one of those that are shown.")
        if given and given != next(iter(choices)):
            found[key] = given
    scatters = form.one("scatters")
    if re.fullmatch(r"[a-z0-9]+,[a-z0-9]+", scatters) and "method" not in found:
        found["scatters"] = scatters
    if found.get("method") == "forest":  # which has nothing to mask
        found.pop("mask", None)
    return found


async def _make(site: Site, work: Work) -> None:
    """Run the commands, in a folder of the release's own; nothing of it is left if they fail."""
    project = site.project
    number, folder = project.new_folder()
    tried = Tried(number, dict(project.choices), project.text, project.found["release_name"])
    started = monotonic()
    try:
        with_original(project, folder)
        (folder / schema_name(project.file)).write_text(project.text, encoding="utf-8")
        choices = _of_release(tried.choices)
        line = anonymize_line(project.file, choices, tried.file, "--quiet")
        quickly = _QUICKLY if "assessed" in tried.choices else ()
        await run_command(work, [*line, "--assessment", ASSESSMENT, *quickly], folder)
        if work.state != "running":
            raise InputError("cancelled")
        tried.seconds = monotonic() - started
        await _finish(site, tried, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        _without_original(project, folder)


async def _finish(site: Site, tried: Tried, folder: Path) -> None:
    """Note what came out, and write the reports."""
    project = site.project
    document = str(folder / ASSESSMENT)
    seen = await site.desk.ask("look", document=document)
    tried.word, tried.loss = seen["word"], seen["loss"]
    tried.beyond = seen["beyond_chance"]
    tried.exposed = sum(s["n"] or 0 for s in seen["people"]["statuses"] if s["name"] != "hidden")
    if project.folder is not None:
        for edition, name in (("internal", "confidential.html"), ("public", "public.html")):
            page = (await site.desk.ask("report", document=document, edition=edition))["page"]
            write_text_atomically(folder / name, page)
    for path in folder.iterdir():
        if not path.is_symlink():
            path.chmod(0o600)
    project.tried.append(tried)
    project.save()


def with_original(project: Project, folder: Path) -> None:
    """Have an upload stand in a release's folder under its name, as long as commands run there."""
    if project.file.get("uploaded"):
        there = folder / project.file["name"]
        try:
            there.symlink_to(project.file["path"])
        except OSError:  # a system that has no links
            shutil.copy(project.file["path"], there)


def _without_original(project: Project, folder: Path) -> None:
    if project.file.get("uploaded"):
        (folder / project.file["name"]).unlink(missing_ok=True)


def _reports(project: Project) -> list[str]:
    quickly = _QUICKLY if "assessed" in project.choices else ()
    return ["--report", "confidential.html", "--public-report", "public.html", *quickly]


def _of_release(choices: dict[str, str]) -> dict[str, str]:
    """Return the choices that are options of a release."""
    return {key: value for key, value in choices.items() if key != "assessed"}


async def show_work(site: Site, _request: Request) -> Response:
    """Show how far the work is; when it is over, what came of it."""
    work = site.workshop.work
    if work is None:
        return to("file")
    if work.state == "running":
        return site.page("working", told=work.as_dict())
    if work.state == "done":
        return to(work.then)
    cancelled = "Cancelled. Nothing was written."
    return site.back_to(work.back, work.sentence if work.state == "refused" else cancelled)


async def progress(site: Site, _request: Request) -> Response:
    """Give how far the work is, for the page's script."""
    work = site.workshop.work
    return JSONResponse({"state": "none"} if work is None else work.as_dict())


async def cancel_work(site: Site, _request: Request, _form: Form) -> Response:
    """End the work at once; the next page says that nothing was written."""
    await site.workshop.end()
    return to("working" if site.workshop.work is not None else "file")
