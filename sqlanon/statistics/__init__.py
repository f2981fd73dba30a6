"""Statistics releases: published counts of which no small cell can be found, with a certificate.

The cells of all tables of a release are one system: sums over its atoms, the finest combinations of all its columns.
What belongs here: the system (`system`, made of codes by `cube`), the choice of hidden cells (`choose`) with tables
that prove their protection (`deviations`), bounds of hidden cells (`bounds`), what is written (`write`), and what
checks the written tables by sums alone (`certificate`). It knows codes and counts, no policy, no catalog.
"""
