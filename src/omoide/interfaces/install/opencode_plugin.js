// Written by `omoide install opencode`; `omoide uninstall opencode` removes it. Changes to this file are lost.
// Asks `omoide hook` for the memories that help with a prompt. Whatever goes wrong, the agent goes on without them.
import { spawn } from "node:child_process"

const PROGRAM = "@OMOIDE@"
const LIMIT = 2000 // milliseconds
const PART = "prt_omoide_"

function ask(input) {
  return new Promise((resolve) => {
    let output = ""
    let timer
    const finish = (text) => {
      clearTimeout(timer)
      resolve(text)
    }
    try {
      const child = spawn(PROGRAM, ["hook"], { stdio: ["pipe", "pipe", "ignore"] })
      timer = setTimeout(() => {
        child.kill("SIGKILL")
        finish("")
      }, LIMIT)
      child.on("error", () => finish(""))
      child.stdin.on("error", () => {})
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (text) => (output += text))
      child.on("close", () => finish(output))
      child.stdin.end(JSON.stringify(input))
    } catch {
      finish("")
    }
  })
}

function contextOf(output) {
  try {
    return JSON.parse(output).additionalContext ?? ""
  } catch {
    return ""
  }
}

function textOf(message) {
  const text = (message?.parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
    .map((part) => part.text)
    .join("\n")
    .trim()
  // `opencode run` wraps its argument in quotes.
  return text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
}

// What was added to a message is stored in the metadata of its text: opencode keeps that with the conversation and sends it
// to no model, neither in a turn nor for a title.
const texts = (message) =>
  (message?.parts ?? []).flatMap((part) => part.metadata?.omoide ?? []).filter((text) => typeof text === "string")

// The messages since the last compaction: those before it do not reach the model any more.
function current(messages) {
  const compacted = messages.findLastIndex((message) => message.parts.some((part) => part.type === "compaction"))
  return messages.slice(compacted + 1)
}

export const Omoide = async ({ client, directory }) => {
  const started = new Set() // sessions whose conversation has the text of a session's start

  const call = (event, session, more) =>
    ask({ hook_event_name: event, session_id: session, cwd: directory, client: "opencode", ...more })

  const messagesOf = async (session) => (await client.session.messages({ path: { id: session } })).data ?? []

  const isNew = async (session) => {
    if (started.has(session)) return false
    started.add(session)
    return !current(await messagesOf(session)).some((message) => texts(message).length)
  }

  return {
    "chat.message": async (input, output) => {
      try {
        const session = input.sessionID
        const prompt = textOf(output)
        const part = output.parts.find((part) => part.type === "text" && !part.synthetic && !part.ignored)
        if (!prompt || texts(output).length) return
        const found = []
        if (await isNew(session)) found.push(contextOf(await call("SessionStart", session, { source: "startup" })))
        found.push(contextOf(await call("UserPromptSubmit", session, { prompt, prompt_id: output.message.id })))
        const omoide = found.filter(Boolean)
        if (omoide.length) part.metadata = { ...part.metadata, omoide }
      } catch {}
    },
    // Every request gets the stored texts, each once: also when a conversation is resumed or forked.
    "experimental.chat.messages.transform": async (_, output) => {
      try {
        const present = new Set()
        for (const message of output.messages) {
          if (message.info.role !== "user" || message.parts.some((part) => part.id?.startsWith(PART))) continue
          for (const text of texts(message).filter((text) => !present.has(text))) {
            present.add(text)
            message.parts.push({
              id: PART + present.size + "_" + message.info.id,
              sessionID: message.info.sessionID,
              messageID: message.info.id,
              type: "text",
              synthetic: true,
              text,
            })
          }
        }
      } catch {}
    },
    "experimental.session.compacting": async (input) => {
      try {
        started.delete(input.sessionID)
        await call("PreCompact", input.sessionID, { trigger: "auto" })
      } catch {}
    },
    event: async ({ event }) => {
      try {
        const session = event.properties.sessionID
        if (event.type === "message.removed") started.delete(session)
        if (event.type !== "session.idle") return
        const messages = await messagesOf(session)
        const said = messages.findLast((message) => message.info.role === "user")
        const replied = messages.findLast((message) => message.info.role === "assistant")
        if (said && replied)
          await call("Stop", session, { prompt: textOf(said), last_assistant_message: textOf(replied), stop_hook_active: false })
      } catch {}
    },
  }
}
