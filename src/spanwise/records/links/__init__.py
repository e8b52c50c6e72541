"""From a chunk back to its source: links that open a page at the text."""
