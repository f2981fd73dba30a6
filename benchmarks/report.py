"""The tables of ``docs/benchmarks.md`` and of the pages in `PAGES`, made from the JSON in ``results/``, so that
no figure is typed.

``python -m benchmarks.report`` rewrites them; ``--check`` only says (exit code 1) whether they are up to date.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from benchmarks import (
    report_freeform,
    report_frozen,
    report_lattice,
    report_loss,
    report_query,
    report_roads,
    report_speed,
    report_summary,
)
from benchmarks.papers import report_divergence, report_doka, report_ghinita, report_goldberger, report_xiao
from benchmarks.record import RESULTS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs" / "benchmarks.md"
Sections = Mapping[str, Callable[[Path], str]]
SECTIONS: Sections = {
    **report_summary.SECTIONS,
    **report_query.SECTIONS,
    **report_speed.SECTIONS,
    **report_loss.SECTIONS,
    **report_frozen.SECTIONS,
    "ghinita": report_ghinita.everything,
    "kld": report_divergence.kld,
    "lefevre17": report_divergence.figure17,
}
PAGES: Mapping[Path, Sections] = {
    DOCS: SECTIONS,
    ROOT / "docs" / "ghinita2009.md": {**report_ghinita.SECTIONS, **report_divergence.SECTIONS},
    ROOT / "docs" / "query.md": report_query.PAGE,
    ROOT / "docs" / "engines.md": {"texts": report_speed.texts},
    ROOT / "docs" / "xiao2010.md": report_xiao.SECTIONS,
    ROOT / "docs" / "doka2015.md": report_doka.SECTIONS,
    ROOT / "docs" / "freeform.md": report_freeform.SECTIONS,
    ROOT / "docs" / "fulldomain.md": report_lattice.SECTIONS,
    ROOT / "docs" / "koptimize.md": report_lattice.CUTS,
    ROOT / "docs" / "clustering.md": {
        "clusters": report_loss.clusters,
        "clusters slow": partial(report_loss.clusters, name="clusters_slow"),
    },
    ROOT / "docs" / "scale.md": report_roads.SECTIONS,
    ROOT / "docs" / "goldberger2010.md": report_goldberger.SECTIONS,
}


def render(text: str, folder: Path, sections: Sections = SECTIONS) -> str:
    """The document with every ``<!-- figures: NAME -->`` section made anew."""
    for name, section in sections.items():
        opening, closing = f"<!-- figures: {name} -->\n", "<!-- end -->"
        before, rest = text.split(opening, 1)
        text = f"{before}{opening}{section(folder) or 'Not measured yet.'}\n{closing}{rest.split(closing, 1)[1]}"
    return text


def main(words: list[str] | None = None) -> int:
    """Rewrite or check the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(words)
    old = []
    for page, sections in PAGES.items():
        text = page.read_text()
        made = render(text, RESULTS, sections)
        if made != text:
            old.append(page.name)
            if not args.check:
                page.write_text(made)
    if args.check:
        print(f"older than the results: {', '.join(old)}: python -m benchmarks.report" if old else "up to date")
        return int(bool(old))
    return 0


if __name__ == "__main__":
    sys.exit(main())
