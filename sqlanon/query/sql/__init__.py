"""SQL trees and what is asked of them: trees out of texts, types, forms of quantiles, the order of text."""
