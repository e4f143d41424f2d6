"""Projects: list, create, describe."""

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Scope

PROJECT = {
    "id": 1,
    "path": "backend/python/shop",
    "name": "shop",
    "description": "The web shop",
    "createdAt": "2026-02-05T10:00:00Z",
}
_ONE = "/api/projects/{projectId}"


@route("GET", "/api/projects", "listProjects", answer=values.ProjectList, example={"projects": [PROJECT]})
def list_projects(call: Call[NoQuery, None]) -> Answer:
    """List the projects that the token may see, by path."""
    return Answer(values.ProjectList(projects=[values.project(each) for each in call.service.projects()]))


@route(
    "POST",
    "/api/projects",
    "createProject",
    body=values.NewProject,
    answer=values.ProjectAnswer,
    status=201,
    statuses=(409,),
    example=PROJECT,
    body_example={"path": "backend/python/shop", "description": "The web shop"},
    idempotent=True,
)
def create_project(call: Call[NoQuery, values.NewProject]) -> Answer:
    """Create a project."""
    new = call.body
    made = call.once(Scope.everywhere(), lambda service: service.create_project(new.path, description=new.description))
    return Answer(values.project(made), headers={"Location": f"/api/projects/{made.number}"})


@route("GET", _ONE, "getProject", answer=values.ProjectAnswer, example=PROJECT)
def get_project(call: Call[NoQuery, None]) -> Answer:
    """Return a project."""
    return Answer(values.project(call.project))


@route(
    "PATCH",
    _ONE,
    "updateProject",
    body=values.ProjectPatch,
    answer=values.ProjectAnswer,
    example=PROJECT,
    body_example={"description": "The web shop"},
)
def update_project(call: Call[NoQuery, values.ProjectPatch]) -> Answer:
    """Change the description of a project."""
    return Answer(values.project(call.service.describe_project(call.project.path, call.body.description)))
