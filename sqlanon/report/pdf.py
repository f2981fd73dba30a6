"""A page as PDF, printed by a browser of the system."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from sqlanon.errors import UnsupportedError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 300


def print_page(html: str) -> bytes:
    """The PDF of a page that needs no other file.

    Args:
        html: the page, as `sqlanon.report.page.write_page` writes it.

    Raises:
        UnsupportedError: there is no browser that prints, or it failed.

    Cost: a browser's start, about a second.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise UnsupportedError(
            f"a PDF is printed by Chromium or Chrome ({', '.join(BROWSERS)}), and none is installed; write HTML and "
            "print "
            "that"
        )
    with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder:
        source, target = Path(folder) / "page.html", Path(folder) / "page.pdf"
        source.write_text(html, encoding="utf-8")
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-pdf-header-footer",
            f"--user-data-dir={folder}/own",
        ]
        words = [browser, *options, f"--print-to-pdf={target}", source.as_uri()]
        try:
            subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603 - no shell
        except (OSError, subprocess.SubprocessError) as error:
            raise UnsupportedError(f"{browser} printed no PDF: {type(error).__name__}") from None
        if not target.is_file() or not target.stat().st_size:
            raise UnsupportedError(f"{browser} printed no PDF; write HTML and print that")
        return target.read_bytes()
