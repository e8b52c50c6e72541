"""The one way from sources to records, for one document or many."""
