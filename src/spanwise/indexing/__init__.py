"""Indexing: from documents to what a store holds of them, doing no more than what changed.

`index` has the whole run, `identity` tells which document a file is, `entries` what of it goes into a store,
`link_targets` what links to and from it are called, `diff` what of that is stored already; `writer` writes the rest.
"""
