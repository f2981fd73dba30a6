"""Statistics releases: published counts from which no small cell can be found, with a certificate.

The cells of all tables of a release are one system: sums over atoms, the finest combinations of all columns. The
package has the system (`system`, made of codes by `cube`), the choice of hidden cells (`choose`) with tables that prove
their protection (`deviations`), bounds of hidden cells (`bounds`), the statements that write them (`write`), and checks
of the written tables by sums alone (`certificate`). It knows codes and counts, no policy, no catalog.
"""
