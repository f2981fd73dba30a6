"""Compiled kernels in a cache.

They are found by the contents of their sources, wherever these are, and only in a folder that no other user can write.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.caching import FunctionCache, IndexDataCacheFile

import sqlanon
from sqlanon.kernels import cache, watch
from sqlanon.progress import SilentProgress
from tests.project.tree import ROOT

KERNELS = {
    ".".join(path.relative_to(ROOT / "sqlanon").with_suffix("").parts)
    for path in (ROOT / "sqlanon").rglob("*.py")
    if "kernels" in path.relative_to(ROOT).with_suffix("").parts and path.stem != "__init__"
} - {f"kernels.{name}" for name in ("cache", "callees", "compiled", "shipped", "watch")}
"""All files of kernels, wherever they are."""
INNER = """
from sqlanon.kernels.compiled import njit


@njit(nogil=True)
def inner(x):
    return x + 1
"""
OUTER = """
from sqlanon.kernels.compiled import njit
from sqlanon.kernels.try_inner import inner


@njit(nogil=True)
def outer(x):
    return 2 * inner(x)
"""
OTHER = INNER.replace("inner", "other")
CALLED = """
import json
from sqlanon.kernels.cache import find_folder
from sqlanon.kernels.try_inner import inner
from sqlanon.methods.onedim.kernels.try_other import other
from sqlanon.papers.tds.kernels import outer

assert (inner(3), other(3), outer(3)) == (4, 4, 8)
compiled = [one.__name__ for one in (inner, other, outer) if sum(one.stats.cache_misses.values())]
print(json.dumps({"compiled": compiled, "folder": str(find_folder())}))
"""


def checkout(folder: Path) -> Path:
    """A copy of the package with three small kernels more.

    One that is shared, and two of methods, in a folder and in a file.
    """
    shutil.copytree(ROOT / "sqlanon", folder / "sqlanon", ignore=shutil.ignore_patterns("__pycache__"))
    for place, text in (
        ("kernels/try_inner", INNER),
        ("methods/onedim/kernels/try_other", OTHER),
        ("papers/tds/kernels", OUTER),
    ):
        (folder / "sqlanon" / f"{place}.py").write_text(text)
    return folder


def begun(folder: Path, place: Path, code: str = CALLED, **settings: str) -> subprocess.Popen[str]:
    """A process that calls the three kernels of a checkout, with a cache folder of its own."""
    known = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "PYTHON"))}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env=known | {"XDG_CACHE_HOME": str(place), "PYTHONPATH": str(folder)} | settings,
    )


def called(folder: Path, place: Path, code: str = CALLED, **settings: str) -> dict[str, object]:
    """What such a process compiled, and the folder that it used."""
    with begun(folder, place, code, **settings) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    found: dict[str, object] = json.loads(out)
    return found


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout whose kernels are compiled into ``cache`` next to it."""
    folder = checkout(tmp_path_factory.mktemp("first"))
    assert called(folder, folder / "cache")["compiled"] == ["inner", "other", "outer"]
    return folder


@pytest.fixture
def place(first: Path, tmp_path: Path) -> Path:
    """A copy of what is compiled."""
    shutil.copytree(first / "cache", tmp_path / "cache")
    return tmp_path / "cache"


@pytest.mark.thorough
def test_a_second_checkout_finds_what_is_compiled(first, place, tmp_path):
    """Files of another time in another folder, and their comments.

    What imports a changed file is compiled, and nothing else.
    """
    second = checkout(tmp_path / "second")
    assert called(second, place) == {"compiled": [], "folder": str(place / "sqlanon" / "kernels")}
    changed = second / "sqlanon" / "kernels" / "try_inner.py"
    changed.write_text(INNER + "# a comment\n")
    assert called(second, place)["compiled"] == ["inner", "outer"]
    assert called(first, place)["compiled"] == []  # both are kept
    changed.write_text(INNER)
    assert called(second, place)["compiled"] == []
    assert called(second, place, NUMBA_BOUNDSCHECK="1")["compiled"] == ["inner", "other", "outer"]


