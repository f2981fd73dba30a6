"""Statistics releases: tables of counts and sums in which no reader can compute a small cell.

The cells of all tables of a release are one system: each cell is a sum of atoms. Some cells are hidden, and private
tables prove that each small cell could have other numbers. Words that all modules use:

- atom: a finest combination of the codes of all columns, with the number of rows that have it;
- cell: a code for each column of a margin; the number is the sum of the cell's atoms;
- witness: another table that agrees with everything published, written as a change of each atom;
- demand: the end that a small cell must reach in some witness, for readers and for each insider;
- insider: a person who is alone in a cell and so knows the rows in it;
- pattern: how many rows a person has of each atom; trace: the same of each finest cell of one table;
- part: an atom within a class of a release of rows that readers have as well.

The way of a run: `cube` counts cells, `system` and `seen` make arrays of them, `choose` hides cells and finds witnesses
(`deviations`), `hide` writes tables, and `certificate` checks the written tables by sums alone. The package knows codes
and counts, no policy and no catalog.
"""
