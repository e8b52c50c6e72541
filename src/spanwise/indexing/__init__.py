"""Indexing: from files to what a store holds of them, doing no more than what changed.

`naming` says which document a file is, `analysing` what of it goes into a store, `addresses` what links to and from it
are called, `matching` what of that is there already, and `working` does the rest, batch by batch.
"""
