"""The directive ``rooms``: a picture of the packages, a floor a line, and of a way through them.

A floor is a line of rooms, separated by ``|``; a room is its name, a colon and what it is for. The
option ``way`` names rooms in the order in which something passes through them.
"""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.application import Sphinx


class Rooms(Directive):
    has_content = True
    option_spec = {"way": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        floors = [floor.split("|") for floor in self.content if floor.strip()]
        way = [stop.strip() for stop in self.options.get("way", "").split(">")]
        drawn = "".join(
            f'<div class="floor">{"".join(_room(room, way) for room in rooms)}</div>'
            for rooms in floors
        )
        return [nodes.raw("", f'<div class="rooms">{drawn}</div>', format="html")]


def _room(room: str, way: list[str]) -> str:
    name, _, purpose = (part.strip() for part in room.partition(":"))
    stops = "".join(f'<b class="stop">{i}</b>' for i, stop in enumerate(way, 1) if stop == name)
    return f'<div class="room">{stops}<code>{escape(name)}</code> {escape(purpose)}</div>'


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("rooms", Rooms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
