"""Shared code of the readers of markup: HTML and Confluence produce elements, and one writer makes Markdown of them.

`inline` holds text with inline marks, `elements` the blocks of a page, `collector` builds them during a tree walk,
`tables` separates data tables from layout, `writer` writes the text and records every range in it.
"""
