# The C functions have the signatures of their Python versions; arguments are positional only.
from spanwise.native.plain import *  # noqa: F403
