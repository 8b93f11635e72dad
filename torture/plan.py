"""What is chosen for a round: all of it from the seed and the number of the round."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from .nemeses.names import ALONE, INSIDE, OUTSIDE, SIGNALS

Style = Literal["shared", "fresh", "asynchronous"]


class ClientPlan(Struct, frozen=True):
    """One process that makes calls."""

    name: str
    seed: str
    threads: int
    """They share a ledger."""
    style: Style
    """ "fresh": a ledger for each call."""
    durability: Literal["full", "normal"]
    lock_timeout: float
    nemeses: tuple[str, ...]
    """Those that it carries inside."""
    made: bool
    """The ledger is there already. Otherwise whoever writes first makes it."""

    def successor(self, number: int) -> ClientPlan:
        """Whoever takes the place of one that was killed."""
        name = f"{self.name.partition('+')[0]}+{number}"
        return replace(self, name=name, seed=f"{self.seed}+{number}")


class RoundPlan(Struct, frozen=True):
    """One ledger, so many instances, so many processes."""

    seed: int
    number: int
    only: tuple[str, ...]
    """The nemeses that were asked for; nothing if they were drawn."""
    instances: int
    step: float
    """Seconds from the turn of an instance to that of the next."""
    nemeses: tuple[str, ...]
    clients: tuple[ClientPlan, ...]
    made: bool
    """Before anybody begins."""
    paused: bool
    """Nobody is inside a call while an operator replaces the file."""

    @property
    def origin(self) -> str:
        """From which everything random in the round comes."""
        return f"{self.seed}/{self.number}"

    @property
    def command(self) -> str:
        """What makes the same choices once more."""
        chosen = f" --only '{','.join(self.only)}'" if self.only else ""
        return f"python -m torture --seed {self.seed} --round {self.number}{chosen}"


def plan_round(seed: int, number: int, only: Sequence[str] = ()) -> RoundPlan:
    """The choices of a round.

    :param only: the nemeses, all of them; by default a few at random.
    """
    random = Random(f"{seed}/{number}")
    chosen = tuple(only) or _some(random)
    processes = random.choice((2, 3, 4, 4, 6, 8, 8, 12, 16))
    count = random.randint(30, 60)
    # So that even the many find time to meet at each.
    step = random.uniform(0.02, 0.04) + 0.002 * processes
    made = random.random() < 0.7  # noqa: PLR2004
    clients = [_client(random, f"{seed}/{number}", n, chosen, made=made) for n in range(processes)]
    paused = random.random() < 0.5  # noqa: PLR2004
    if not paused and any(name.startswith("replaced") for name in chosen):
        # Between the file that goes and the one that comes there is none for a moment. Whoever
        # knows the ledger makes no new one then; others would, and their log would stay behind.
        clients = [replace(one, style="shared") for one in clients]
    return RoundPlan(seed, number, tuple(only), count, step, chosen, tuple(clients), made, paused)


def _some(random: Random) -> tuple[str, ...]:
    everything = (*INSIDE, *OUTSIDE, *ALONE)
    chosen = random.sample(everything, random.choice((2, 3, 3, 4, 5)))
    # These replace or remount the ledger's directory: one of them is enough.
    whole = [name for name in chosen if name in ALONE]
    return tuple(name for name in chosen if name not in whole[1:])


def _client(
    random: Random, origin: str, number: int, chosen: Sequence[str], *, made: bool
) -> ClientPlan:
    """Of what a client can carry it carries some; of those that need its one timer, one."""
    carried = [name for name in chosen if name in INSIDE and (number == 0 or random.random() < 0.6)]  # noqa: PLR2004
    signals = [name for name in carried if name in SIGNALS]
    kept = random.choice(signals) if signals else None
    carried = [name for name in carried if name not in SIGNALS or name == kept]
    style: Style = random.choice(("shared", "shared", "shared", "fresh", "asynchronous"))
    threads = random.choice((1, 1, 2, 3, 4)) if style == "shared" else 1
    if set(carried) & {"exit with calls in flight", "interrupt a thread"} and number == 0:
        style, threads = "shared", 3
    # Of a right that is taken away only those learn who open the file after it.
    if "closed directory" in chosen or ("read-only file" in chosen and number % 2):
        style, threads = "fresh", 1
    if "small files" in carried:  # what another thread writes down must not be short of room
        threads = 1
    if "interrupt" in carried and style == "asynchronous":  # it is to hit the ledger, not the loop
        style = "shared"
    return ClientPlan(
        f"c{number}",
        f"{origin}/c{number}",
        threads,
        style,
        random.choice(("full", "full", "normal")),
        random.choice((0.05, 0.5, 2.0, 5.0)),
        tuple(carried),
        made,
    )
