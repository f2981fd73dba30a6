"""What of a manifest becomes a release, for each version of its format, and what is refused with which words."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest

from sqlanon.dbt import load
from sqlanon.errors import PolicyError

IN_COLUMNS = "roles belong in each column's own meta: {name: age, config: {meta: {anonymize: quasi}}}"
DB = "duckdb:///:memory:"


def problems(project, **given):
    with pytest.raises(PolicyError) as caught:
        load(project.folder, db=DB, **given)
    return caught.value.problems


def test_a_model_is_a_release(every_version):
    project = load(every_version.write().folder, db=DB)
    (spec,) = project.policy.releases
    assert (spec.name, spec.source, spec.publish) == ("people", "main.people", "release.people")
    assert (spec.privacy.k, spec.privacy.l) == (5, Fraction(2))
    assert [(c.name, c.role, c.weight) for c in spec.columns] == [
        ("id", "identifier", 1),
        ("age", "quasi", 2),
        ("zip", "quasi", 1),
        ("sex", "quasi", 1),
        ("disease", "sensitive", 1),
    ]
    assert project.models == {"people": "people"}
    assert project.not_releasable == {}


def test_the_block_has_the_keys_of_a_policy(project):
    hierarchy = project.folder / "trees" / "zip.csv"
    hierarchy.parent.mkdir(parents=True)
    hierarchy.write_text("z0;a;*\nz1;a;*\nz2;b;*\n")
    project.node["columns"]["zip"] = {
        "name": "zip",
        "meta": {"anonymize": {"role": "quasi", "hierarchy": "trees/zip.csv"}},
    }
    block = {
        "name": "survey",
        "publish": "shared.people",
        "privacy": {"k": 7, "l": 2.5},
        "method": "mondrian:cut=median",
        "format": {"kind": "ranges", "mean": ["age"]},
        "rest": "drop",
        "readers": ["analyst"],
        "seed": 3,
    }
    project.node["config"]["meta"]["anonymize"] = project.node["meta"]["anonymize"] = block
    (spec,) = load(project.write().folder, db=DB).policy.releases
    assert (spec.name, spec.publish, spec.rest, spec.readers) == ("survey", "shared.people", "drop", ("analyst",))
    assert (spec.privacy.l, spec.seed, spec.format.mean) == (Fraction(5, 2), 3, ("age",))
    assert (spec.method.name, dict(spec.method.options)) == ("mondrian", {"cut": "median"})
    tree = next(column.hierarchy for column in spec.columns if column.name == "zip")
    assert tree is not None
    assert tree.levels[2] == ("z2", "b", "*")


@pytest.mark.parametrize(("name", "source"), [("My Model", 'main."My Model"'), ('a"b', 'main."a""b"')])
def test_odd_names_are_quoted(project, name, source):
    project.node["alias"] = name
    (spec,) = load(project.write().folder, db=DB).policy.releases
    assert spec.source == source


def test_errors_name_the_model_the_file_and_the_line(project):
    block = {"privacy": {"k": 0}, "metod": "tree", "source": "x", "columns": {}}
    project.node["config"]["meta"]["anonymize"] = project.node["meta"]["anonymize"] = block
    assert problems(project.write()) == [
        f"{project.folder}/models/schema.yml:6: model people: anonymize.source: the model is the source; leave it out",
        f"{project.folder}/models/schema.yml:6: model people: anonymize.columns: {IN_COLUMNS}",
    ]
    del block["source"], block["columns"]
    reported = "\n".join(problems(project.write()))
    assert f"{project.folder}/models/schema.yml:8: model people: anonymize.privacy.k: too small" in reported
    assert "schema.yml:6: model people: anonymize.metod: unknown key (did you mean method?)" in reported
    project.node["columns"]["age"] = {"name": "age", "meta": {"anonymize": {"role": "quasi", "weight": 9999}}}
    reported = "\n".join(problems(project.write()))
    assert f"{project.folder}/models/schema.yml:18: model people: column age: anonymize.weight: too large" in reported


def test_a_block_of_the_models_own_file_is_placed_there(project):
    (project.folder / "models").mkdir(parents=True)
    (project.folder / "models" / "schema.yml").write_text("models:\n  - name: people\n")
    project.node["config"]["meta"]["anonymize"]["privacy"] = {"k": 0}
    project.node["meta"] = {}
    (reported,) = problems(project.write())
    assert reported.startswith(f"{project.folder}/models/people.sql: model people: anonymize.privacy.k: too small")


def test_every_model_is_reported(project):
    project.copy_of_node("second", patch_path=None, config={"meta": {"anonymize": {"privacy": {"k": 0}}}}, meta={})
    project.node["config"]["meta"]["anonymize"]["privacy"]["k"] = "many"
    project.node["meta"] = {}
    reported = "\n".join(problems(project.write()))
    assert "model people: anonymize.privacy.k: not a whole number" in reported
    assert "model second: anonymize.privacy.k: too small" in reported


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"config": {"anonymize": {}}}, "is in config itself; it belongs in config.meta.anonymize"),
        ({"config": {"meta": {"anonymize": {"privacy": {"k": 9}}}}}, "meta and config.meta say different things"),
        ({"config": {"materialized": "ephemeral", "meta": {"anonymize": {}}}, "meta": {}}, "is ephemeral"),
        ({"resource_type": "seed"}, "is set on a seed; only models are released"),
        ({"resource_type": "snapshot"}, "is set on a snapshot; only models are released"),
        ({"config": {"meta": {"anonymize": None}}, "meta": {}}, "not a mapping"),
        ({"config": {"meta": {"anonymize": True}}, "meta": {}}, "not a mapping"),
        ({"config": {"meta": {"anonymize": "k=5"}}, "meta": {}}, "not a mapping"),
        ({"columns": {}}, "no quasi column"),
        (
            {"columns": {"age": {"name": "age", "meta": {"anonymize": "quasy"}}}},
            "column age: anonymize.role: not a word",
        ),
        ({"columns": {"age": {"name": "age", "meta": {"anonymize": None}}}}, "column age: anonymize"),
        (
            {
                "columns": {
                    "age": {
                        "name": "age",
                        "meta": {"anonymize": "quasi"},
                        "config": {"meta": {"anonymize": "insensitive"}},
                    }
                }
            },
            "column age: meta and config.meta say different things",
        ),
        ({"database": "other"}, ""),
    ],
)
def test_what_would_be_passed_over_in_silence_is_an_error(project, change, words):
    project.node.update(change)
    project.write()
    if words:
        assert words in "\n".join(problems(project))
    else:
        load(project.folder, db=DB)  # where --db names the database, the profile's does not matter


def test_a_source_with_a_block_is_an_error(project):
    project.sources["source.shop.raw.people"] = {
        "resource_type": "source",
        "name": "people",
        "schema": "raw",
        "package_name": "shop",
        "original_file_path": "models/schema.yml",
        "meta": {"anonymize": {}},
        "columns": {},
    }
    assert "is set on a source" in "\n".join(problems(project.write()))


def test_a_model_may_say_no(project):
    project.copy_of_node("plain", config={"meta": {"anonymize": False}}, meta={"anonymize": False})
    project.copy_of_node("silent", config={"meta": {}}, meta={})
    assert list(load(project.write().folder, db=DB).models.values()) == ["people"]


def test_no_model_at_all(project):
    project.node["config"] = {"meta": {}}
    project.node["meta"] = {}
    assert "no model asks for a release" in problems(project.write())[0]


@pytest.mark.parametrize("key", ["name", "publish", "publish_file"])
def test_two_models_do_not_share_a_place(project, key):
    for name in ("people", "again"):
        block = {"privacy": {"k": 5}, "name": name, "publish": f"shared.{name}"}
        block |= {"name": "same"} if key == "name" else {key: "shared.SAME" if name == "again" else "shared.same"}
        if key == "publish_file":
            block["publish_file"] = "same.duckdb"
        given = {"config": {"meta": {"anonymize": block}}, "meta": {}}
        if name == "people":
            project.node.update(given)
        else:
            project.copy_of_node(name, **given)
    (reported,) = problems(project.write())
    assert f"model again: anonymize.{key}: the same as that of the model people" in reported


@pytest.mark.parametrize("file", ["models/schema.yml", "models/people.sql", "dbt_project.yml"])
def test_a_manifest_older_than_the_project_is_refused(project, file):
    project.write()
    later = (project.folder / "target" / "manifest.json").stat().st_mtime_ns + 1_000_000
    os.utime(project.folder / file, ns=(later, later))
    (reported,) = problems(project)
    assert f"{file} was changed after manifest.json was written; run dbt build, or dbt parse" in reported


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "run dbt build first"),
        ("{", "not JSON"),
        ("[]", "not an object"),
        ("{}", "not a manifest of dbt"),
        ('{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v9.json"}}', "before 1.6"),
        ('{"metadata": {"dbt_schema_version": "manifest/v12.json"}, "nodes": []}', "nodes is not an object"),
        (
            '{"metadata": {"dbt_schema_version": "manifest/v12.json"}, "nodes": {"model.a": {}}}',
            "that sqlanon can read",
        ),
        ('{"metadata": {"dbt_schema_version": "manifest/v12.json"}, "nodes": {"model.a": 1}}', "that sqlanon can read"),
    ],
)
def test_files_that_are_no_manifest(project, text, words):
    project.write()
    manifest = project.folder / "target" / "manifest.json"
    manifest.unlink()
    if text is not None:
        manifest.write_text(text)
    (reported,) = problems(project)
    assert words in reported
    assert str(manifest) in reported


def test_a_newer_format_is_read(project):
    project.version = 20
    assert load(project.write().folder, db=DB).models == {"people": "people"}


@pytest.mark.parametrize(
    ("node", "status", "words"),
    [
        ("model.shop.people", "success", None),
        ("model.shop.people", "error", "dbt did not build the model when it last ran (error)"),
        ("model.shop.people", "skipped", "(skipped)"),
        ("model.shop.other", "error", None),
        ("test.shop.unique_people_id.1", "fail", "the model's test unique_people_id did not pass"),
        ("test.shop.unique_people_id.1", "warn", None),
        ("test.shop.unique_people_id.1", "pass", None),
        ("test.shop.alone.2", "error", "the model's test alone did not pass"),
        ("test.shop.of_the_release.3", "fail", None),
    ],
)
def test_what_dbt_said_of_its_last_run_is_heard(project, node, status, words):
    def test(attached, *read):
        return {"resource_type": "test", "attached_node": attached, "depends_on": {"nodes": list(read)}}

    project.nodes |= {
        "test.shop.unique_people_id.1": test("model.shop.people", "model.shop.people", "model.shop.other"),
        "test.shop.alone.2": test(None, "model.shop.people"),
        "test.shop.of_the_release.3": test(None, "source.shop.release.people", "model.shop.people"),
    }
    project.results = [{"unique_id": node, "status": status}]
    not_releasable = load(project.write().folder, db=DB).not_releasable
    assert set(not_releasable) == ({"people"} if words else set())
    assert words is None or words in not_releasable["people"]
