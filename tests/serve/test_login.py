"""Logins: passwords and verifiers, TLS with channel binding, cancellation, and where a server may listen."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import ssl
import subprocess
import threading
from pathlib import Path

import psycopg
import pytest

from sqlanon.errors import PolicyError
from sqlanon.serve import users
from sqlanon.serve.access import open_log
from sqlanon.serve.start import _tls, address
from tests.serve.conftest import Place, Running, serving

# RFC 7677, section 3: the password pencil.
SALT = "W22ZaJ0SNY7soEsUEjb6gQ=="


def test_a_wrong_password_and_an_unknown_user_look_alike(running: Running) -> None:
    texts, earlier = set(), len(running.lines())
    for user, password in (("ann", "wrong"), ("nobody", "secret"), ("ann", "other%20word"), ("postgres", "")):
        with pytest.raises(psycopg.OperationalError) as caught:
            psycopg.connect(running.url(user, password or "x"))
        texts.add(str(caught.value).partition("FATAL:")[2].strip())
    assert texts == {"password authentication failed"}
    with psycopg.connect(running.url("bea", "other%20word")) as connection:
        assert connection.execute("SELECT current_user, session_user").fetchone() == ("bea", "bea")
    events = [line for line in running.lines()[earlier:] if line["event"] == "refused"]
    assert {line["code"] for line in events} == {"28P01"}


def test_a_session_has_the_settings_that_clients_expect(running: Running) -> None:
    with running.connect(application_name="tests") as connection:
        assert connection.info.server_version == 150000
        assert connection.info.encoding == "utf-8"
        assert connection.execute("SHOW application_name").fetchone() == ("tests",)
        connection.execute("SET application_name = 'other'")
        assert connection.info.parameter_status("application_name") == "other"
        connection.execute("RESET application_name")
        assert connection.execute("SHOW application_name").fetchone() == ("tests",)
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            connection.execute("SET client_encoding = 'LATIN1'")
    with pytest.raises(psycopg.OperationalError, match="nosuch"):
        running.connect(options="-c nosuch=1")


@pytest.mark.thorough
def test_verifiers_are_those_of_the_rfc(monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", base64.b64decode(SALT), 4096)
    stored = base64.b64encode(hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()).decode()
    server = base64.b64encode(hmac.digest(salted, b"Server Key", "sha256")).decode()
    assert (stored, server) == (
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=",
        "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
    )
    monkeypatch.setenv(users.VARIABLE, f"# who may ask\n\nuser:SCRAM-SHA-256$4096:{SALT}${stored}:{server}\n")
    with serving(place) as running, psycopg.connect(running.url("user", "pencil")) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no users"),
        ("ann", "line 1"),
        ("ann:", "line 1"),
        (":secret", "line 1"),
        ("ann:a\nann:b", "line 2"),
        ("ann:SCRAM-SHA-256$1:eA==$eA==:eA==", "line 1"),
        ("ann:a\0b", "line 1"),
    ],
)
def test_users_that_are_none(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "users"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(PolicyError, match=problem) as caught:
        users.read_users(file)
    assert "secret" not in str(caught.value)


def test_a_file_of_users_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "users"
    file.write_text("ann:secret")
    for mode in (0o644, 0o640, 0o620, 0o601):
        file.chmod(mode)
        with pytest.raises(PolicyError, match="chmod 600"):
            users.read_users(file)
    file.chmod(0o600)
    assert users.read_users(file).verifier("ann")[3] == 4096
    for missing in (tmp_path / "missing", tmp_path):
        with pytest.raises(PolicyError, match=r"cannot be read|no regular file"):
            users.read_users(missing)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(PolicyError, match="no regular file"):
        users.read_users(pipe)
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    if file.stat().st_uid == 0:
        os.chown(file, 12345, -1)
    with pytest.raises(PolicyError, match="another user"):
        users.read_users(file)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_a_new_log_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    earlier = os.umask(umask)
    try:
        for _ in range(2):
            with open_log(tmp_path / "log") as log:
                log.write("a line\n")
    finally:
        os.umask(earlier)
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "log").read_text() == "a line\na line\n"
    (tmp_path / "log").chmod(0o640)  # as somebody wants it
    open_log(tmp_path / "log").close()
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o640


def test_an_unknown_user_has_the_same_salt_each_time() -> None:
    known = users.Users({})
    assert known.verifier("x") == known.verifier("x") != known.verifier("y")
    assert users.Users({}).verifier("x") != known.verifier("x")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of this machine that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    made, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            *[
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
                "-days",
                "2",
            ],
            *["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
            *("-keyout", str(key), "-out", str(made)),
        ],
        check=True,
        capture_output=True,
        env={**os.environ, "LD_LIBRARY_PATH": ""},
    )
    return made, key


def test_tls_is_wanted_where_there_is_a_certificate(place: Place, certificate: tuple[Path, Path]) -> None:
    made, key = certificate
    with serving(place, certificate=made, key=key) as running:
        with pytest.raises(psycopg.OperationalError, match="encrypted connections only"):
            psycopg.connect(running.url(sslmode="disable"))
        for binding in ("require", "disable"):
            url = running.url(sslmode="verify-full", sslrootcert=str(made), channel_binding=binding)
            with psycopg.connect(url) as connection:
                assert connection.pgconn.ssl_in_use
                assert connection.execute("SELECT 1").fetchone() == (1,)


def test_without_a_certificate_there_is_no_tls(running: Running) -> None:
    with pytest.raises(psycopg.OperationalError, match="SSL"):
        psycopg.connect(running.url(sslmode="require"))
    with psycopg.connect(running.url(sslmode="prefer")) as connection:
        assert not connection.pgconn.ssl_in_use


def test_files_of_tls_that_do_not_fit(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    made, key = certificate
    found = _tls(made, key)
    assert found is not None
    assert found.context.minimum_version >= ssl.TLSVersion.TLSv1_2
    key.chmod(0o640)
    with pytest.raises(PolicyError, match="chmod 600"):
        _tls(made, key)
    key.chmod(0o600)
    for wrong in ((made, None), (None, key), (key, made), (tmp_path / "missing", key)):
        with pytest.raises(PolicyError):
            _tls(*wrong)


def test_beyond_this_machine_only_with_tls(running: Running) -> None:
    for host in ("0.0.0.0", "::"):
        with pytest.raises(PolicyError, match="--tls-cert"):
            running.server.listen(host, 0)
    assert [address(text) for text in ("5433", "127.0.0.1:1", "[::1]:2")] == [
        ("127.0.0.1", 5433),
        ("127.0.0.1", 1),
        ("::1", 2),
    ]
    for text in ("", "x", "a:b", "127.0.0.1:", "1:99999"):
        with pytest.raises(PolicyError):
            address(text)


def slow(table: str) -> str:
    """A query that takes long to rewrite and to run."""
    parts = " + ".join(f"count(*) FILTER (WHERE age < {i})" for i in range(20, 30))
    return f"SELECT {', '.join(f'{parts} AS n{i}' for i in range(5))} FROM {table}"


def ask_again_and_again(connection: psycopg.Connection, sql: str) -> None:
    for _ in range(1000):
        connection.execute(sql.encode())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_query_is_cancelled(running: Running) -> None:
    with running.connect() as connection:
        done = threading.Event()

        def cancel() -> None:
            while not done.wait(0.1):  # one that comes between two queries is of none
                connection.cancel_safe()

        canceller = threading.Thread(target=cancel)
        canceller.start()
        try:
            with pytest.raises(psycopg.errors.QueryCanceled):
                ask_again_and_again(connection, slow(running.place.source))
        finally:
            done.set()
            canceller.join()
        assert connection.execute("SELECT 1").fetchone() == (1,)
        assert connection.execute(f"SELECT count(*) FROM {running.place.source}").fetchone() == (60.0,)


# An interruption that comes within a callback of the collector is reported, and made again.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_query_has_the_deadline_of_its_session(running: Running) -> None:
    with running.connect(options="-c statement_timeout=1") as connection:
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(slow(running.place.source))
        connection.execute("SET statement_timeout = 0")
        assert connection.execute("SELECT 1").fetchone() == (1,)
