"""The innermost loops, in C where a compiler was available at installation, else in Python.

Each C file has a Python file of the same name with the same functions and their documentation.
"""

from spanwise.native.events import FoundLink as FoundLink
from spanwise.native.events import is_only_comments as is_only_comments
from spanwise.native.kept import Kept as Kept
from spanwise.native.kept import html_ranges as html_ranges
from spanwise.native.parts import Range as Range
from spanwise.native.seams import FARTHEST as FARTHEST
from spanwise.native.seams import LARGEST as LARGEST
from spanwise.native.seams import NEAR as NEAR
from spanwise.native.seams import NEARBY as NEARBY
from spanwise.native.seams import SEAM as SEAM
from spanwise.native.shown import EDGE as EDGE

try:  # both modules have exactly the functions that plain.py lists
    from spanwise.native.compiled import *  # noqa: F403
except ImportError:
    from spanwise.native.plain import *  # noqa: F403
