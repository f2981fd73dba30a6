"""Files as a ZIP archive whose bytes depend on their names and contents alone."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping

from sqlanon.errors import PrivacyViolation

MOST_BYTES = 256 << 20
"""Of a bundle."""
MOST_FILES = 64
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*(\.[a-z]+)+")
_MADE = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the first that ZIP can write."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive, its files in the order of their names, not compressed, as compressors differ."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _MADE)
            entry.create_system, entry.external_attr = 3, 0o100600 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The files of an archive that `pack` wrote.

    Raises:
        PrivacyViolation: it is none, or has anything that `pack` does not write.
    """
    if len(data) > MOST_BYTES:
        raise PrivacyViolation(f"a bundle of more than {MOST_BYTES >> 20} MiB is not read")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_FILES or any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise PrivacyViolation("not a bundle of sqlanon: its files are too many, or compressed")
            # Several entries may point at the same bytes: together they must not be more than the archive has.
            if sum(max(entry.file_size, entry.compress_size) for entry in entries) > len(data):
                raise PrivacyViolation("not a bundle of sqlanon: its files are larger than the archive")
            if any(not _NAME.fullmatch(entry.filename) for entry in entries):
                raise PrivacyViolation("not a bundle of sqlanon: a file has a name that none of a bundle has")
            files = {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        raise PrivacyViolation(f"not a bundle of sqlanon: no ZIP archive, or a damaged one ({error})") from None
    if pack(files) != data:
        raise PrivacyViolation("the bundle was changed: the archive is not the one that sqlanon wrote, byte for byte")
    return files
