"""Links between memories."""

from typing import Annotated

from msgspec import Meta

from omoide.interfaces.rest import values
from omoide.interfaces.rest.routes.memories import ONE
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route
from omoide.model import Link

_PATH = f"{ONE}/links"
_UUID = "019c2d3e-7a00-7000-8000-00000000000"
_LINK = {"sourceUuid": f"{_UUID}1", "kind": "supersedes", "targetUuid": f"{_UUID}2", "createdAt": "2026-02-05T10:00:00Z"}


class LinkAnswer(values.Output, frozen=True):
    """A link between two memories."""

    source_uuid: str
    """Of the memory that it starts from."""
    kind: values.LinkName
    target_uuid: str
    """Of the memory that it leads to."""
    created_at: values.Time


class LinkList(values.Output, frozen=True):
    """The links from and to a memory."""

    links: list[LinkAnswer]


class NewLink(values.Input, frozen=True):
    """A link to make."""

    kind: values.LinkName
    target_id: Annotated[int, Meta(ge=1)]
    """The number of the memory that it leads to."""


def _show_link(value: Link) -> LinkAnswer:
    """Return the answer for a link."""
    return LinkAnswer(source_uuid=value.source, kind=value.kind.value, target_uuid=value.target, created_at=value.created_at)


@route("GET", _PATH, "listLinks", answer=LinkList, example={"links": [_LINK]})
def list_links(call: Call[NoQuery, None]) -> Answer:
    """List the links from and to a memory."""
    links = call.service.links(call.memory_ref, scope=call.scope)
    return Answer(LinkList(links=[_show_link(each) for each in links]))


@route(
    "POST",
    _PATH,
    "createLink",
    body=NewLink,
    answer=LinkAnswer,
    status=201,
    example=_LINK,
    body_example={"kind": "supersedes", "targetId": 2},
    idempotent=True,
)
def create_link(call: Call[NoQuery, NewLink]) -> Answer:
    """Link a memory to another one; 200 where the link exists already."""
    new = call.body
    done = call.once(
        call.scope,
        lambda service: service.link(call.memory_ref, new.kind, f"#{new.target_id}", scope=call.scope),
    )
    return Answer(_show_link(done.link), 201 if done.is_new else 200)


@route("DELETE", f"{_PATH}/{{kind}}/{{otherId}}", "deleteLink", status=204)
def delete_link(call: Call[NoQuery, None]) -> Answer:
    """Remove a link to another memory; 204 also where there was none."""
    call.service.unlink(call.memory_ref, call.path["kind"], f"#{call.path['otherId']}", scope=call.scope)
    return Answer()
