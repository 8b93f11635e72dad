"""The read models: pure folds, events in and rows out; and what an audit concludes. No SQL.

A row's fields are the columns of its table, in order, so that the live path and a rebuild
write the same row from the same event.
"""

from __future__ import annotations
