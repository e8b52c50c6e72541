"""How well questions are answered: recall, precision and ranks on a corpus of the user's own.

Questions with the ranges of their answers are put to a store, or to the same documents indexed under several settings.
"""
