"""Methods that cluster rows, in place of cutting an order: `kmember`. What they share is in `blocks`."""
