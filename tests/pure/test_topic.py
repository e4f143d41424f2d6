"""A message that says that it changes the topic is recognised, and one that only has such words is not."""

import pytest

from omoide.routing.topic import changes_topic

CHANGES = [
    "btw the map is empty",
    "Switching gears: the app icon is blurry",
    "ok cool. now for the other repo: bump node",
    "unrelated, but the tax rate is wrong",
    "quick question about something else: does it read stdin?",
    "Let's leave that. On the billing side, refunds fail",
    "別件です。テストが落ちます",
    "ところで在庫が合いません",
    "話は変わりますが、ログが出ません",
    "一旦この件は置いておいて、ブログの方をお願いします",
]
STAYS = [
    "use a different color for the button",
    "hmm no, the other option you mentioned",
    "switch to tabs",
    "back to the previous version please",
    "the new project page is slow",
    "別の色にしてください",
    "もう一つの案でお願いします",
    "",
]


@pytest.mark.parametrize("message", CHANGES)
def test_a_change_of_topic_is_recognised(message):
    assert changes_topic(message)


@pytest.mark.parametrize("message", STAYS)
def test_a_message_that_continues_changes_no_topic(message):
    assert not changes_topic(message)
