"""Methods ``idistance`` and ``idistance_fast``: along centres and distances (Ghinita et al. 2009, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlanon.methods.onedim.method import OneDimensional

if TYPE_CHECKING:
    from sqlanon.methods.onedim.row_orders import Order


class IDistance(OneDimensional):
    """Along centres and distances, exact loss."""

    name = "idistance"

    def __init__(self, minimize: str, solver: str, centres: int) -> None:
        super().__init__(minimize, solver)
        self.centres = centres

    def make_order(self) -> Order:
        from sqlanon.papers.idistance.curve import IDistance as Curve

        return Curve(self.centres)


class IDistanceFast(IDistance):
    """Along centres and distances, extents of distances."""

    name = "idistance_fast"
    fast = True
