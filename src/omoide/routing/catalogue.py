"""The projects as a numbered list, for a person or a model that chooses among them. Pure."""

from collections.abc import Sequence

from omoide.model import Project


def catalogue(projects: Sequence[Project]) -> str:
    """Return the projects as a numbered list, one per line: number, name, category path, description.

        1. shop (backend/python): the web shop of the bakery
        2. garden

    `projects`: in the order of the list; the numbers begin with 1. Line breaks and control characters become spaces.
    """
    return "\n".join(f"{number}. {_line(project)}" for number, project in enumerate(projects, 1))


def _line(project: Project) -> str:
    category, _, name = project.path.rpartition("/")
    line = f"{name} ({category})" if category else name
    description = "".join(c if c.isprintable() else " " for c in project.description).strip()
    return f"{line}: {description}" if description else line
