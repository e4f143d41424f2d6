"""Tools that maintain the whole database, for trusted agents: offered with `--tools all`."""

from typing import Any

from msgspec import Struct

from omoide.interfaces import serialize
from omoide.interfaces.mcp.context import CallContext
from omoide.interfaces.mcp.request import RequestContext
from omoide.interfaces.mcp.schemas import CountResult, Limit, RowsResult
from omoide.interfaces.mcp.tools.projects import AgentInput
from omoide.interfaces.mcp.tools.registry import Tool, ToolAnswer
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
    """Global memories count under the empty name."""
    vectors: dict[str, Any]
    newest_change: str | None


class RetireResult(Struct, frozen=True):
    rows: list[dict[str, Any]]
    dry_run: bool


class NearDuplicatesResult(Struct, frozen=True):
    near_duplicates: list[dict[str, Any]]
    contradictions: list[dict[str, Any]]


def _stats(context: CallContext, arguments: AgentInput, _: RequestContext) -> ToolAnswer:
    stats = context.acting_as(arguments.caller_agent_id).stats()
    result = StatsResult(
        stats.count,
        {state: count for state, count in stats.by_state.items() if count},
        stats.by_type,
        stats.by_project,
        serialize.coverage(stats.vectors),
        serialize.format_time(stats.newest_change),
    )
    lines = [f"{result.count} memories.", *(f"{count} {state}" for state, count in result.by_state.items())]
    return ToolAnswer(result, "\n".join(lines))


def _retire(context: CallContext, arguments: RetireInput, _: RequestContext) -> ToolAnswer:
    retirements = context.acting_as(arguments.caller_agent_id).retire(dry_run=arguments.dry_run).retirements
    lines = [
        f"{len(retirements)} memories {'would be' if arguments.dry_run else 'are'} archived.",
        *(one_line(f"#{each.memory.number} {each.memory.topic}: {each.reason.value}") for each in retirements),
    ]
    return ToolAnswer(
        RetireResult([serialize.retirement(each) for each in retirements], arguments.dry_run), "\n".join(lines)
    )


def _near_duplicates(context: CallContext, arguments: CompareInput, call: RequestContext) -> ToolAnswer:
    call.progress(0, 1, "comparing all memories")
    plan = context.acting_as(arguments.caller_agent_id).reindex(dry_run=True).plan
    merges, contradictions = plan.merges[: arguments.limit], plan.contradictions[: arguments.limit]
    lines = [
        f"{len(plan.merges)} groups of near-duplicates, {len(plan.contradictions)} pairs that may contradict each other.",
        *(
            f"#{merge.into.number} and {', '.join(f'#{other.number}' for other in merge.others)} are near-duplicates"
            for merge in merges
        ),
        *(f"#{pair.one.number} or #{pair.other.number}: {pair.why}" for pair in contradictions),
    ]
    return ToolAnswer(
        NearDuplicatesResult(
            [serialize.merge(merge) for merge in merges], [serialize.contradiction(pair) for pair in contradictions]
        ),
        "\n".join(lines),
    )


def _embed(context: CallContext, arguments: AgentInput, call: RequestContext) -> ToolAnswer:
    service = context.acting_as(arguments.caller_agent_id)
    pending, embedded = service.coverage().pending, 0

    def report(more: int) -> None:
        nonlocal embedded
        embedded += more
        call.progress(embedded, pending, f"{embedded} of {pending}")

    count = service.embed_pending(report)
    return ToolAnswer(CountResult(count), f"Embedded {count} memories.")


def _check(context: CallContext, arguments: AgentInput, call: RequestContext) -> ToolAnswer:
    call.progress(0, 1, "checking the database and its index")
    problems = context.acting_as(arguments.caller_agent_id).check()
    rows = [{"what": each.what, "remedy": each.remedy} for each in problems]
    return ToolAnswer(
        RowsResult(rows), "\n".join(each.what for each in problems) or "The database and its index have no errors."
    )


def _repair(context: CallContext, arguments: AgentInput, call: RequestContext) -> ToolAnswer:
    call.progress(0, 1, "rebuilding the index")
    count = context.acting_as(arguments.caller_agent_id).repair()
    return ToolAnswer(CountResult(count), f"Rebuilt the index of {count} memories.")


TOOLS = (
    Tool(
        "stats",
        "Stats",
        "Count memories by state, type and project.",
        AgentInput,
        StatsResult,
        _stats,
        reads=True,
    ),
    Tool(
        "retire",
        "Retire",
        "Archive memories that have expired, are long unused or exceed the limit of their layer. Also runs automatically.",
        RetireInput,
        RetireResult,
        _retire,
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "near_duplicates",
        "Near-duplicates",
        "List near-duplicates, and pairs of memories that may contradict each other. Changes nothing.",
        CompareInput,
        NearDuplicatesResult,
        _near_duplicates,
        reads=True,
    ),
    Tool("embed", "Embed", "Compute missing vectors now.", AgentInput, CountResult, _embed, repeatable=True),
    Tool("check", "Check", "Check the database and its index for errors.", AgentInput, RowsResult, _check, reads=True),
    Tool(
        "repair",
        "Repair",
        "Rebuild the index, if check reported an error in it.",
        AgentInput,
        CountResult,
        _repair,
        repeatable=True,
    ),
)
