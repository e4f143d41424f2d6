"""Looking after the store as a whole, for agents that are trusted with it: offered with `--tools all`."""

from typing import Any

from msgspec import Struct

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import CountResult, Limit, RowsResult
from omoide.interfaces.mcp.tools.projects import AgentInput
from omoide.interfaces.mcp.tools.registry import Answer, Tool
from omoide.markdown.fence import one_line


class RetireInput(AgentInput, kw_only=True):
    dry_run: bool = False


class CompareInput(AgentInput, kw_only=True):
    limit: Limit = 50


class StatsResult(Struct, frozen=True):
    count: int
    by_state: dict[str, int]
    by_type: dict[str, int]
    by_project: dict[str, int]
    """What is global counts under the empty name."""
    vectors: dict[str, Any]
    newest_change: str | None


class RetireResult(Struct, frozen=True):
    rows: list[dict[str, Any]]
    dry_run: bool


class NearDuplicatesResult(Struct, frozen=True):
    twins: list[dict[str, Any]]
    contradictions: list[dict[str, Any]]


def _stats(context: CallContext, asked: AgentInput, _: RequestContext) -> Answer:
    stats = context.acting_as(asked.caller_agent_id).stats()
    value = StatsResult(
        stats.count,
        {state: count for state, count in stats.by_state.items() if count},
        stats.by_type,
        stats.by_project,
        {"embedder": stats.vectors.embedder, "embedded": stats.vectors.embedded, "pending": stats.vectors.pending},
        serialize.format_time(stats.newest_change),
    )
    lines = [f"{value.count} memories.", *(f"{count} {state}" for state, count in value.by_state.items())]
    return Answer(value, "\n".join(lines))


def _retire(context: CallContext, asked: RetireInput, _: RequestContext) -> Answer:
    done = context.acting_as(asked.caller_agent_id).retire(dry_run=asked.dry_run).retirements
    lines = [
        f"{len(done)} memories {'would be' if asked.dry_run else 'are'} archived.",
        *(one_line(f"#{one.memory.number} {one.memory.topic}: {one.reason.value}") for one in done),
    ]
    return Answer(RetireResult([serialize.retirement(one) for one in done], asked.dry_run), "\n".join(lines))


def _near_duplicates(context: CallContext, asked: CompareInput, call: RequestContext) -> Answer:
    call.progress(0, 1, "comparing all memories")
    plan = context.acting_as(asked.caller_agent_id).reindex(dry_run=True).plan
    merges, doubts = plan.merges[: asked.limit], plan.contradictions[: asked.limit]
    lines = [
        f"{len(plan.merges)} groups of near twins, {len(plan.contradictions)} pairs that may contradict each other.",
        *(f"#{one.into.number} and {', '.join(f'#{other.number}' for other in one.others)} are alike" for one in merges),
        *(f"#{one.one.number} or #{one.other.number}: {one.why}" for one in doubts),
    ]
    return Answer(
        NearDuplicatesResult([serialize.merge(one) for one in merges], [serialize.doubt(one) for one in doubts]),
        "\n".join(lines),
    )


def _embed(context: CallContext, asked: AgentInput, call: RequestContext) -> Answer:
    memory = context.acting_as(asked.caller_agent_id)
    pending, made = memory.coverage().pending, 0

    def tell(more: int) -> None:
        nonlocal made
        made += more
        call.progress(made, pending, f"{made} of {pending}")

    done = memory.embed_pending(tell)
    return Answer(CountResult(done), f"{done} memories got their vector.")


def _check(context: CallContext, asked: AgentInput, call: RequestContext) -> Answer:
    call.progress(0, 1, "checking the database and its index")
    findings = context.acting_as(asked.caller_agent_id).check()
    rows = [{"what": each.what, "remedy": each.remedy} for each in findings]
    return Answer(RowsResult(rows), "\n".join(each.what for each in findings) or "The database and its index are whole.")


def _repair(context: CallContext, asked: AgentInput, call: RequestContext) -> Answer:
    call.progress(0, 1, "making the index anew")
    done = context.acting_as(asked.caller_agent_id).repair()
    return Answer(CountResult(done), f"The index is made anew, of {done} memories.")


TOOLS = (
    Tool(
        "stats",
        "Stats",
        "How many memories there are, by state, type and project.",
        AgentInput,
        StatsResult,
        _stats,
        reads=True,
    ),
    Tool(
        "retire",
        "Retire",
        "Archive what has expired, is long unused or crowds its layer; it also happens by itself.",
        RetireInput,
        RetireResult,
        _retire,
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "twins",
        "Twins",
        "Memories that say almost the same, and pairs that may contradict each other. Changes nothing.",
        CompareInput,
        NearDuplicatesResult,
        _near_duplicates,
        reads=True,
    ),
    Tool("embed", "Embed", "Make the vectors that are missing, at once.", AgentInput, CountResult, _embed, repeatable=True),
    Tool("check", "Check", "Check the database and its index.", AgentInput, RowsResult, _check, reads=True),
    Tool(
        "repair",
        "Repair",
        "Rebuild the index when check found it broken.",
        AgentInput,
        CountResult,
        _repair,
        repeatable=True,
    ),
)
