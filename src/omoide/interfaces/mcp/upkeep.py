"""Looking after the store as a whole, for agents that are trusted with it: offered with `--tools all`."""

from collections import Counter
from typing import Any

from msgspec import Struct

from omoide.formats.fence import one_line
from omoide.interfaces import wire
from omoide.interfaces.mcp.call import Call
from omoide.interfaces.mcp.desk import Desk
from omoide.interfaces.mcp.projects import Anywhere
from omoide.interfaces.mcp.shapes import Counted, Limit, Rows
from omoide.interfaces.mcp.tool import Answer, Tool


class Retire(Anywhere, kw_only=True):
    dry_run: bool = False


class Compare(Anywhere, kw_only=True):
    limit: Limit = 50


class Stats(Struct, frozen=True):
    count: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    by_project: dict[str, int]
    """What is global counts under the empty name."""
    vectors: dict[str, Any]
    newest_change: str | None


class Retired(Struct, frozen=True):
    rows: list[dict[str, Any]]
    dry_run: bool


class Twins(Struct, frozen=True):
    twins: list[dict[str, Any]]
    contradictions: list[dict[str, Any]]


def _stats(desk: Desk, asked: Anywhere, _: Call) -> Answer:
    memory = desk.acting(asked.caller_agent_id)
    counts, latest, vectors = memory.tally(), memory.latest(), memory.coverage()
    by_state, by_type, by_project = Counter[str](), Counter[str](), Counter[str]()
    for scope, kind, state, count in counts:
        by_state[state] += count
        by_type[kind] += count
        by_project[scope.path] += count
    value = Stats(
        by_state.total(),
        dict(by_state),
        dict(by_type.most_common()),
        dict(by_project.most_common()),
        {"embedder": vectors.embedder, "embedded": vectors.embedded, "pending": vectors.pending},
        None if latest is None else wire.moment(latest.at),
    )
    lines = [f"{value.count} memories.", *(f"{count} {state}" for state, count in value.by_state.items())]
    return Answer(value, "\n".join(lines))


def _retire(desk: Desk, asked: Retire, _: Call) -> Answer:
    done = desk.acting(asked.caller_agent_id).retire(dry_run=asked.dry_run).retirements
    lines = [
        f"{len(done)} memories {'would be' if asked.dry_run else 'are'} archived.",
        *(one_line(f"#{one.memory.number} {one.memory.topic}: {one.reason.value}") for one in done),
    ]
    return Answer(Retired([wire.retirement(one) for one in done], asked.dry_run), "\n".join(lines))


def _twins(desk: Desk, asked: Compare, call: Call) -> Answer:
    call.progress(0, 1, "comparing all memories")
    plan = desk.acting(asked.caller_agent_id).reindex(dry_run=True).plan
    merges, doubts = plan.merges[: asked.limit], plan.doubts[: asked.limit]
    lines = [
        f"{len(plan.merges)} groups of near twins, {len(plan.doubts)} pairs that may contradict each other.",
        *(f"#{one.into.number} and {', '.join(f'#{other.number}' for other in one.others)} are alike" for one in merges),
        *(f"#{one.one.number} or #{one.other.number}: {one.why}" for one in doubts),
    ]
    return Answer(Twins([wire.merge(one) for one in merges], [wire.doubt(one) for one in doubts]), "\n".join(lines))


def _embed(desk: Desk, asked: Anywhere, call: Call) -> Answer:
    memory = desk.acting(asked.caller_agent_id)
    pending, made = memory.coverage().pending, 0

    def tell(more: int) -> None:
        nonlocal made
        made += more
        call.progress(made, pending, f"{made} of {pending}")

    done = memory.embed_pending(tell)
    return Answer(Counted(done), f"{done} memories got their vector.")


def _check(desk: Desk, asked: Anywhere, call: Call) -> Answer:
    call.progress(0, 1, "checking the database and its index")
    findings = desk.acting(asked.caller_agent_id).check()
    rows = [{"what": each.what, "remedy": each.remedy} for each in findings]
    return Answer(Rows(rows), "\n".join(each.what for each in findings) or "The database and its index are whole.")


def _mend(desk: Desk, asked: Anywhere, call: Call) -> Answer:
    call.progress(0, 1, "making the index anew")
    done = desk.acting(asked.caller_agent_id).mend()
    return Answer(Counted(done), f"The index is made anew, of {done} memories.")


TOOLS = (
    Tool("stats", "Stats", "How many memories there are, by state, type and project.", Anywhere, Stats, _stats, reads=True),
    Tool(
        "retire",
        "Retire",
        "Archive what has expired, is long unused or crowds its layer; it also happens by itself.",
        Retire,
        Retired,
        _retire,
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "twins",
        "Twins",
        "Memories that say almost the same, and pairs that may contradict each other. Changes nothing.",
        Compare,
        Twins,
        _twins,
        reads=True,
    ),
    Tool("embed", "Embed", "Make the vectors that are missing, at once.", Anywhere, Counted, _embed, repeatable=True),
    Tool("check", "Check", "Check the database and its index.", Anywhere, Rows, _check, reads=True),
    Tool("mend", "Mend", "Make the index anew when check found it broken.", Anywhere, Counted, _mend, repeatable=True),
)
