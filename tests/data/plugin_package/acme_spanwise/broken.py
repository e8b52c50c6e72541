"""A plug-in that can't be loaded."""

raise ImportError("this needs a library that isn't there")
