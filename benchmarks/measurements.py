"""What the benchmarks vary, and how one batch of calls is timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Literal, TypeVar, get_args

Durability = Literal["full", "normal"]
DURABILITIES: tuple[Durability, ...] = get_args(Durability)

T = TypeVar("T")


def timed(call: Callable[[T], object], arguments: Sequence[T]) -> tuple[float, list[object]]:
    """Call with each argument in turn; return microseconds a call, and the answers."""
    began = perf_counter_ns()
    answers = [call(argument) for argument in arguments]
    return (perf_counter_ns() - began) / 1000 / len(arguments), answers
