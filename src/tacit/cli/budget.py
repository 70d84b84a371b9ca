"""``tacit budget``: the ledger, which remembers what was spent on each data set."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tacit
from tacit.cli import screen
from tacit.cli.options import Delta, Json, Neighbors, NeighborsOption, examples

if TYPE_CHECKING:
    from tacit.privacy import Account

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Keep account of what is spent: a ledger of data sets, their budgets and every charge.",
    epilog="A ledger is a file, or postgresql://user@host/database (keep the password in ~/.pgpass).",
)

_Ledger = Annotated[str, typer.Argument(metavar="LEDGER", help="A file or a postgresql:// URL.")]
_Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Name of a data set.")]


@app.command(epilog=examples("tacit budget create study.db patients --epsilon 2"))
def create(
    ledger: _Ledger,
    dataset: _Dataset,
    epsilon: Annotated[float, typer.Option(help="All that may ever be spent on the data set.")],
    delta: Delta = 1e-6,
    neighbors: NeighborsOption = Neighbors.replace_one,
    json: Json = False,
) -> None:
    """Give a data set a budget, once and for all; the ledger is made if there is none."""
    from tacit.privacy.ledger_store import shown_url

    account = tacit.Ledger(ledger).create(dataset, tacit.Budget(epsilon, delta), neighbors.value)
    if json:
        screen.print_json(_state(account))
        return
    dataset = account.dataset  # The name as the ledger spells it.
    screen.say(f"Data set {dataset!r} may spend epsilon {epsilon:g} at delta {delta:g} ({neighbors.value}).")
    place = shlex.quote(shown_url(account.ledger.url))
    screen.say(f"To charge a fit to it: tacit fit ... --ledger {place} --dataset {shlex.quote(dataset)}")


@app.command(epilog=examples("tacit budget show study.db patients"))
def show(ledger: _Ledger, dataset: _Dataset, json: Json = False) -> None:
    """Show what a data set may spend, what it has spent and what is left."""
    state = _state(tacit.Ledger(ledger).account(dataset))
    if json:
        screen.print_json(state)
        return
    screen.table(_HEAD, [_row(state)])
    screen.say("\nSpent and left need not add up to the budget: charges compose for less than their sum.")
    _say_seeded(state["seeded"])


@app.command("list")
def list_(ledger: _Ledger, json: Json = False) -> None:
    """List all data sets and what is left of their budgets."""
    book = tacit.Ledger(ledger)
    states = [_state(book.account(dataset)) for dataset in book.datasets()]
    if json:
        screen.print_json(states)
        return
    screen.table(_HEAD, [_row(state) for state in states])


@app.command()
def history(ledger: _Ledger, dataset: _Dataset, json: Json = False) -> None:
    """Show every charge to a data set, in order.

    With --json, whole receipts: keep a copy elsewhere, and it will show whether the ledger was ever replaced.
    """
    receipts = tacit.Ledger(ledger).history(dataset)
    if json:
        screen.print_json([asdict(receipt) for receipt in receipts])
        return
    if not receipts:
        screen.say(f"Nothing was charged to {dataset!r} yet.")
        return
    rows = [
        (str(r.id), r.time[:19].replace("T", " "), r.purpose + " (SEEDED)" * r.seeded, f"{r.epsilon:.4g}", r.hash[:12])
        for r in receipts
    ]
    screen.table(("charge", "time (UTC)", "purpose", "epsilon alone", "receipt"), rows, words=3)
    _say_seeded(sum(receipt.seeded for receipt in receipts))


@app.command()
def verify(
    ledger: _Ledger,
    dataset: Annotated[str | None, typer.Argument(metavar="DATASET", help="By default all of them.")] = None,
    json: Json = False,
) -> None:
    """Check that the record is whole: no charge was changed, removed or exchanged, no budget altered."""
    book = tacit.Ledger(ledger)
    charges = {name: book.verify(name) for name in ([dataset] if dataset is not None else book.datasets())}
    if json:
        screen.print_json({"whole": True, "charges": charges})
        return
    for name, count in charges.items():
        screen.say(f"The record of {name!r} is whole: {count} charge{'s' * (count != 1)}.")


_HEAD = ("data set", "budget", "delta", "spent", "left", "charges", "neighbours")


def _state(account: Account) -> dict[str, Any]:
    budget, receipts = account.budget, account.history()
    return {
        "dataset": account.dataset,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "neighbors": account.neighbors,
        "spent": account.spent().epsilon,
        "remaining": account.remaining().epsilon,
        "charges": len(receipts),
        "seeded": sum(receipt.seeded for receipt in receipts),
    }


def _say_seeded(count: int) -> None:
    if count:
        screen.say(
            f"\nSEEDED: NOT PRIVATE. {count} charge{'s were' if count > 1 else ' was'} for noise from a fixed seed: "
            "the budget does not hold for what was released so. Do not publish it."
        )


def _row(state: dict[str, Any]) -> tuple[str, ...]:
    amounts = (f"{state[name]:.4g}" for name in ("epsilon", "delta", "spent", "remaining"))
    return (state["dataset"], *amounts, str(state["charges"]), state["neighbors"])
