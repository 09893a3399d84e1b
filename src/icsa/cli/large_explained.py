"""``icsa anonymize --explain``: the passes over a table that does not fit, and their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icsa.release.blocks.explained_passes import Ways
    from icsa.release.blocks.ground import Resources
    from icsa.release.blocks.text_tables import TextTable
    from icsa.tables.stored import StoredTable

__all__ = ["print_explanation"]


def print_explanation(
    table: StoredTable | TextTable,
    resources: Resources,
    ways: Ways,
    following: str,
    *,
    by_itself: bool,
) -> None:
    """Print the passes and their sizes, and what follows them.

    Of a text file they are those of one that has no line ends in cells. `by_itself` is whether
    nobody asked for a method.
    """
    from rich.table import Table as Grid

    from icsa.cli.console import console, print_line
    from icsa.release.blocks.explained_passes import explained
    from icsa.release.blocks.ground import memory_of_a_column
    from icsa.release.blocks.large_runs import rows_of_a_block
    from icsa.release.blocks.text_tables import TextTable

    is_text = isinstance(table, TextTable)
    about = "about " if isinstance(table, TextTable) and table.file.quoted else ""
    n_rows, n_columns = table.n_rows, len(table.names)
    block_rows = rows_of_a_block(n_rows, n_columns, resources, of_units=ways.of_units)
    n_bytes, show = 8 * n_rows * n_columns, console()
    room = (1 + ways.of_units) * memory_of_a_column(n_rows)
    at_a_time = resources.columns_at_a_time(n_rows, of_units=ways.of_units)
    fewer = f", {at_a_time} at a time" if at_a_time < resources.workers else ""
    print_line(
        show,
        f"{about}{n_rows:,} rows, {n_columns:,} columns in {len(table.parts):,} file(s): "
        f"{n_bytes / 1e9:.3g} GB as numbers. Blocks of {block_rows:,} rows; a task on "
        f"a column takes up to {room / 1e9:.3g} GB{fewer}; scratch up to "
        f"{ways.scratch_tables * n_bytes / 1e9:.3g} GB in {resources.scratch.resolve()}; "
        "a column of levels takes as much as a column for each level but one.",
    )
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    for heading in ("pass", "tasks", "what it does", "GB read", "GB written"):
        grid.add_column(heading, justify="right" if heading.startswith("GB") else "left")
    size = n_rows, n_columns, block_rows
    for row in explained(*size, is_text=is_text, ways=ways):
        grid.add_row(*row)
    show.print(grid)
    on_two_levels = ways.of_units and not ways.side_by_side
    if by_itself and not on_two_levels and not ways.of_strata:
        print_line(  # measured on 10,000,000 rows and 20 columns of numbers
            show,
            "Where curves are strong, columns are drawn one after the other by forests instead of "
            "masked (--method auto), which takes some seven times as long.",
        )
    if on_two_levels and not ways.of_strata:
        print_line(
            show,
            "Where all units have rows at the same few times, these are released side by side, by "
            "the passes of one row a unit. Where a table with a row for each unit does not fit, "
            "masking units is those passes, too.",
        )
    if following:
        print_line(show, following)
