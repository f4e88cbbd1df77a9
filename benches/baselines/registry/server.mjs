// A lock registry behind HTTP, as people have it today: express in front of SQLite. To acquire, it removes what has
// expired, reads all active locks, looks through them for a conflict, and inserts. One thread serves everybody.
//
// Usage: node server.mjs DATABASE; prints the port that it listens on.

import Database from "better-sqlite3";
import express from "express";

const TTL_MS = 5 * 60 * 1000;

const database = new Database(process.argv[2]);
database.pragma("journal_mode = WAL");
database.pragma("synchronous = NORMAL");
database.exec(`
  CREATE TABLE IF NOT EXISTS locks (
    file_path TEXT PRIMARY KEY,
    agent_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    acquired_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  )
`);

const removeExpired = database.prepare("DELETE FROM locks WHERE expires_at <= ?");
const readActive = database.prepare("SELECT * FROM locks");
const insert = database.prepare(
  "INSERT INTO locks VALUES (@filePath, @agentId, @reason, @acquiredAt, @expiresAt) ON CONFLICT (file_path) DO UPDATE SET expires_at = excluded.expires_at",
);
const remove = database.prepare("DELETE FROM locks WHERE file_path = ? AND agent_id = ?");

/** Whether two paths can mean the same file: equal, one above the other, or a `*` at the end of one. */
function conflicts(a, b) {
  if (a === b) return true;
  const covers = (outer, inner) =>
    outer.endsWith("*") ? inner.startsWith(outer.slice(0, -1)) : inner.startsWith(outer.endsWith("/") ? outer : outer + "/");
  return covers(a, b) || covers(b, a);
}

function acquire(filePath, agentId, reason, ttlMs) {
  const now = Date.now();
  removeExpired.run(now);
  for (const lock of readActive.all()) {
    if (lock.agent_id !== agentId && conflicts(lock.file_path, filePath)) {
      return { ok: false, holder: lock.agent_id };
    }
  }
  insert.run({ filePath, agentId, reason, acquiredAt: now, expiresAt: now + ttlMs });
  return { ok: true };
}

const app = express();
app.use(express.json());

app.post("/locks", (request, response) => {
  const { filePath, agentId, reason = "", ttlMs = TTL_MS } = request.body;
  const result = acquire(filePath, agentId, reason, ttlMs);
  response.status(result.ok ? 201 : 409).json(result);
});

app.delete("/locks", (request, response) => {
  const { filePath, agentId } = request.body;
  const { changes } = remove.run(filePath, agentId);
  response.status(changes > 0 ? 200 : 404).json({ ok: changes > 0 });
});

const listener = app.listen(0, "127.0.0.1", () => console.log(listener.address().port));
