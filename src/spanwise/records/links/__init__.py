"""Links from a chunk to its source, which open the page at the text."""
