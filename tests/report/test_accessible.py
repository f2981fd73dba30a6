"""Pages in a browser: axe-core finds nothing to object to, in light and in dark, and nothing is wider than a telephone.

It needs Chromium, and is skipped without; `SQLANON_REQUIRE=chromium` makes that a failure.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.engines import PAIR
from tests.report.pages import released
from tests.report.test_page import hostile

pytestmark = pytest.mark.thorough
WIDTH = 380
SCHEMES = {"dark": 0, "light": 1}
SCRIPT = """
<script src="axe.min.js"></script>
<script>
const page = document.documentElement.outerHTML.replace(/<script[^]*?<\\/script>/g, "");
window.addEventListener("load", async () => {
  const found = await axe.run(document);
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const narrow = document.createElement("iframe");
  narrow.style.width = "WIDTHpx";
  narrow.style.border = "0";
  narrow.addEventListener("load", () => {
    const result = document.createElement("pre");
    result.id = "result";
    result.textContent = JSON.stringify({
      dark, width: narrow.contentDocument.documentElement.scrollWidth, passed: found.passes.length,
      violations: found.violations.map(one => [one.id, one.help, one.nodes.map(node => node.html).slice(0, 3)]),
    });
    document.body.append(result);
  });
  narrow.srcdoc = page;
  document.body.append(narrow);
});
</script>
""".replace("WIDTH", str(WIDTH))


def dom(page: Path, scheme: int) -> str:
    """The page as a browser has it after its scripts ran; "" where the browser does not work here."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        return ""
    words = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--disable-extensions",
        "--virtual-time-budget=60000",
        f"--user-data-dir={page.parent / 'browser'}",
        f"--blink-settings=preferredColorScheme={scheme}",
        "--dump-dom",
        page.as_uri(),
    ]
    try:
        ended = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return ended.stdout


@cache
def _works(folder: Path) -> bool:
    page = folder / "works.html"
    page.write_text("<!DOCTYPE html><p id=p></p><script>document.getElementById('p').append('it ' + 'works')</script>")
    return "it works" in dom(page, 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pages are looked at, with axe-core."""
    made = tmp_path_factory.mktemp("pages")
    if not _works(made):
        required = "chromium" in os.environ.get("SQLANON_REQUIRE", "").split(",")
        (pytest.fail if required else pytest.skip)("no Chromium that works here: apt-get install chromium")
    spec = find_spec("axe_core_python")
    assert spec is not None
    assert spec.origin is not None
    shutil.copy(Path(spec.origin).with_name("axe.min.js"), made)
    return made


def looked_at(folder: Path, text: str, scheme: str) -> dict[str, Any]:
    """What the browser measures of a page."""
    open_to_scripts = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    page = folder / "page.html"
    page.write_text(open_to_scripts.replace("</body>", f"{SCRIPT}</body>"), encoding="utf-8")
    found = re.search(r'<pre id="result">(.*?)</pre>', dom(page, SCHEMES[scheme]), re.DOTALL)
    assert found, "the browser gave no result"
    measured: dict[str, Any] = json.loads(html.unescape(found[1]))
    assert measured["dark"] == (scheme == "dark")
    assert measured["passed"] > 10
    return measured


@pytest.fixture(scope="module")
def pages(folder: Path, connect_module: Any) -> dict[str, str]:
    """Reports of every kind."""
    from sqlanon.report.page import write_page

    db = connect_module(PAIR[0])
    name = released(db, key="id")
    workload = folder / "workload.yml"
    workload.write_text(
        f"version: 1\nqueries:\n  - {{name: by illness, sql: 'select ill, count(*) as n from {name} group by ill'}}\n"
        "generators: [{kind: datacube, level: 1}]\n"
    )
    return {
        "owner": db.report(name, workload=workload),
        "readers": db.report(name, audience="readers"),
        "frame": db.report(name, frame="iso27559", attack=True),
        "hostile": write_page(hostile()),
    }


@pytest.mark.parametrize(
    ("which", "scheme"),
    [
        ("owner", "light"),
        ("owner", "dark"),
        ("readers", "dark"),
        ("hostile", "light"),
        ("frame", "light"),
        ("frame", "dark"),
    ],
)
def test_nothing_to_object_to(folder: Path, pages: dict[str, str], which: str, scheme: str) -> None:
    measured = looked_at(folder, pages[which], scheme)
    assert measured["violations"] == []
    assert measured["width"] <= WIDTH
