"""What a search reads of sessions: the neighbours of its candidates, and the texts of turns."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from omoide.embeddings import chunking
from omoide.model import Query
from omoide.retrieval import constants, sessions
from omoide.retrieval.sessions import SessionFeatures, TurnText
from omoide.retrieval.time_expressions import Span, mentions_time, span
from omoide.storage.base import RankingFacts, Reader, SessionNeighbour


def asked_time(text: str, at: datetime) -> Span | None:
    """Return the time that a question asks about, relative to `at`, in the local time zone; None if it names none."""
    return span(text, at.astimezone()) if mentions_time(text) else None


def add_neighbours(
    tx: Reader, query: Query, facts: dict[int, RankingFacts], seeds: Collection[int], at: datetime
) -> Sequence[SessionNeighbour]:
    """Add to the candidates the neighbours of the best ones in their sessions; return all candidates of these sessions.

    `facts`: the candidates, to which the neighbours are added. `seeds`: the numbers of the best ones.
    """
    neighbours = tx.session_neighbours(sorted(facts.keys() & seeds), 2 * constants.SESSION_REACH)
    close = [number for number in sessions.close_turns(neighbours, seeds) if number not in facts]
    facts |= tx.ranking_facts(query, close, at)
    return [neighbour for neighbour in neighbours if neighbour.number in facts]


def read_session_features(
    tx: Reader,
    question: str,
    span: Span | None,
    facts: Mapping[int, RankingFacts],
    neighbours: Sequence[SessionNeighbour],
) -> SessionFeatures | None:
    """Return the sessions and times of the candidates; None if no candidate is a turn of a session and no time is asked for.

    `span`: the time that the question asks about. `facts`: the candidates. `neighbours`: what `add_neighbours` returned.
    """
    turns = {number for number, memory in facts.items() if memory.session and memory.length <= constants.TURN_LENGTH}
    if not turns and span is None:
        return None
    texts: dict[int, TurnText] = {}
    for number, ends in tx.text_ends([*facts]).items():
        asks = ends.last.rstrip().endswith(("?", "？"))
        texts[number] = TurnText(ends.created_at, chunking.strip_timestamps(ends.first), asks)
    return SessionFeatures(question, span, neighbours, turns, texts)
