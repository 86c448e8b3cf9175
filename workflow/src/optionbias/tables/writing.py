"""Write a table as CSV for machines and as Markdown, LaTeX and HTML for people."""

import html as escaping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from optionbias.atomic import write_text

MARKDOWN_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "\\|_*`<>#[]~$"} | {"\n": " "}
)
LATEX_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": r"\ensuremath{-}",
        "≥": r"\ensuremath{\geq}",
        "≤": r"\ensuremath{\leq}",
        "×": r"\ensuremath{\times}",
        "±": r"\ensuremath{\pm}",
        "†": r"\textdagger{}",
        "‡": r"\textdaggerdbl{}",
        "§": r"\textsection{}",
        "¶": r"\textparagraph{}",
        "·": r"\ensuremath{\cdot}",
        "≈": r"\ensuremath{\approx}",
        "→": r"\ensuremath{\rightarrow}",
        "‖": r"\ensuremath{\Vert}",
        "Δ": r"\ensuremath{\Delta}",
        "Σ": r"\ensuremath{\Sigma}",
        "²": r"\ensuremath{^2}",
        "½": r"\ensuremath{\frac{1}{2}}",
        "–": "--",
        "“": "``",
        "”": "''",
        "\n": " ",
    }
)
HTML_STYLE = (
    "body{font:14px sans-serif;margin:1em}h1{font-size:1.2em}h2{font-size:1em}"
    "table{border-collapse:collapse}th,td{padding:.2em .6em;text-align:left;white-space:nowrap}"
    "thead{border-top:2px solid;border-bottom:1px solid}tbody{border-bottom:2px solid}"
)
LATEX_HEADER = "% Needs \\usepackage{booktabs,longtable} and UTF-8 input.\n"


@dataclass(frozen=True)
class Part:
    """A part of a table as people read it: all cells are text already.

    Attributes:
        title: what the part holds; empty where the table has only one part.
        columns: the text frame; its column names are the headings.
        empty: what is said instead if there is no row.
    """

    title: str
    columns: pl.DataFrame
    empty: str = "No rows."


@dataclass(frozen=True)
class Table:
    """A table: its numbers for machines, and its parts, caption and notes for people.

    Attributes:
        data: scalar columns only, every digit kept.
        parts: what is read, in sequence.
        caption: one sentence.
        notes: what N, intervals and marks mean.
    """

    data: pl.DataFrame
    parts: Sequence[Part]
    caption: str
    notes: Sequence[str]


def write_table(table: Table, stem_path: Path) -> list[Path]:
    """Write ``<stem_path>.csv``, ``.md``, ``.tex`` and ``.html`` and return the four paths.

    The same table gives the same bytes. Each file is written under a temporary name
    and then renamed. CSV: comma, UTF-8, ``\\n``, shortest text that reads back as the
    same number, null empty.

    Raises:
        ValueError: ``table.data`` has a column of lists.
    """
    nested = [name for name, kind in table.data.schema.items() if kind.is_nested()]
    if nested:
        raise ValueError(f"a CSV holds no lists; leave out the columns {', '.join(nested)}")
    texts = {
        "csv": table.data.write_csv(line_terminator="\n"),
        "md": markdown(table),
        "tex": latex(table),
        "html": html(table),
    }
    paths = {suffix: stem_path.with_name(f"{stem_path.name}.{suffix}") for suffix in texts}
    for suffix, text in texts.items():
        write_text(paths[suffix], text)
    return list(paths.values())


def markdown(table: Table) -> str:
    """Return the table in GitHub's Markdown, special characters escaped."""
    blocks = [f"**{_escape_markdown(table.caption)}**"]
    for part in table.parts:
        if part.title:
            blocks.append(f"**{_escape_markdown(part.title)}**")
        blocks.append(_markdown_rows(part) if part.columns.height else _escape_markdown(part.empty))
    blocks.append("\n".join(f"- {_escape_markdown(note)}" for note in table.notes))
    return "\n\n".join(block for block in blocks if block) + "\n"


def latex(table: Table) -> str:
    """Return the table as LaTeX: one booktabs longtable a part, special characters escaped."""
    caption = f"\\noindent\\textbf{{{_escape_latex(table.caption)}}}\n"
    parts = [_latex_part(part) for part in table.parts]
    notes = [f"\\par\\noindent {_escape_latex(note)}\n" for note in table.notes]
    body = "\n".join([caption, *parts, *notes])
    return f"{LATEX_HEADER}{{\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n{body}}}\n"


def html(table: Table) -> str:
    """Return the table as one HTML page without scripts, special characters escaped."""
    caption = escaping.escape(table.caption)
    notes = "".join(f"<li>{escaping.escape(note)}</li>\n" for note in table.notes)
    body = "\n".join(_html_part(part) for part in table.parts)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{caption}</title>\n'
        f"<style>{HTML_STYLE}</style></head>\n<body>\n<h1>{caption}</h1>\n{body}\n"
        f"<ul>\n{notes}</ul>\n</body>\n</html>\n"
    )


def _html_part(part: Part) -> str:
    title = f"<h2>{escaping.escape(part.title)}</h2>\n" if part.title else ""
    if not part.columns.height:
        return f"{title}<p>{escaping.escape(part.empty)}</p>"
    heading = _html_row(part.columns.columns, "th")
    rows = "\n".join(_html_row(row, "td") for row in part.columns.iter_rows())
    return f"{title}<table>\n<thead>{heading}</thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _html_row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaping.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _markdown_rows(part: Part) -> str:
    rows = [part.columns.columns, *map(list, part.columns.iter_rows())]
    lines = ["| " + " | ".join(map(_escape_markdown, row)) + " |" for row in rows]
    rule = "|" + " --- |" * part.columns.width
    return "\n".join([lines[0], rule, *lines[1:]])


def _latex_part(part: Part) -> str:
    title = (
        f"\\par\\medskip\\noindent\\textit{{{_escape_latex(part.title)}}}\n" if part.title else ""
    )
    if not part.columns.height:
        return f"{title}\\par\\noindent {_escape_latex(part.empty)}\n"
    heading = _latex_row(part.columns.columns)
    rows = "\n".join(_latex_row(row) for row in part.columns.iter_rows())
    return (
        f"{title}\\begin{{longtable}}{{{'l' * part.columns.width}}}\n"
        f"\\toprule\n{heading}\n\\midrule\n\\endhead\n"
        f"\\bottomrule\n\\endfoot\n{rows}\n\\end{{longtable}}\n"
    )


def _latex_row(cells: Sequence[str]) -> str:
    # Braces keep a cell that begins with "[" from being read as an option of the row's end.
    return " & ".join(f"{{{_escape_latex(cell)}}}" for cell in cells) + r" \\"


def _escape_markdown(text: str) -> str:
    return text.translate(MARKDOWN_ESCAPES)


def _escape_latex(text: str) -> str:
    return text.translate(LATEX_ESCAPES)
