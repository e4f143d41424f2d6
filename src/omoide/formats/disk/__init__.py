"""The only writer of Markdown, and the only part of the formats that touches files."""

from omoide.formats.disk.files import LARGEST, Stat
from omoide.formats.disk.place import BACKUPS, Place

__all__ = ["BACKUPS", "LARGEST", "Place", "Stat"]
