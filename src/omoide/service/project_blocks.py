"""The memory of a project as a block for the end of a prompt."""

from collections.abc import Sequence

from omoide.errors import NotFound
from omoide.guard import permissions, validation
from omoide.model import Scope
from omoide.service.trees import ProjectFiles, Trees


class ProjectBlocks(Trees):
    """The operation that renders the block of a project."""

    def project_block(self, *, scope: Scope, secondary: Sequence[str] = (), max_bytes: int | None = None) -> str:
        """Return the memory of the scope's project as a block for the end of a prompt.

        It contains MEMORY.md, the newest session (or the scope's own) and the pinned memories.

        `secondary`: the paths of other projects of which the block shows only the summaries. `max_bytes`: the maximum size;
        0: no limit; by default the setting `max_injection_size`. What does not fit is left out, the secondary projects
        first.

        Returns an empty text for the global layer, for a project that does not exist, and if not even its frame fits. Raises
        NotFound for a secondary project that does not exist, InvalidInput and NotAllowed.
        """
        permissions.require(self._actor, "project_block")
        from omoide.prompt.project_block import ProjectTexts, render_project_block  # lazy: only this needs it

        most = validation.check_count(
            self._settings.max_injection_size if max_bytes is None else max_bytes, "max_injection_size"
        )
        files = self.project_files(scope.path) if scope.path else None
        if files is None:
            return ""
        others = [(path, self._require_files(path).memory.text) for path in secondary]
        session = next((each.text for each in files.sessions if not scope.name or each.session == scope.name), "")
        texts = ProjectTexts(scope.path.rpartition("/")[2], files.memory.text, session, files.pinned.text)
        return render_project_block(texts, others, most=most)

    def _require_files(self, path: str) -> ProjectFiles:
        files = self.project_files(path)
        if files is None:
            raise NotFound(f"there is no project {path!r}: `omoide project list` shows what there is")
        return files
