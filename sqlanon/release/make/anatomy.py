"""Format anatomy: exact rows in one table, the sensitive values of each group of rows in another (Xiao & Tao 2006).

A group is a class of any method's assignment, so that this is also the permutation publishing of Ghinita et al. (2009).
Its number is drawn: the method's own number may tell where in an order the class lies.
"""

from __future__ import annotations

import hashlib

from sqlanon.engines.base import TableRef
from sqlanon.release.make.names import GROUP, layout, sensitive_layout
from sqlanon.release.make.recode import Recoded
from sqlanon.spec import FormatSpec
from sqlanon.table.encode import Encoded
from sqlanon.table.scratch import Scratch


def regroup(scratch: Scratch, encoded: Encoded, classed: TableRef, form: FormatSpec, seed: int) -> Recoded:
    """Number the classes at random; nothing of the rows is recoded.

    Args:
        scratch: the run.
        encoded: the work table.
        classed: staged rows with their class.
        form: format anatomy.
        seed: of the run; who knows it can undo the numbering, so only the owner may.

    Cost: a GROUP BY over the rows; one integer a class through memory.
    """
    import numpy as np

    from sqlanon.kernels.random import seeded, shuffle

    names, columns = layout(encoded.roles, encoded.quasi, form)
    boxes, released = scratch.table("boxes"), scratch.table("released")
    codes = [domain.code for domain in encoded.quasi]
    scratch.execute("recode/groups", boxes=boxes, classed=classed, columns=codes)
    classes = scratch.engine.fetch_arrays(scratch.sql("recode/classes", boxes=boxes), ["int32"])[0]
    numbers = np.arange(1, len(classes) + 1)
    # A stream of its own: the numbers are published, and must not tell what else was drawn from the seed.
    own = hashlib.sha256(f"group numbers {seed}".encode()).digest()
    shuffle(seeded(int.from_bytes(own[:8], "big")), numbers)
    drawn = numbers.astype(np.int32)
    scratch.engine.load_arrays(
        released, {"_sqlanon_class": classes.astype(np.int32), GROUP: drawn, "_sqlanon_place": drawn}
    )
    count, smallest, largest = (int(str(cell)) for cell in scratch.fetch("recode/sizes", boxes=boxes)[0])
    return Recoded(boxes, released, names, columns, count, smallest, largest, sensitive_layout(encoded.roles))
