"""Methods that cluster rows, in place of cutting an order: `kmember`, `mdav`, `agglomerative`, `sequential`. What they share is in `blocks`."""
