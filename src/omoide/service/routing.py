"""Route a message: which project it belongs to, and what it asks to remember."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from omoide.errors import InvalidInput, ModelUnavailable
from omoide.files.directory_text import directory_text
from omoide.guard import permissions
from omoide.model import Layer, Memory, Project, Query, Route, RouteCandidate, RouteConfidence, Scope
from omoide.retrieval import pipeline
from omoide.service.projects import Projects
from omoide.service.repositories import Repositories

if TYPE_CHECKING:  # a process that routes nothing does not load it
    from omoide.retrieval.project_search import MessageMatches
    from omoide.routing.question import RoutingAnswer

_MOST_READ = 30_000
"""Characters of a message that are looked at, from its beginning: more are pasted."""
_MOST_CANDIDATES = 5
_QUOTED = 0.6
"""Share of its wording that must be in the message, of what a model says that it asks to remember."""


class Routing(Projects, Repositories):
    """The operation that decides which project a message belongs to."""

    def route(
        self,
        message: str,
        *,
        current: str | Scope | None = None,
        directory: Path | str | None = None,
        ask: bool = True,
    ) -> Route:
        """Decide which project a message belongs to, and what it asks to remember. Nothing is written or created.

        `message`: what a person wrote. `current`: the project that the conversation is in, by its path or its scope: a
        message that merely continues stays with it. `directory`: where the person works; without `current`, its project is
        the current one. `ask`: whether the language model is asked where one is configured and words and vectors do not
        decide.

        Only projects within the actor's bounds are considered. A greeting, a private matter or a new topic gives no project,
        also where there is a current one; where there is none, `proposal` names a new one. Raises InvalidInput for a name
        that no project can have, NotAllowed for a current project outside of the actor's bounds.
        """
        permissions.require(self._actor, "route")
        from omoide.learning.injected_text import strip_injected  # lazy: patterns that only routing and learning need

        message = strip_injected(message[:_MOST_READ]).encode("utf-8", "replace").decode()
        here = self._current_project(current, directory)
        projects = self.projects()
        known = {project.path: project for project in projects}
        current_path, proposed = (here, "") if here in known else (None, here or "")
        route, undecided = self._route_by_evidence(message, known, current_path)
        if undecided and ask and self._llm.is_enabled and projects:
            route = self._ask_for_route(message, projects, route, current_path)
        if route.primary is None and route.current is None and not route.proposal:
            route = msgspec.structs.replace(route, proposal=_propose(message, proposed, known))
        return route

    # the parts of the above

    def _current_project(self, current: str | Scope | None, directory: Path | str | None) -> str | None:
        """The path of the current project, which need not exist yet."""
        if current is not None:
            scope = current if isinstance(current, Scope) else Scope.project(current)
            if scope.path:
                permissions.require_place(self._actor, scope)
                return scope.path
        if directory is None:
            return None
        found = self._project_of_directory(Path(directory))
        if found is None or not permissions.may_name(self._actor, found.path):
            return None
        return found.path

    def _project_of_directory(self, directory: Path) -> Scope | None:
        """The project of a directory: that of its repository, else the one that it or a directory above belongs to."""
        from omoide.files.git import git_root  # lazy: only a caller with a directory needs it

        try:
            root, start = git_root(directory), directory.resolve()
            if root is not None:
                return self._identify(root, bind=False).scope
        except (OSError, InvalidInput):  # fallback: it cannot be read, or no name can be made of it
            return None
        with self._store.read() as tx:
            for place in (start, *start.parents):
                project = tx.project(root=directory_text(place))
                if project is not None:
                    return Scope(project.path)
        return None

    def _route_by_evidence(self, message: str, known: Mapping[str, Project], current: str | None) -> tuple[Route, bool]:
        """The route by names, words and vectors, and whether they leave it undecided."""
        from omoide.routing.cues import find_cues  # lazy: see the top
        from omoide.routing.decision import Weighing, decide  # lazy: see the top
        from omoide.routing.names import find_mentions  # lazy: see the top
        from omoide.routing.reason import explain  # lazy: see the top
        from omoide.routing.scoring import (  # lazy: see the top
            NO_PROJECT,
            MessageContext,
            find_no_project_evidence,
            score,
        )

        matches = self._match_projects(message, [*known.values()])
        mentions = find_mentions(message, known)
        named = [one.path for one in mentions if not one.compared]
        cues = find_cues(message)
        scores = Weighing(
            score(matches, MessageContext(named, current, cues)), score(matches, MessageContext(named, None, cues))
        )
        least = self._settings.inject_min_score
        evidence = find_no_project_evidence(matches, cues)
        decision = decide(scores, mentions, current, evidence, least=least, telling=bool(matches.terms))
        likeliest = [(path, value) for path, value in scores.here.items() if path != NO_PROJECT][:_MOST_CANDIDATES]
        route = Route(
            None if decision.primary is None else known[decision.primary],
            decision.confidence,
            explain(decision, matches, message),
            tuple(known[path] for path in decision.secondary),
            _find_pinned(message),
            candidates=tuple(RouteCandidate(known[path], round(value, 4)) for path, value in likeliest),
            current=None if current is None else known[current],
        )
        return route, decision.undecided

    def _match_projects(self, message: str, projects: Sequence[Project]) -> "MessageMatches":
        from omoide.retrieval.project_search import describe, match_projects  # lazy: see the top
        from omoide.routing.message_words import message_words  # lazy: see the top

        query = Query(Scope(), message, layers=self._own_layers())
        descriptions = [describe(project) for project in projects]
        words = message_words(message, descriptions)
        vector = self._embeddings.encode_query(query)
        description_cosines: Mapping[str, float] = {}
        if vector is not None:
            cosines = self._embeddings.compare_texts(vector, descriptions)
            description_cosines = dict(zip((project.path for project in projects), cosines, strict=False))
        with self._read(None) as tx:
            return match_projects(tx, query, words, projects, self._clock(), vector, description_cosines)

    def _ask_for_route(
        self,
        message: str,
        projects: Sequence[Project],
        route: Route,
        current: str | None,
    ) -> Route:
        """Return the route that the language model chooses; the current project, or none, if it gives no usable answer."""
        from omoide.routing import question  # lazy: see the top

        asked = question.compose_question(message, projects, self._notes_for(message, projects), current)
        try:
            answer = self._llm.ask("route", question.INSTRUCTIONS, asked, question.RoutingAnswer)
        except ModelUnavailable as error:  # fallback: the current project, else none
            return _without_model(route, current, projects, str(error))
        if answer.primary is not None and not 1 <= answer.primary <= len(projects):
            trouble = f"the language model chose number {answer.primary} of {len(projects)} projects"
            return _without_model(route, current, projects, trouble)
        return _follow(answer, route, projects, message)

    def _own_layers(self) -> tuple[Layer, ...]:
        """The layers of projects that the actor may read. Raises NotAllowed if there is none."""
        allowed = permissions.readable_layers(self._actor)
        layers = tuple(layer for layer in (Layer.PROJECT, Layer.SESSION) if layer in allowed)
        if not layers:
            permissions.require_allowed_layer(self._actor, Layer.PROJECT)
        return layers

    def _notes_for(self, message: str, projects: Sequence[Project]) -> Sequence[Memory]:
        """Memories of these projects that have something in common with a message, the best first."""
        paths = tuple(project.path for project in projects)
        query = Query(Scope(), message, layers=self._own_layers(), projects=paths)
        vector = self._embeddings.encode_query(query)
        with self._store.read() as tx:
            return [hit.memory for hit in pipeline.search(tx, query, self._clock(), vector).hits]


def _follow(answer: "RoutingAnswer", route: Route, projects: Sequence[Project], message: str) -> Route:
    """The route that the language model chose."""
    primary = None if answer.primary is None else projects[answer.primary - 1]
    others = [projects[number - 1] for number in dict.fromkeys(answer.secondary) if 1 <= number <= len(projects)]
    why = " ".join(answer.reason.split())
    proposal = ""
    if primary is None and route.current is None:
        proposal = _propose("", answer.new_project or "", [each.path for each in projects])
    confidence = RouteConfidence.LOW if answer.primary is None else RouteConfidence(answer.confidence)
    return msgspec.structs.replace(
        route,
        primary=primary,
        secondary=tuple(project for project in others if project != primary),
        confidence=confidence,
        reason=f"The language model chose it: {why}" if why else "The language model chose it.",
        pinned_content=route.pinned_content or _quoted_text(answer.pinned_content or "", message),
        proposal=proposal,
    )


def _without_model(route: Route, current: str | None, projects: Sequence[Project], trouble: str) -> Route:
    """The route where the language model gave no usable answer: the current project, else none."""
    primary = next((project for project in projects if project.path == current), None)
    reason = "The language model did not help, and nothing else decides"
    reason += "." if primary is None else f": the conversation stays in {primary.path}."
    return msgspec.structs.replace(
        route, primary=primary, secondary=(), confidence=RouteConfidence.LOW, reason=reason, trouble=trouble
    )


def _quoted_text(content: str, message: str) -> str:
    """What a model says that a message asks to remember, if the message says it: a model may invent it."""
    from omoide.learning.wording import share_of, wording  # lazy: patterns that only routing and learning need

    content = content.strip()
    return content if content and share_of(content, wording(message)) >= _QUOTED else ""


def _find_pinned(message: str) -> str:
    from omoide.learning.requests import find_requests  # lazy: patterns that only routing and learning need

    return "\n".join(request.content for request in find_requests(message))


def _propose(message: str, name: str, taken: Collection[str]) -> str:
    from omoide.routing.proposal import free_name, propose_name  # lazy: see the top

    return (name and free_name(name, taken)) or propose_name(message, taken)
