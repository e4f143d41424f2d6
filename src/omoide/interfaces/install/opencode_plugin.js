// Written by `omoide install opencode`; `omoide uninstall opencode` removes it. Changes to this file are lost.
// Asks `omoide hook` for the memories that help with a prompt. Whatever goes wrong, the agent goes on without them.
import { spawn } from "node:child_process"

const PROGRAM = "@OMOIDE@"
const LIMIT = 2000 // milliseconds
const REMEMBERED = 200 // messages whose text is kept: a turn has many model steps, and each must see the same text

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

export const Omoide = async ({ client, directory }) => {
  const texts = new Map() // message id: a promise of its text
  const started = new Set() // sessions

  const call = (event, session, more) =>
    ask({ hook_event_name: event, session_id: session, cwd: directory, client: "opencode", ...more })

  const memoriesFor = async (message) => {
    const session = message.info.sessionID
    const found = []
    if (!started.has(session)) {
      started.add(session)
      found.push(contextOf(await call("SessionStart", session, { source: "startup" })))
    }
    found.push(contextOf(await call("UserPromptSubmit", session, { prompt: textOf(message), prompt_id: message.info.id })))
    return found.filter(Boolean).join("\n\n")
  }

  return {
    "experimental.chat.messages.transform": async (_, output) => {
      try {
        const users = output.messages.filter((message) => message.info.role === "user")
        const last = users.at(-1)
        if (last && textOf(last) && !texts.has(last.info.id)) {
          texts.set(last.info.id, memoriesFor(last))
          if (texts.size > REMEMBERED) texts.delete(texts.keys().next().value)
        }
        for (const message of users) {
          const text = await texts.get(message.info.id)
          if (text)
            message.parts.push({
              id: "prt_omoide_" + message.info.id,
              sessionID: message.info.sessionID,
              messageID: message.info.id,
              type: "text",
              synthetic: true,
              text,
            })
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
        if (event.type !== "session.idle") return
        const session = event.properties.sessionID
        const answer = await client.session.messages({ path: { id: session } })
        const messages = answer.data ?? []
        const said = messages.findLast((message) => message.info.role === "user")
        const replied = messages.findLast((message) => message.info.role === "assistant")
        if (said && replied)
          await call("Stop", session, { prompt: textOf(said), last_assistant_message: textOf(replied), stop_hook_active: false })
      } catch {}
    },
  }
}
