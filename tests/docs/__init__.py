"""Tests of the documentation: its links, its commands, its examples, its figures."""
