"""The store of compiled kernels: a folder of the user's, by the contents of the kernels' sources.

numba's own cache is next to the source and looks at the file of a function alone, so that each checkout and each
environment compiles everything again, and a function that a kernel takes from another file may change unnoticed. Here
the key is a hash of the kernel's file and of all files of kernels that it imports, directly or not: checkouts and
environments of one user share equal kernels, and a change compiles only the importers of the file. The wheel's files
(`shipped`) are looked for next. Compiled files are code, so a folder is used only if it is this user's and nobody else
can write it. Functions outside this package keep numba's cache and settings.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
    _CacheLocator,
)

from sqlanon.kernels import watch, wheel_kernels
from sqlanon.kernels.callees import name_of

FOLDER = Path(__file__).parent
PACKAGE = FOLDER.parent
BOUND = 512 << 20
"""Bytes that the folder may hold; all kernels of one version take about 40 MB."""
_IMPORT = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+sqlanon\.((?:\w+\.)*kernels(?:\.\w+)*)"
    rb"(?:[ \t]+import[ \t]+(?:\(([^)]*)\)|([\w, \t]+)))?",
    re.MULTILINE,
)
"""Files of kernels are called ``kernels``, or are in a folder that is."""
_NO_CODE = frozenset(f"kernels.{name}" for name in ("cache", "callees", "compiled", "shipped", "watch"))
"""Files with contents that have no part in compilation."""
_INDIFFERENT = ("NUMBA_CACHE", "NUMBA_DEBUG_CACHE", "NUMBA_NUM_THREADS", "NUMBA_CPU_")
_DAY = 86_400.0


def make_cache(function: Callable[..., Any]) -> _WatchedFunction:
    """The cache of a function of this package: in files, or where no folder is safe in memory, for this process alone.

    Cost: the first time in a process a few operations on files; for a file's first function, reading the file.
    """
    place, name = find_folder(), name_in_package(function)
    with contextlib.suppress(OSError):  # the sources are not files
        if place is not None and name:
            return _Files(function, place / f"{name}-{hash_inputs(name)[:24]}")
    return _Memory(function)


def name_in_package(function: Callable[..., Any]) -> str:
    """Where a kernel of this package is, as ``methods.anatomy.kernels``; empty: it is elsewhere."""
    package, _, name = function.__module__.partition(".")
    return name if package == PACKAGE.name and "kernels" in name.split(".") else ""


@cache
def find_folder() -> Path | None:
    """The folder of compiled kernels: the first that is safe and can be written, or else be read.

    Order: the folder that NUMBA_CACHE_DIR names, ``$XDG_CACHE_HOME/sqlanon/kernels`` (``~/.cache`` by default), next to
    the sources.
    """
    safe = [place for place in map(_make_folder, _places()) if place]
    return next((place for place in safe if os.access(place, os.W_OK | os.X_OK)), safe[0] if safe else None)


def _places() -> list[tuple[Path, tuple[str, ...]]]:
    """Folders that others may use as well, each with the names of ours in it."""
    places: list[tuple[Path, tuple[str, ...]]] = []
    named_for_numba: str = getattr(config, "CACHE_DIR", "")
    if named_for_numba:
        places.append((Path(named_for_numba), ("sqlanon-kernels",)))
    path = Path(os.environ.get("XDG_CACHE_HOME", ""))
    with contextlib.suppress(RuntimeError):  # a user without a home
        places.append((path if path.is_absolute() else Path.home() / ".cache", ("sqlanon", "kernels")))
    places.append((FOLDER, ("__pycache__", "kernels")))
    return places


def _make_folder(place: tuple[Path, tuple[str, ...]]) -> Path | None:
    """Ours in a folder, made if it is missing; None: it cannot be made, or is not safe."""
    folder, names = place
    try:
        if names[0] != "__pycache__":
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            folder /= name
            folder.mkdir(mode=0o700, exist_ok=True)
            if name != "__pycache__" and not _is_private(folder):
                return None
    except OSError:
        return None
    return folder


def _is_private(path: Path | str) -> bool:
    """Whether it is this user's, is no link, and no other user can write it."""
    status = os.lstat(path)
    return not stat.S_ISLNK(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022


@cache
def hash_inputs(name: str) -> str:
    """Hash of the inputs from which the kernels of a file are compiled.

    They are the file and the imports, the compiler, and the compiler's settings.

    Args:
        name: of the file, as `name_in_package` writes it.

    The processor is part of numba's own key.

    Raises:
        OSError: there is no such file.
    """
    sources = [(module, hashlib.sha256(_source(module)).hexdigest()) for module in sorted(find_imports(name))]
    settings = sorted(
        pair for pair in os.environ.items() if pair[0].startswith("NUMBA_") and not pair[0].startswith(_INDIFFERENT)
    )
    versions = (
        sys.implementation.cache_tag,
        getattr(sys, "abiflags", ""),
        numba.__version__,
        llvmlite.__version__,
        np.__version__.partition(".")[0],
    )
    return hashlib.sha256(repr((name, sources, versions, settings)).encode()).hexdigest()


def find_imports(name: str) -> frozenset[str]:
    """The names of a file of kernels and of those that it imports, directly or not."""
    modules, unread = {name}, [name]
    while unread:
        for module, *names in _IMPORT.findall(_source(unread.pop())):
            place = module.decode()
            files = re.findall(r"\w+", b"".join(names).decode())
            # A folder has no kernels itself: names imported from it are files.
            some = {f"{place}.{file}" for file in files} if _is_folder(place) else {place}
            unread += sorted(some - modules - _NO_CODE)
            modules |= some - _NO_CODE
    return frozenset(modules)


@cache
def _is_folder(name: str) -> bool:
    return PACKAGE.joinpath(*name.split(".")).is_dir()


@cache
def _source(name: str) -> bytes:
    """A file as it is when the first function in it is declared, or when the first file that imports it needs it.

    A later change on the disk has no part in the compilations of this process.
    """
    return PACKAGE.joinpath(*name.split(".")).with_suffix(".py").read_bytes()


def prune(place: Path, bound: int = BOUND) -> None:
    """Delete the folders of files that were not used for longest, until the rest take at most ``bound`` bytes."""
    sizes: list[tuple[float, int, Path]] = []
    for folder in place.iterdir():
        with contextlib.suppress(OSError):  # another process deletes as well
            sizes.append((folder.stat().st_mtime, sum(file.stat().st_size for file in folder.iterdir()), folder))
    total = 0
    for _, size, folder in sorted(sizes, reverse=True):
        total += size
        if total > bound:
            shutil.rmtree(folder, ignore_errors=True)


class _WatchedFunction:
    """Compiled variants of a function, by types of arguments; says when it compiles."""

    _py_func: Callable[..., Any]

    def load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 - numba's own
        """A compiled variant; None: numba compiles it next."""
        overload = super().load_overload(sig, target_context)  # type: ignore[misc]
        if overload is None:
            watch.begin(name_of(self._py_func))
        return overload

    def save_overload(self, sig: Any, data: Any) -> None:  # noqa: ANN401
        """Keep a variant that numba has compiled."""
        super().save_overload(sig, data)  # type: ignore[misc]
        watch.end(name_of(self._py_func))

    def is_kept(self) -> bool:
        """Whether something is on disk."""
        return False


class _Memory(_WatchedFunction, NullCache):
    """Nothing is kept."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function


class _Files(_WatchedFunction, FunctionCache):
    """In a folder."""

    def __init__(self, function: Callable[..., Any], place: Path) -> None:
        self._impl_class = lambda of: _Impl(of, place)
        super().__init__(function)
        base = self._impl.filename_base
        self._files = self._cache_file = CompiledFile(self._cache_path, base, place.name)
        self._shipped = ShippedFile(str(wheel_kernels.FOLDER / place.name), base, place.name)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:  # noqa: ANN401 - numba's own
        """A variant in this user's folder, or else in the wheel."""
        overload = super()._load_overload(sig, target_context)
        level = wheel_kernels.level() if overload is None else None
        if level is None:
            return overload
        signature, (triple, *_), code = self._index_key(sig, target_context.codegen())
        data = self._shipped.load((signature, (triple, *level), code))
        return None if data is None else self._impl.rebuild(target_context, data)

    def is_kept(self) -> bool:
        """Whether a variant is on disk."""
        return Path(self._files.index).is_file() or (
            wheel_kernels.level() is not None and Path(self._shipped.index).is_file()
        )


class _Impl(CompileResultCacheImpl):
    """As numba's, in our folder."""

    def __init__(self, function: Callable[..., Any], place: Path) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function, place)
        self._filename_base = self.get_filename_base(function.__qualname__, "")


