"""Whether what was told of the keys of an instance can be explained, once it is known what won it.

The owner of a key is fixed at one moment, as the winner is: when a response first comes under it in
what is won, replayed or lost. So the moment that is no later than the end of all that were told of
the owner, and no later than that of the winner's response under the same key, which else had taken
it, must come after the invocation of some call that used it so.
"""

from __future__ import annotations

from collections import defaultdict

from .history import Attempt, Call, Conflict, Entry, Lost
from .refusal import Refused, end

_OWNING = ("won", "adopted", "lost", "replayed")


def check_keys(
    first: Attempt, possible: list[Call], known: list[Call], before: list[Entry]
) -> None:
    """See that the answers of those who were told of keys fit together.

    That ``first`` can have won before each of them was told, is looked at elsewhere.

    :param possible: the calls that may have happened.
    :param known: those of them that were answered.
    """
    owners = _owners(before) | {first.key: first.response}
    by_key: dict[str, list[tuple[Attempt, Call]]] = defaultdict(list)
    for call in known:
        if isinstance(call.asked, Attempt) and call.asked.workspace == first.workspace:
            by_key[call.asked.key].append((call.asked, call))
    for key, uses in by_key.items():
        its_calls = [call for _, call in uses]
        named = {_owner_told(attempt, call) for attempt, call in uses} - {None}
        if key in owners:
            if named - {owners[key]}:
                raise Refused(f"the key {key} is owned by {owners[key]}", *its_calls)
        elif len(named) > 1:
            raise Refused(f"the key {key} has more than one owner", *its_calls)
        elif named:
            (owner,) = named
            use = Attempt(first.workspace, str(owner), key)
            _check_first_use(use, possible, its_calls)


def _owners(before: list[Entry]) -> dict[str, str]:
    """Who owned which key when the history began."""
    owners: dict[str, str] = {}
    for entry in before:
        if entry.outcome in _OWNING and isinstance(entry.submission, Attempt):
            owners.setdefault(entry.submission.key, entry.submission.response)
    return owners


def _owner_told(attempt: Attempt, call: Call) -> str | None:
    """Who owns the key, if its answer is right; None if it says nothing of that."""
    if isinstance(call.told, Conflict):
        if call.told.existing == attempt.response:
            raise Refused("it was told of a conflict with itself", call)
        return call.told.existing
    return attempt.response if isinstance(call.told, Lost) else None


def _check_first_use(use: Attempt, possible: list[Call], known: list[Call]) -> None:
    """See that some call with this submission can have made the key its own in time.

    :param known: the answered ones under the key, of which each comes after that or is it.
    """
    users = [call for call in possible if call.asked == use]
    if not users:
        raise Refused("nobody used the key who is said to own it", *known)
    user = min(users, key=lambda call: call.invoked)
    until = min(known, key=end)
    if user.invoked > end(until):
        raise Refused("the key was told of before it can have been used", user, until)
