"""Detached signatures by the system's ``ssh-keygen -Y``: keys and trust stay with SSH."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlanon.errors import PolicyError, PrivacyViolation, UnsupportedError, visible

NAMESPACE = "sqlanon"
"""Purpose of signatures: a signature for another purpose is refused."""
_SECONDS = 120
"""A key with a passphrase asks for it."""


def sign(text: str, key: Path) -> str:
    """The signature of a text, in SSH's armored form.

    Raises:
        PolicyError: the key cannot sign.
        UnsupportedError: ssh-keygen is not installed.
    """
    if not key.is_file():
        raise PolicyError(f"no key file {key}")
    process = _run(["-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE], text)
    if process.returncode or "BEGIN SSH SIGNATURE" not in process.stdout:
        raise PolicyError(f"{key} cannot sign: {_reason(process)}")
    return process.stdout


@contextmanager
def signers_file(lines: Sequence[str]) -> Iterator[Path]:
    """Yield a temporary file of allowed signers with these lines."""
    with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder:
        file = Path(folder) / "signers"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        yield file


def verify(text: str, signature: str, signer: str, signers: Path, what: str) -> None:
    """Check that an allowed signer signed exactly this text.

    Args:
        text: the signed text.
        signature: as `sign` gives it.
        signer: the name in the file of allowed signers.
        signers: that file, see ssh-keygen(1), ALLOWED SIGNERS.
        what: for the error.

    Raises:
        PrivacyViolation: the signature is not the signer's for the text.
        PolicyError: there is no such file.
        UnsupportedError: ssh-keygen is not installed.
    """
    if not signers.is_file():
        raise PolicyError(f"no file of allowed signers {signers}")
    with tempfile.TemporaryDirectory(prefix="sqlanon-") as folder:
        file = Path(folder) / "signature"
        file.write_text(signature, encoding="utf-8")
        options = ["-f", str(signers), "-I", signer, "-n", NAMESPACE, "-s", str(file)]
        process = _run(["-Y", "verify", *options], text)
    if process.returncode:
        raise PrivacyViolation(f"{what}: the signature is not one of {signer} for this text: {_reason(process)}")


def _run(options: list[str], text: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UnsupportedError("signatures need ssh-keygen, which is not installed")
    try:
        return subprocess.run(  # noqa: S603 - a list of words, no shell
            [program, *options], input=text, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise PolicyError(f"ssh-keygen did not end: {type(error).__name__}") from None


def _reason(process: subprocess.CompletedProcess[str]) -> str:
    lines = [line for line in (process.stderr or process.stdout).splitlines() if line.strip()]
    return visible(lines[-1][:200]) if lines else f"ssh-keygen ended with {process.returncode}"
