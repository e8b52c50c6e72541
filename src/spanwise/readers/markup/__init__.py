"""What readers of marked-up pages share: HTML and Confluence give elements, and one writer makes Markdown of them.

`prose` is text with inline marks, `elements` are the blocks that a page is made of, `collecting` puts them together
while a tree is walked, `tables` decides what a table is, `writing` makes the text and every range in it.
"""
