"""Whether the server works, and which version it is."""

from omoide import __version__
from omoide.interfaces.rest import values
from omoide.interfaces.rest.routing import Answer, Call, NoQuery, route


@route("GET", "/health/live", "getLiveness", answer=values.Health, example={"status": "ok"}, public=True)
def get_liveness(_: Call[NoQuery, None]) -> Answer:
    """Report that the server runs.

    Answers as long as the process can answer at all."""
    return Answer(values.Health(status="ok"))


@route("GET", "/health/ready", "getReadiness", answer=values.Health, statuses=(507,), example={"status": "ok"}, public=True)
def get_readiness(call: Call[NoQuery, None]) -> Answer:
    """Report whether memories can be read and written.

    Writes to the database without changing a memory. Answers 507 where the disk is full, 503 where the database cannot be
    written for another reason."""
    call.service.probe()
    return Answer(values.Health(status="ok"))


@route(
    "GET",
    "/version",
    "getVersion",
    answer=values.VersionAnswer,
    example={"name": "omoide", "version": __version__},
    public=True,
)
def get_version(_: Call[NoQuery, None]) -> Answer:
    """Return the version of omoide."""
    return Answer(values.VersionAnswer(name="omoide", version=__version__))
