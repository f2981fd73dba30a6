"""MkDocs hook: links of the documentation that lead outside ``docs/``.

Pictures are copied into the site; other files become links into the repository. A file that does not exist is a
warning, which fails the build.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

log = logging.getLogger("mkdocs.hooks.outside_links")
LINK = re.compile(r"(?<=\]\()(\.\./[^)\s#]+)(#[^)\s]*)?(?=\))")
PICTURES = (".png", ".svg", ".jpg")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Rewrite the links of one page."""
    root = Path(config.config_file_path).parent

    def replaced(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), match[1]))
        if not (root / path).exists():
            log.warning("%s links to %s, which does not exist", page.file.src_uri, path)
        if not path.endswith(PICTURES):
            return f"{config.repo_url.rstrip('/')}/blob/main/{path}{match[2] or ''}"
        target = f"pictures/{posixpath.basename(path)}"
        if files.get_file_from_path(target) is None:
            files.append(File.generated(config, target, abs_src_path=str(root / path)))
        return target

    return LINK.sub(replaced, markdown)
