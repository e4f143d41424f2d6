"""The routes, a module for each kind of thing. Importing this package fills the table in `routing`."""

from omoide.interfaces.rest.routes import (
    events as events,
    health as health,
    links as links,
    memories as memories,
    projects as projects,
    runs as runs,
    search as search,
    sessions as sessions,
    states as states,
)
