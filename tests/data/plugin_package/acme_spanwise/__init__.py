"""A package with a plug-in of each kind, which the tests install."""
