"""What an interrupted benchmark keeps."""

from benchmarks.kept import Kept


def test_measurements_are_found_again(tmp_path):
    out = tmp_path / "some.json"
    kept = Kept(out)
    assert kept.get("k", 10, ("a", "b")) is None
    assert kept.add({"gcp": 0.5}, "k", 10, ("a", "b")) == {"gcp": 0.5}
    again = Kept(out)
    assert again.get("k", 10, ("a", "b")) == {"gcp": 0.5}
    assert again.get("k", 20, ("a", "b")) is None


def test_a_line_that_was_cut_is_measured_again(tmp_path):
    out = tmp_path / "some.json"
    kept = Kept(out)
    kept.add({"gcp": 0.5}, 1)
    kept.add({"gcp": 0.7}, 2)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    cut = Kept(out)
    assert (cut.get(1), cut.get(2)) == ({"gcp": 0.5}, None)
    cut.add({"gcp": 0.7}, 2)
    assert Kept(out).get(2) == {"gcp": 0.7}


def test_forgotten(tmp_path):
    out = tmp_path / "some.json"
    Kept(out).add({}, 1)
    assert Kept(out, fresh=True).get(1) is None
    assert list(tmp_path.iterdir()) == []
