"""The readers of sheets: XLSX, ODS, XLS, CSV and TSV.

`xlsx`, `opendocument`, `old_excel` and `delimited` make rows of cells; `areas` finds the tables among them, and which
rows are their heads; `writing` writes these as Markdown.
"""
