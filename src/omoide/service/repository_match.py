"""Which project a repository is: decided by what git reports and what is known of all projects. Pure."""

from collections.abc import Container, Iterable, Sequence
from enum import Enum, auto
from pathlib import PurePath
from typing import NamedTuple

from omoide import model
from omoide.errors import InvalidInput
from omoide.files.repository_stamp import UNANSWERED
from omoide.model import Project, RepositoryIdentity


class Relation(Enum):
    """How a repository is related to the projects that are known."""

    SAME = auto()
    """It is the repository of the project: another clone, a moved directory, or its directory with something new."""
    FORK = auto()
    """It shares its history with a project and has another remote: a person has to say whether it is the same."""
    REPLACED = auto()
    """It is in the directory of a project and is another repository, or a new history: a person has to say which."""
    UNSURE = auto()
    """A project of this name was in a directory that is gone, and nothing more is known of it: a person has to say."""
    NEW = auto()
    """It is the repository of no project yet."""


class Match(NamedTuple):
    """Which project a repository is."""

    relation: Relation
    path: str
    """The project that it is, or that it becomes unless a person says that it is the `candidate`."""
    candidate: str = ""
    """Of FORK, REPLACED and UNSURE: the project that it may be."""
    taken: str = ""
    """The name that it would have had: a project that is another repository has it."""


class Checkout(NamedTuple):
    """A repository in a directory."""

    directory: str
    identity: RepositoryIdentity
    stamp: str
    rewritten: bool = False
    """Whether it still has a root commit of the project of its directory that its branches no longer lead to."""
    same_data: bool = False
    """Whether git's own directory is the one that was there when the project of this directory was identified."""


def match(checkout: Checkout, projects: Sequence[Project], present: Container[str]) -> Match:
    """Decide which project a checkout is.

    `projects`: all that are known. `present`: those of their directories that exist. Raises InvalidInput as `free_name`.
    """
    bound = next((project for project in projects if _has_place(project, checkout.directory)), None)
    if bound is not None and _keeps_binding(checkout, bound):
        return Match(Relation.SAME, bound.path)
    same = [project for project in projects if _is_same(checkout, project)]
    if same:
        # A fork that was kept apart shares its root commits with the project it was forked from: its remote decides.
        same.sort(key=lambda project: checkout.identity.remote not in project.remotes)
        return Match(Relation.SAME, same[0].path)
    moved = next((project for project in projects if _was_moved(checkout, project, present)), None)
    if moved is not None:
        return Match(Relation.SAME, moved.path)
    path, taken = free_name(checkout.directory, projects)
    fork = next((project for project in projects if _shares_root(checkout.identity, project)), None)
    if fork is not None:
        return Match(Relation.FORK, path, fork.path, taken)
    if bound is not None:
        return Match(Relation.REPLACED, path, bound.path, taken)
    lost = next((project for project in projects if project.path == taken and _is_lost(project, present)), None)
    if lost is not None:
        return Match(Relation.UNSURE, path, lost.path, taken)
    return Match(Relation.NEW, path, taken=taken)


def free_name(directory: str, projects: Iterable[Project]) -> tuple[str, str]:
    """Return a project name for a directory that no repository has, and the name that was the first choice but is taken.

    The second is an empty text if the first choice is free. A project that belongs to no repository yet, because somebody
    created it by name, counts as free. Raises InvalidInput if no name can be made from the directory.
    """
    known = {project.path.casefold(): project for project in projects}
    names = [name for name in map(_segment, PurePath(directory).parts[1:]) if name]
    if not names:
        raise InvalidInput(f"no project name can be made from {directory}: give one with --project")
    choices = ["/".join(names[-length:]) for length in range(1, min(3, len(names)) + 1)]
    choices += [f"{names[-1]}-{number}" for number in range(2, len(known) + 3)]
    for choice in choices:
        other = known.get(choice.casefold())
        if other is None or not (other.places or other.root_commits or other.remotes):
            taken = "" if choice == choices[0] else known[choices[0].casefold()].path
            return (choice if other is None else other.path), taken
    raise InvalidInput(f"there is no free project name for {directory}: give one with --project")


def _keeps_binding(checkout: Checkout, project: Project) -> bool:
    """Whether the repository in a project's directory is still the project's."""
    identity = checkout.identity
    if _shares_root(identity, project) or identity.remote in project.remotes or checkout.rewritten:
        return True
    if identity.root_commits and project.root_commits:
        return False
    if identity.remote and project.remotes:
        return checkout.same_data
    return True  # nothing speaks against it: before the first commit, or where git cannot be asked, the directory decides


def _is_same(checkout: Checkout, project: Project) -> bool:
    identity = checkout.identity
    shares_remote = bool(identity.remote) and identity.remote in project.remotes
    if _shares_root(identity, project):
        return shares_remote or not identity.remote or not project.remotes or _is_clone_of_place(checkout, project)
    if not shares_remote:
        return False
    # A shallow clone, or a history that was rewritten on the server. A local directory may be another repository by now.
    return not identity.root_commits or not project.root_commits or not identity.remote.startswith("/")


def _shares_root(identity: RepositoryIdentity, project: Project) -> bool:
    return not set(identity.root_commits).isdisjoint(project.root_commits)


def _is_clone_of_place(checkout: Checkout, project: Project) -> bool:
    """Whether one was cloned from a directory of the other."""
    directories = {place.directory for place in project.places}
    return _work_tree(checkout.identity.remote) in directories or checkout.directory in map(_work_tree, project.remotes)


def _work_tree(remote: str) -> str:
    return remote.removesuffix("/.git")


def _was_moved(checkout: Checkout, project: Project, present: Container[str]) -> bool:
    """Whether this is the repository of a directory that is gone, although neither commits nor a remote tell."""
    stamp = checkout.stamp.removesuffix(UNANSWERED)
    return bool(stamp) and any(
        place.stamp.removesuffix(UNANSWERED) == stamp and place.directory not in present for place in project.places
    )


def _is_lost(project: Project, present: Container[str]) -> bool:
    """Whether all directories of a project are gone and nothing else is known of its repository."""
    if project.root_commits or project.remotes or not project.places:
        return False
    return all(place.directory not in present for place in project.places)


def _has_place(project: Project, directory: str) -> bool:
    return any(place.directory == directory for place in project.places)


def _segment(part: str) -> str:
    """A directory's name as a project's segment; empty when nothing of it can stay."""
    try:
        return model.check_segment(part, "project")
    except InvalidInput:  # fallback: the characters that a name may have
        cleaned = "".join(c if c.isalnum() or c in "-_" else "-" for c in part).strip("-")
        return cleaned[:80]
