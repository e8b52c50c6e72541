"""Indexing: from documents to what a store holds of them, doing no more than what changed.

`index` has the whole run, `identity` finds the document of a file, `entries` makes what a store holds of it,
`link_targets` names what links to and from it, `diff` finds what is stored already, and `writer` writes the rest.
"""
