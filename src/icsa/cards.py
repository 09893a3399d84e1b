"""What notebooks show: a heading, sentences and a table, with every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["card"]

_MOST_ROWS = 200


def card(
    heading: str,
    sentences: Sequence[str] = (),
    *,
    headings: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
) -> str:
    """Return HTML that a notebook shows for an object; it fetches nothing and has no style.

    Parameters
    ----------
    heading : str
    sentences : sequence of str
        Each a paragraph.
    headings, rows : sequences
        Of a table; at most 200 rows are shown, and how many more there are.

    Examples
    --------
    >>> card("A <table>", ["It is small."])
    '<div class="icsa"><p><strong>A &lt;table&gt;</strong></p><p>It is small.</p></div>'
    """
    parts = [f"<p><strong>{escape(heading)}</strong></p>"]
    parts += [f"<p>{escape(sentence)}</p>" for sentence in sentences]
    if rows:
        parts.append(f"<table><thead>{_row('th', headings)}</thead><tbody>")
        parts += [_row("td", row) for row in rows[:_MOST_ROWS]]
        parts.append("</tbody></table>")
    if len(rows) > _MOST_ROWS:
        parts.append(f"<p>… and {len(rows) - _MOST_ROWS:,} more.</p>")
    return f'<div class="icsa">{"".join(parts)}</div>'


def _row(tag: str, cells: Sequence[object]) -> str:
    inside = "".join(
        f'<{tag} style="text-align:left">{escape(str(cell))}</{tag}>' for cell in cells
    )
    return f"<tr>{inside}</tr>"
