"""A report as HTML or Markdown, by templates.

The same report gives the same bytes, without time or place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sqlanon.report import pictures
from sqlanon.report.document import Page, Picture
from sqlanon.results.figures import clean

Form = Literal["html", "md"]


def write_page(page: Page, form: Form = "html") -> str:
    """The text of a report's file.

    Args:
        page: the report.
        form: ``html``: one file that needs no other; ``md``: Markdown, tables without pictures.
    """
    html = form == "html"
    environment = Environment(
        loader=PackageLoader("sqlanon.report"),
        autoescape=True,  # in Markdown it is `_make_filter` that escapes, and what it made is left as it is
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_make_filter(html),
    )
    numbers = iter(range(1, 1_000_000))
    environment.filters["svg"] = partial(_draw, numbers)
    return environment.get_template(f"page.{form}").render(page=page)


def _draw(numbers: Iterator[int], picture: Picture) -> Markup:
    svg = pictures.write_svg(picture.drawing, clean(picture.title), clean(picture.text), next(numbers))
    return Markup(svg)  # noqa: S704 - each label is escaped where it is drawn, title and text by `pictures.write_svg`


def _make_filter(html: bool) -> Callable[[object], object]:
    """Filter of every value.

    It removes characters that cannot be printed, and escapes Markdown's markup in Markdown.
    """

    def finish(value: object) -> object:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return clean(value) if html else Markup(_escape_markdown(clean(value)))  # noqa: S704

    return finish


def _escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> _escape_markdown("<b> *a* | www.b.c a@b")
    '&lt;b&gt; \\*a\\* \\| www&#46;b.c a&#64;b'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]|~#!$])", r"\\\1", text)
    # What hosts make a link of, or a mention.
    text = re.sub(r"(?i)\b(www)\.", r"\1&#46;", text)
    return text.replace("@", "&#64;").replace("://", "&#58;//")
