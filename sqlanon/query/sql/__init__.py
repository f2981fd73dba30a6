"""SQL trees and questions about them: trees from texts, types, forms of quantiles, the order of text."""
