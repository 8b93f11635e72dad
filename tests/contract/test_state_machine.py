"""Two workspaces at work on one ledger, whatever they do, against the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from answers import answer, everything
from contract.backends import OpenLedger
from contract.model import Model
from resolution_ledger import InstanceId, ResolutionLedger, ResolutionRecord
from samples import OTHER_WORKSPACE, WORKSPACE, instance, key, response
from strategies import labels, reasons, ticks
from submissions import Closing, Submission, Submitted

INSTANCES = range(3)

workspaces = st.sampled_from([WORKSPACE, OTHER_WORKSPACE])
instances = st.sampled_from(INSTANCES).map(instance)


class TwoWorkspaces(RuleBasedStateMachine):
    """A ledger and the model, told the same things."""

    sent: Bundle[Submitted] = Bundle("sent")

    def __init__(self, open_ledger: OpenLedger) -> None:
        super().__init__()
        self.open_ledger = open_ledger
        self.model = Model()
        self.tick = 0
        self.doors = {name: self.open(name) for name in (WORKSPACE, OTHER_WORKSPACE)}
        self.noted: dict[int, tuple[str, int]] = {}

    def open(self, workspace: str) -> ResolutionLedger:
        """A ledger object whose clock shows ``self.tick``."""
        return self.open_ledger(workspace=workspace, clock=lambda: self.tick)

    @initialize(
        target=sent,
        workspace=workspaces,
        first=st.sampled_from(
            [
                ResolutionRecord(instance(0), response(0), key(0)),
                Closing(instance(0), "expired"),
                Closing(instance(2), "withdrawn"),
            ]
        ),
    )
    def create(self, workspace: str, first: Submission) -> Submitted:
        """The first attempt or withdrawal creates the ledger; it cannot be read before."""
        self.send(workspace, first, 0)
        return workspace, first

    @rule(
        target=sent,
        workspace=workspaces,
        question=instances,
        reply=st.integers(0, 3).map(response),
        under=st.integers(0, 3).map(key),
        label=labels,
        tick=ticks,
    )
    def submit(self, workspace: str, label: str, tick: int, **ids: Any) -> Submitted:
        """An attempt, often a new one."""
        attempt = ResolutionRecord(ids["question"], ids["reply"], ids["under"], label)
        self.send(workspace, attempt, tick)
        return workspace, attempt

    @rule(
        target=sent,
        workspace=workspaces,
        question=instances,
        reason=reasons,
        label=labels,
        tick=ticks,
    )
    def withdraw(
        self, workspace: str, question: InstanceId, reason: str, label: str, tick: int
    ) -> Submitted:
        """A withdrawal: sometimes the first word on the instance, mostly too late."""
        closing = Closing(question, reason, label)
        self.send(workspace, closing, tick)
        return workspace, closing

    @rule(again=sent, tick=ticks, label=labels)
    def retransmit(self, again: Submitted, tick: int, label: str) -> None:
        """What was sent before, attempt or withdrawal, perhaps under another label."""
        workspace, first = again
        before = self.model.sequence
        self.send(workspace, replace(first, submitted_by=label), tick)
        assert self.model.sequence == before

    def send(self, workspace: str, sent: Submission, tick: int) -> None:
        """Tell both, and note the label and tick of what is new on record."""
        self.tick = tick
        told = answer(self.doors[workspace], sent)
        before = self.model.sequence
        assert told == self.model.submit(workspace, sent)
        if self.model.sequence != before:
            self.noted[self.model.sequence] = sent.submitted_by, tick

    @rule(workspace=workspaces)
    def open_another(self, workspace: str) -> None:
        """A new ledger object goes on where the old one was."""
        self.doors[workspace] = self.open(workspace)

    @rule(workspace=workspaces, question=instances)
    def ask_who_won(self, workspace: str, question: InstanceId) -> None:
        """The winner is told in its own workspace only; a closed instance has none."""
        winner = self.doors[workspace].winner(question)
        assert winner == self.model.winner(workspace, question)
        if self.model.streams[question] and self.model.streams[question][0].outcome == "closed":
            assert winner is None

    @rule(workspace=workspaces, limit=st.integers(1, 30))
    def list_losers(self, workspace: str, limit: int) -> None:
        """Losers are the newest of the workspace's attempts that neither won nor replayed."""
        losing = ("lost", "conflicted", "fenced", "late")
        expected = sorted(
            (
                entry.sequence
                for stream in self.model.streams.values()
                for entry in stream
                if entry.workspace == workspace and entry.outcome in losing
            ),
            reverse=True,
        )
        listed = self.doors[workspace].losers(limit)
        assert [loser.sequence for loser in listed] == expected[:limit]
        for loser in listed:
            assert loser in self.doors[workspace].history(loser.instance)

    @invariant()
    def the_log_is_the_models(self) -> None:
        """Same attempts and withdrawals, same places, words and ticks, and nothing besides."""
        expected = sorted(
            (
                entry.sequence,
                position,
                entry.outcome,
                *entry.submission,
                *self.noted[entry.sequence],
            )
            for stream in self.model.streams.values()
            for position, entry in enumerate(stream, start=1)
        )
        assert expected == [
            (
                a.sequence,
                a.position,
                a.outcome,
                a.workspace,
                a.response,
                a.idempotency_key,
                a.reason,
                a.submitted_by,
                a.tick,
            )
            for a in everything(self.doors.values(), INSTANCES)
        ]


def test_whatever_two_workspaces_do_the_ledger_agrees_with_the_model(
    new_ledger: Callable[[], OpenLedger],
) -> None:
    machine: Any = lambda: TwoWorkspaces(new_ledger())  # noqa: E731 (said to be a type)
    run_state_machine_as_test(machine)
