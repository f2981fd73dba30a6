"""The picture of docs/architecture.md is that of the import contracts."""

from __future__ import annotations

import pytest

from tests.docs.layers import PAGE, STACKS, contracts, rendered, stack


def test_the_picture_is_up_to_date():
    """After a change: python -m tests.docs.layers."""
    text = PAGE.read_text(encoding="utf-8")
    assert rendered(text) == text


@pytest.mark.parametrize("name", STACKS)
def test_the_picture_has_every_folder(name):
    layers = contracts()[name]["layers"]
    words = " ".join(stack("", layers, 40))
    assert [
        folder for layer in layers for folder in layer.strip("()").replace("|", ":").split(" : ") if folder not in words
    ] == []


def test_a_new_folder_is_noticed():
    assert stack("", ["a"], 20) != stack("", ["a : b"], 20)
