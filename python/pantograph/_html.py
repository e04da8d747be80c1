"""HTML for notebooks: small tables without a style of their own."""

from __future__ import annotations

import html
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str | float]]) -> str:
    """A table with one heading line; nothing where there are no rows."""
    if not rows:
        return ""
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def section(title: str, *parts: str) -> str:
    """Parts side by side, as far as the page is wide, below a title."""
    inner = "".join(f"<div>{part}</div>" for part in parts if part)
    style = "display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start"
    return f'<div><b>{html.escape(title)}</b><div style="{style}">{inner}</div></div>'


def text(message: str) -> str:
    """Lines as they are."""
    return f"<pre>{html.escape(message)}</pre>"


def frame(page: str) -> str:
    """A whole page inside this one."""
    style = "width:100%;height:600px;border:0"
    return f'<iframe srcdoc="{html.escape(page)}" style="{style}"></iframe>'


def _row(kind: str, cells: Sequence[str | float]) -> str:
    texts = (cell if isinstance(cell, str) else f"{cell:.6g}" for cell in cells)
    return f"<tr>{''.join(f'<{kind}>{html.escape(text)}</{kind}>' for text in texts)}</tr>"
