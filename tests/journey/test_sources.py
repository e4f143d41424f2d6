"""Where things came from: the structured source of every event, and the prompt that made a pinned memory."""

import pytest

from omoide import AgentSource, Draft, FileSource, GitHubSource, InvalidInput, Scope, SlackSource, Unreadable
from omoide.model import CliSource, parse_source

SHOP = Scope.project("shop")
THREAD = "slack:C123/1700000000.0001"
SLACK = {"kind": "slack", "channel": "C123", "thread": "1700000000.0001"}


def sources(done):
    return [event["source"] for event in done.data["events"]]


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (THREAD, SlackSource("C123", "1700000000.0001")),
        ("slack:C123", SlackSource("C123")),
        ("slack", SlackSource()),
        ("github:owner/name#12", GitHubSource("owner/name", 12)),
        ("github:owner/name", GitHubSource("owner/name")),
        ("cli", CliSource()),
        ("cli:task-7", CliSource("task-7")),
        ("agent:計画係", AgentSource("計画係")),
        ("file:/notes/日誌.md", FileSource("/notes/日誌.md")),
    ],
)
def test_the_text_of_a_source_and_the_source_are_the_same(text, source):
    assert parse_source(text) == source
    assert str(source) == text


@pytest.mark.parametrize(
    "text", ["", "human", "https://example.org", "slack:", "slack:/17", "github:#12", "github:a/b#x", "Slack"]
)
def test_a_text_of_another_form_is_no_source(text):
    assert parse_source(text) is None


def test_a_command_with_a_source_gives_it_to_memory_and_event(run):
    run("remember", "リリースは金曜日", "--source", THREAD)
    run("remember", "typed by hand")
    run("revise", "2", "--source", "github:owner/name#12", "--confidence", "0.5")
    run("session", "start", "月曜", "--source", "slack:C9")
    assert run("show", "1", "--json").data["source"] == THREAD
    assert sources(run("events", "--json")) == [
        {"kind": "slack", "channel": "C9", "thread": ""},
        {"kind": "github", "repository": "owner/name", "issue": 12},
        {"kind": "cli", "id": ""},
        SLACK,
    ]


def test_events_are_narrowed_to_a_source_and_its_parts(run):
    run("remember", "one", "--source", THREAD)
    run("remember", "two", "--source", "slack:C1234/5")
    run("remember", "three")
    assert len(sources(run("events", "--source", "slack", "--json"))) == 2
    assert sources(run("events", "--source", "slack:C123", "--json")) == [SLACK]
    assert sources(run("events", "--source", THREAD, "--json")) == [SLACK]
    assert sources(run("events", "--source", "cli", "--json")) == [{"kind": "cli", "id": ""}]
    assert THREAD in run("events", "--source", "slack:C123").out
    refused = run("events", "--source", "irc")
    assert refused.code == 2
    assert "there is no source 'irc': write it as slack:CHANNEL/THREAD" in refused.err


def test_the_same_text_again_is_an_event_from_its_own_source(memory):
    memory.remember("pnpm is used", scope=SHOP)
    memory.remember("pnpm is used", scope=SHOP, source=THREAD)
    assert memory.events(scope=SHOP)[0].source == SlackSource("C123", "1700000000.0001")


def test_many_memories_of_several_sources_have_each_its_own(memory):
    drafts = [Draft(f"{n}", SHOP, source=source) for n, source in enumerate((THREAD, None, "github:a/b", THREAD))]
    memory.remember_many(drafts)
    found = {event.memory_number: str(event.source) for event in memory.events(scope=SHOP)}
    stored = {one.content: one.number for one, _ in memory.everything()}
    assert [found[stored[f"{n}"]] for n in range(4)] == [THREAD, str(AgentSource(memory._actor.name)), "github:a/b", THREAD]


def test_a_service_with_a_source_gives_it_to_everything_it_does(memory):
    slack = memory.with_source(THREAD)
    one = slack.remember("x", scope=SHOP).memory
    slack.forget(one.number, scope=SHOP)
    assert one.source == THREAD
    assert {str(event.source) for event in memory.events(scope=SHOP, source="slack")} == {THREAD}
    assert len(memory.events(scope=SHOP, source=SlackSource("C123"))) == 2
    memory.restore(one.number, scope=SHOP)
    assert len(memory.events(scope=SHOP, source="slack")) == 2
    with pytest.raises(InvalidInput, match="there is no source"):
        memory.with_source("somewhere")


def test_the_variable_gives_every_command_its_source(omoide):
    omoide("remember", "x", OMOIDE_SOURCE="github:owner/name#12")
    omoide("forget", "1", OMOIDE_SOURCE="github:owner/name#12")
    issue = {"kind": "github", "repository": "owner/name", "issue": 12}
    assert sources(omoide("events", "--source", "github", "--json")) == [issue, issue]
    refused = omoide("list", OMOIDE_SOURCE="somewhere")
    assert "OMOIDE_SOURCE: source must be a source: slack:CHANNEL/THREAD" in refused.err


def test_an_edit_of_a_file_is_an_event_from_that_file(memory, tmp_path):
    (tmp_path / "notes, line 2").mkdir()
    file = tmp_path / "notes, line 2" / "memories.md"
    memory.mirror(file, scope=SHOP)
    memory.remember("written here", scope=SHOP)
    file.write_text(file.read_text(encoding="utf-8") + "\n## 手書き\n- Content: ファイルから\n", encoding="utf-8")
    assert memory.list(scope=SHOP).total == 2
    (event,) = memory.events(scope=SHOP, source="file")
    assert (event.source, event.actor.name) == (FileSource(str(file)), "human")
    assert memory.events(scope=SHOP, source=FileSource(str(file.parent))) == [event]


def test_a_wrong_source_in_the_settings_is_refused(open_memory, tmp_path):
    with pytest.raises(Unreadable, match="source must be a source"):
        open_memory(tmp_path / "other.db", source="somewhere")


def test_a_pinned_memory_keeps_the_prompt_that_made_it(run):
    prompt = "今後は必ず pnpm を使うこと。\n覚えておいて"
    made = run("remember", "pnpm を使う", "--pin", "--original-prompt", prompt, "--json").data["memory"]
    assert (made["pinned"], made["original_prompt"]) == (True, prompt)
    assert run("show", "1").out.count("覚えておいて") == 1
    run("revise", "1", "--original-prompt", "別の言葉")
    assert "original_prompt: " in run("history", "1").out
    assert run("revise", "1", "--original-prompt", "", "--json").data["original_prompt"] is None
