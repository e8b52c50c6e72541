"""Search: from a query to passages with their ranges in the source, computed in the same way for every store."""
