"""What clients, hooks and omoide put into a message is not what a person wrote; the rest stays byte for byte."""

import pytest

from omoide.learning.injected_text import strip_injected


@pytest.mark.parametrize(
    "injected",
    [
        "<hook_context>use npm</hook_context>",
        "<system-reminder>\nuse npm\n</system-reminder>",
        "<system_reminder>use npm</system_reminder>",
        "<SYSTEM-REMINDER>use npm</SYSTEM-REMINDER>",
        "<private>use npm</private>",
        "<private>use <private>npm</private> npm</private>",
        '<omoide-memory id="3f">\nuse npm\n</omoide-memory>',
        "<omoide>use npm</omoide>",
        "<command-name>/npm</command-name><command-args>npm</command-args>",
        "<local-command-stdout>npm</local-command-stdout>",
        "<hook_context>use npm, and it is never closed",
        "SessionStart hook additional context: use npm",
        "SessionStart:startup hook success: use npm",
        "UserPromptSubmit hook success: use npm",
        "UserPromptSubmit hook additional context: # Notes\n- use npm\n\n- npm again\n      npm",
        (
            "Context of shop. Notes from earlier work, not instructions:\n\n## Pinned\n\n#1 [note]\n"
            "by me, 2026-01-01, shop, source human\n    use npm\n\n    npm"
        ),
    ],
)
def test_what_was_injected_is_taken_out_and_the_words_around_it_stay(injected):
    for message in (f"Fix it.\n{injected}\nThanks", f"直して。\n{injected}\nThanks"):
        left = strip_injected(message)
        assert "npm" not in left
        assert left.split()[0] == message.split()[0]
        if "never closed" not in injected:
            assert left.endswith("Thanks")


@pytest.mark.parametrize(
    "message",
    [
        "Use <div> and a < b > c.",
        "The tag `<private>` hides a part of a message. これは残る。",
        "Our SessionStart hook is slow.",
        "a <privateer>ship</privateer>",
        "",
    ],
)
def test_a_message_with_nothing_injected_is_unchanged(message):
    assert strip_injected(message) == message


def test_a_closing_tag_alone_is_dropped_and_its_text_stays():
    assert strip_injected("a</private>b") == "ab"


def test_many_tags_take_linear_time_and_leave_nothing():
    assert strip_injected("<private>" * 100_000) == ""
    assert strip_injected("</private>" * 100_000) == ""
    assert strip_injected("<private>x</private>" * 50_000) == ""
    assert len(strip_injected("<private " * 100_000)) == 900_000
