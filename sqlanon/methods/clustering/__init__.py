"""Methods that cluster rows, in place of cutting an order: `kmember` and `mdav`. What they share is in `blocks`."""
