import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

// Enough for every reason; a program gone wrong must not fill the memory.
const ANSWER_CHARS_MAX = 65536;
// What a command said that the kernel may have held up: its end is enough.
const SAID_CHARS_MAX = 4096;
const FAULT = "so this was not allowed; see: comity doctor";

// This file.
const PLUGIN = fileURLToPath(import.meta.url);

// What the hook program says to a call: nothing but its exit code 0 lets the call pass.
function ask(call) {
  return new Promise((resolve, reject) => {
    // By --project the hook knows that the user's own plugin may ask, too.
    const child = spawn(HOOK, PASSES_IF_GONE ? [DIALECT, "--project"] : [DIALECT], {
      env: { ...process.env, ...VARIABLES },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    const refuse = (reason) => {
      clearTimeout(timer);
      reject(new Error(reason));
    };
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      refuse(`Comity's hook took longer than ${ANSWER_MS_MAX} ms, ${FAULT}`);
    }, ANSWER_MS_MAX);
    child.on("error", (error) => {
      // Settings that are checked in must not get in the way of people without Comity.
      if (PASSES_IF_GONE && error.code === "ENOENT") {
        clearTimeout(timer);
        resolve("");
        return;
      }
      refuse(
        error.code === "ENOENT"
          ? `Comity: ${HOOK} is gone, so nothing judges this call, and it is blocked. Install Comity again, or remove ${PLUGIN}`
          : `Comity's hook can't be run (${error.message}), ${FAULT}`,
      );
    });
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout = (stdout + text).slice(0, ANSWER_CHARS_MAX);
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr = (stderr + text).slice(0, ANSWER_CHARS_MAX);
    });
    child.on("close", (code, signal) => {
      if (code === 0) {
        clearTimeout(timer);
        resolve(stdout);
        return;
      }
      const failed = `Comity's hook failed (${signal ?? `exit code ${code}`}), ${FAULT}`;
      refuse(stderr.trim() || (code === 2 ? "refused by Comity" : failed));
    });
    // A hook that answers without reading everything closes the pipe: its answer counts.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(call));
  });
}

// Puts a text where the model reads it: behind what a tool of OpenCode's said, or a tool of an MCP server.
function reader(output) {
  if (typeof output?.output === "string") return (text) => (output.output += `\n\n${text}`);
  if (Array.isArray(output?.content)) return (text) => output.content.push({ type: "text", text });
  return undefined;
}

// What the model shall know besides, if the hook said such a thing.
function contextOf(stdout) {
  try {
    const { context } = JSON.parse(stdout);
    return typeof context === "string" ? context : "";
  } catch {
    return "";
  }
}

export const Comity = async ({ directory, client }) => {
  // A session that another one has started is a sub-agent's.
  const parents = new Map();
  const isSubAgents = async (session) => {
    if (!parents.has(session)) {
      const found = await client?.session?.get({ path: { id: session } }).catch(() => undefined);
      if (found?.data) parents.set(session, Boolean(found.data.parentID));
    }
    return parents.get(session) === true;
  };
  const call = async (event, input, args) => ({
    event,
    session: input.sessionID,
    ...((await isSubAgents(input.sessionID)) ? { agent_id: input.sessionID } : {}),
    call: input.callID,
    tool: input.tool,
    args,
    cwd: directory,
  });
  return {
    // bash and zsh begin again through comity-confine: what others hold is read-only there.
    "shell.env": async (_input, output) => {
      if (BASH_ENV && output?.env) Object.assign(output.env, { BASH_ENV, ZDOTDIR });
    },
    "tool.execute.before": async (input, output) => {
      await ask(await call("tool.execute.before", input, output?.args));
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID;
      if (event?.type !== "session.idle" || parents.get(session) !== true) return;
      // Whoever goes on with it later is another agent of the same name.
      await ask({ event: "SubagentStop", session, agent_id: session, cwd: directory }).catch(() => {});
    },
    "tool.execute.after": async (input, output) => {
      // It has happened: there is nothing left to refuse.
      try {
        const said = typeof output?.output === "string" ? output.output.slice(-SAID_CHARS_MAX) : "";
        const after = await call("tool.execute.after", input, input.args);
        // What would reach nobody is not asked for: it waits for a call that can show it.
        const show = reader(output);
        const context = contextOf(await ask({ ...after, ...(said ? { said } : {}), shows: Boolean(show) }));
        if (context && show) show(context);
      } catch {}
    },
  };
};