class _Locator(_CacheLocator):
    """A folder with the key of a file of kernels as name."""

    def __init__(self, function: Callable[..., Any], place: Path) -> None:
        self._py_file = function.__code__.co_filename
        self._lineno = function.__code__.co_firstlineno
        self._place = place
        with contextlib.suppress(OSError):  # `prune` deletes by the time of the last use
            if place.stat().st_mtime < time.time() - _DAY:
                os.utime(place)

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        with contextlib.suppress(OSError):
            self._place.mkdir(mode=0o700)
            prune(self._place.parent)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._place)

    def get_source_stamp(self) -> str:
        """The key."""
        return self._place.name

    def get_disambiguator(self) -> str:
        """The line."""
        return str(self._lineno)


class CompiledFile(IndexDataCacheFile):
    """The cache files of a function.

    They are an index, and a file for each variant, with a hash of the inputs and of the processor in the name.

    numba numbers variants by the index: two processes that each save a variant at the same time would both call theirs
    the first, and one would be run for the other from then on. Here processes need not wait for each other: each file
    is put in place as a whole, and none is ever used for another variant. An index that was read before another process
    wrote it lacks the other variant, which is compiled again.
    """

    @property
    def index(self) -> str:
        """The path of the index."""
        return str(self._index_path)

    def save(self, key: Any, data: Any) -> None:  # noqa: ANN401 - numba's own
        """Save a variant, the file before the index, so that the index lists no missing file.

        A failure to write is ignored: the variant stays in memory.
        """
        digest = hashlib.sha256(self._dump((self._source_stamp, key))).digest()
        name = self._data_name(int.from_bytes(digest[:8], "big"))
        with contextlib.suppress(OSError):
            self._save_data(name, data)
            self._save_index(self._load_index() | {key: name})

    def _load_index(self) -> dict[Any, str]:
        index = self._read(self._index_path, super()._load_index)
        return index if isinstance(index, dict) else {}

    def _load_data(self, name: str) -> Any:  # noqa: ANN401
        return self._read(self._data_path(name), lambda: super(CompiledFile, self)._load_data(name))

    def _read(self, path: str, load: Callable[[], Any]) -> Any:  # noqa: ANN401
        """The contents of a file.

        None if it is missing or damaged, or if another user could have written it or the folder.
        """
        try:
            return load() if self._is_trusted(path) else None
        except Exception:  # noqa: BLE001 - whatever reading half a pickle raises: the function is compiled again
            return None

    def _is_trusted(self, path: str) -> bool:
        return _is_private(self._cache_path) and _is_private(path)


class ShippedFile(CompiledFile):
    """The files of a function in the package: whoever can write them can write the modules, too."""

    def _is_trusted(self, path: str) -> bool:
        return True
