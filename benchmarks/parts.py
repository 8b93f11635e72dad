"""The parts of a run, by the names that ``--only`` takes."""

from __future__ import annotations

from .bytes_stored import bytes_stored
from .cold_start import cold_start
from .growth import attempts, instances
from .one_thread import one_thread
from .opening import opening
from .plan import Part
from .together import processes, threads

PARTS: dict[str, Part] = {
    "one-thread": one_thread,
    "threads": threads,
    "processes": processes,
    "instances": instances,
    "attempts": attempts,
    "bytes": bytes_stored,
    "opening": opening,
    "cold-start": cold_start,
}
