"""The routes, a module for each kind of thing. Importing this package fills the table in `routing`."""

from omoide.interfaces.rest.routes import health as health, memories as memories, projects as projects
