"""The index function and its version change together."""

import zlib
from datetime import UTC, datetime

from omoide.model import Memory, Scope, State
from omoide.service import versioning
from omoide.service.preparation import INDEX_VERSION

AT = datetime(2026, 2, 5, tzinfo=UTC)
TEXTS = (
    ("Deploys run on Tuesdays, never on Fridays.", None, ()),
    ("The API's timeout is 30s; see https://example.com/a-b_c?d=1", "API limits", ("Ops", "時間")),
    ("配送は火曜日と金曜日だけです。ﾃｽﾄ １２３", "配送", ()),
    ("naïve café ÅNGSTRÖM v2.10.3 user_id=42", None, ("x",)),
)


def test_what_is_indexed_changes_only_with_the_index_version():
    entries = []
    for content, topic, tags in TEXTS:
        memory = Memory(
            id="019c2d3e-9d1b-76ef-94c5-88628e870c21",
            number=1,
            scope=Scope.session("shop", "monday"),
            key="release-day",
            type="note",
            topic=topic or content,
            topic_given=topic is not None,
            content=content,
            tags=tags,
            examples=("like this",),
            source="test",
            confidence=1.0,
            relevance=0.5,
            reference_count=0,
            pinned=False,
            state=State.ACTIVE,
            created_at=AT,
            updated_at=AT,
            last_accessed_at=None,
            expires_at=None,
            version=1,
        )
        fingerprint, entry = versioning.expected_entry(memory)
        entries.append((fingerprint, entry.topic, entry.tags, entry.content, entry.length, entry.blocking_key))
    # Another sum: increase INDEX_VERSION, so that databases that were indexed before are indexed again, and put it here.
    assert (INDEX_VERSION, zlib.crc32(repr(entries).encode())) == (1, 897352282)