def test_what_a_kernel_imports_is_what_python_imports():
    """The closure by Python's own parser."""
    direct = {}
    for name in KERNELS:
        tree = ast.parse((ROOT / "sqlanon" / f"{name.replace('.', '/')}.py").read_text())
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {one.name for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        direct[name] = {one.removeprefix("sqlanon.") for one in found} & KERNELS
    for name in KERNELS:
        wanted, left = {name}, [name]
        while left:
            new = direct[left.pop()] - wanted
            wanted |= new
            left += new
        assert cache.find_imports(name) == wanted, name
    assert any(len(cache.find_imports(name)) > 5 for name in KERNELS)


def test_every_compiled_function_is_in_a_file_of_kernels():
    """Where it is looked for, and counted."""
    compiled = {path for path in (ROOT / "sqlanon").rglob("*.py") if "@njit" in path.read_text()}
    names = {".".join(path.relative_to(ROOT / "sqlanon").with_suffix("").parts) for path in compiled}
    assert len(names) > 60
    assert names - KERNELS == set()


def test_forms_of_imports(monkeypatch):
    """Every way to write one, of shared kernels and of a method's."""
    texts = {
        "kernels.a": b"from sqlanon.kernels.b import x\nimport sqlanon.kernels.c\n",
        "kernels.b": b"if 1:\n    from sqlanon.kernels import d, e\n",
        "kernels.c": b"from sqlanon.methods.onedim.kernels import (\n    f,\n    g,\n)\nfrom sqlanon.kernels.compiled "
        b"import "
        b"njit\n",
        "methods.onedim.kernels.f": b"from sqlanon.methods.anatomy.kernels import x\n",
    }
    monkeypatch.setattr(cache, "_source", lambda name: texts.get(name, b"import numpy\n"))
    onedim = {"methods.onedim.kernels.f", "methods.onedim.kernels.g", "methods.anatomy.kernels"}
    assert cache.find_imports("kernels.a") == {f"kernels.{name}" for name in "abcde"} | onedim
    assert cache.find_imports("kernels.b") == {f"kernels.{name}" for name in "bde"}


def spoil(path: Path, how: str) -> None:
    """Another user can write it, or owns it, or it is a link to what is all right."""
    if how == "foreign" and os.geteuid():
        pytest.skip("only root may give a file away")
    if how == "writable":
        path.chmod(path.stat().st_mode | 0o002)
    elif how == "foreign":
        os.chown(path, 12345, -1)
    else:
        path.symlink_to(path.rename(path.with_name("elsewhere")))


@pytest.mark.parametrize("spoiled", ["*.try_other-*", "*.try_other-*/*.nbi", "*.try_other-*/*.nbc"])
@pytest.mark.parametrize("how", ["writable", "foreign", "link"])
def test_what_others_could_have_written_is_not_loaded(first, place, spoiled, how):
    """The files of a kernel, or their folder, are right, so that only their rights decide."""
    (path,) = (place / "sqlanon" / "kernels").glob(spoiled)
    spoil(path, how)
    assert called(first, place)["compiled"] == ["other"]


@pytest.mark.parametrize("spoiled", ["sqlanon", "sqlanon/kernels"])
@pytest.mark.parametrize("how", ["writable", "foreign", "link"])
def test_the_next_folder_is_used_where_one_is_not_safe(tmp_path, monkeypatch, spoiled, how):
    """First the one that NUMBA_CACHE_DIR names, then the user's, then the one next to the sources."""
    chosen = cache.find_folder.__wrapped__
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "sources")
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "sources").mkdir()
    assert chosen() == tmp_path / "numba" / "sqlanon-kernels"
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    assert chosen() == tmp_path / "cache" / "sqlanon" / "kernels"
    spoil(tmp_path / "cache" / spoiled, how)
    assert chosen() == tmp_path / "sources" / "__pycache__" / "kernels"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert chosen() == tmp_path / "sources" / "__pycache__" / "kernels"  # to be read
    spoil(tmp_path / "sources" / "__pycache__" / "kernels", how)
    assert chosen() is None


@pytest.mark.thorough
def test_where_nothing_can_be_kept(tmp_path):
    """Files where the folders should be: compiled in memory."""
    second = checkout(tmp_path / "second")
    (second / "sqlanon" / "kernels" / "__pycache__").write_text("")
    (tmp_path / "file").write_text("")
    found = called(second, tmp_path / "file")
    assert found == {"compiled": ["inner", "other", "outer"], "folder": "None"}


def test_new_folders_are_private(first):
    made = first / "cache" / "sqlanon"
    assert {path.stat().st_mode & 0o077 for path in (made, *made.rglob("*")) if path.is_dir()} == {0}


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "left"), [("nbi", 20), ("nbc", 0)])
def test_a_damaged_file_is_made_anew(first, place, kind, left):
    """As after a full disk, or a power cut."""
    (file,) = place.rglob(f"*.try_inner-*/*.{kind}")
    file.write_bytes(file.read_bytes()[:left])
    assert called(first, place)["compiled"] == ["inner"]
    assert called(first, place)["compiled"] == []


@pytest.mark.thorough
def test_two_processes_at_once(first, tmp_path):
    """Both on an empty folder: both are right, and what they leave is found."""
    together = [begun(first, tmp_path / "cache") for _ in range(2)]
    for process in together:
        process.communicate()
    assert [process.returncode for process in together] == [0, 0]
    assert called(first, tmp_path / "cache")["compiled"] == []


WATCHED = """
import json
from sqlanon.kernels import watch
from sqlanon.kernels.cache import find_folder
seen = []
watch.follow(lambda state: seen.append((state.done, state.total)))
from sqlanon.kernels.compiled import expect
from sqlanon.methods.onedim.kernels.try_other import other
from sqlanon.papers.tds.kernels import outer

expect(outer)
assert not seen
outer(3), outer(4), other(3), other(3.5)
print(json.dumps({"compiled": seen, "folder": str(find_folder())}))
"""


@pytest.mark.thorough
def test_how_far_compiling_is(tmp_path):
    """The functions that a kernel calls are counted with it; what is kept is not.

    The same where nothing can be kept.
    """
    folder = checkout(tmp_path / "first")
    # outer begins, its inner begins and ends, outer ends; other, twice: of whole numbers and of others.
    each = [[0, 2], [0, 2], [1, 2], [2, 2], [2, 3], [3, 3], [3, 3], [3, 3]]
    assert called(folder, tmp_path / "cache", WATCHED)["compiled"] == each
    assert called(folder, tmp_path / "cache", WATCHED)["compiled"] == []
    (tmp_path / "file").write_text("")
    shutil.rmtree(folder / "sqlanon" / "kernels" / "__pycache__")
    (folder / "sqlanon" / "kernels" / "__pycache__").write_text("")
    assert called(folder, tmp_path / "file", WATCHED) == {"compiled": each, "folder": "None"}


def test_messages_about_compiling(monkeypatch):
    """At once where there is much to do, later where it takes long, and then every five seconds."""
    now = 100.0
    monkeypatch.setattr(watch.time, "monotonic", lambda: now)
    shown: list[str] = []
    notes = watch.Notes(shown.append)
    for seconds, done, total in ((0.0, 0, 4), (0.9, 1, 4), (1.0, 2, 4), (4.0, 3, 9), (7.0, 4, 9)):
        now = 100 + seconds
        notes(watch.CompilingState(done, total, seconds))
    watch.Notes(shown.append)(watch.CompilingState(0, 5, 0.0))
    counts = [text.rpartition("(the first time only): ")[2] for text in shown]
    assert counts == ["2 of 4 functions, 1 s", "4 of 9 functions, 7 s", "0 of 5 functions, 0 s"]


def test_who_is_informed(monkeypatch, caplog):
    """The progress that a connection was given; without one the log, as a warning; with a silent one nobody."""
    monkeypatch.setattr(watch, "_following", None)
    state = watch.CompilingState(3, 30, 2.0)

    class Recording(SilentProgress):
        def __init__(self) -> None:
            self.notes: list[str] = []

        def note(self, message: str) -> None:
            self.notes.append(message)

    recording = Recording()
    for progress in (recording, SilentProgress()):
        with sqlanon.connect("duckdb:///:memory:", progress=progress):
            watch._following(state)
    assert len(recording.notes) == 1
    assert caplog.records == []
    monkeypatch.setattr(watch, "_WARNED", watch.Notes(lambda message: watch.log.warning("%s", message)))
    with sqlanon.connect("duckdb:///:memory:"):
        watch._following(state)
    (record,) = caplog.records
    assert (record.levelname, "3 of 30 functions, 2 s" in record.getMessage()) == ("WARNING", True)


def test_least_used_files_are_pruned(tmp_path):
    """Down to a bound, those that were used last stay; what is not a folder of ours is left."""
    for at, name in enumerate(("old", "middle", "new")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.nbc").write_bytes(bytes(100))
        os.utime(tmp_path / name, (1000 + at, 1000 + at))
    cache.prune(tmp_path, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["middle", "new", "old"]
    cache.prune(tmp_path, 299)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["middle", "new"]


def test_numba_is_left_as_it_is_for_other_functions(tmp_path, monkeypatch):
    """A user's own function: numba's cache next to it."""
    assert IndexDataCacheFile.save.__module__ == "numba.core.caching"
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "users_own.py").write_text("import numba\n@numba.njit(cache=True)\ndef own(x):\n    return x + 1\n")
    from users_own import own

    assert type(own._cache) is FunctionCache
    assert own.stats.cache_path == str(tmp_path / "__pycache__")
    assert os.environ.get("NUMBA_CACHE_DIR", "") == numba.config.CACHE_DIR
