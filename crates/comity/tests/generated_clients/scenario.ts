// What a program does with the generated client: ask, lock, be refused, read the log.

import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

declare const process: { env: Record<string, string> };

const baseUrl = process.env.SCENARIO_URL;
const client = (token: string) =>
  createClient<paths>({
    baseUrl,
    headers: { Authorization: "Bearer " + process.env[token], "Comity-Cwd": process.env.SCENARIO_REPO },
  });
const check = (holds: boolean, what: unknown) => {
  if (!holds) throw new Error(JSON.stringify(what));
};

const human = client("SCENARIO_TOKEN");
const agent = client("SCENARIO_AGENT");

const status = await human.GET("/api/status");
check(status.data?.url === baseUrl, status.data);

const grant = await agent.POST("/api/coordination/locks", {
  body: { paths: ["src/a.rs"], reason: "fixing login" },
});
check(grant.data?.locks[0].path === "src/a.rs", grant);

const refused = await human.POST("/api/coordination/locks", { body: { paths: ["src/"] } });
check(refused.response.status === 409 && refused.error?.error.code === "locked", refused.error);

const held = await human.GET("/api/coordination/locks");
check(held.data?.locks.map((lock) => lock.holder).join() === "ann", held.data);

const log = await human.GET("/api/coordination/activity", { params: { query: { type: "lock_acquired" } } });
check(log.data?.entries.length === 1, log.data);

const nobody = createClient<paths>({ baseUrl });
check((await nobody.GET("/api/status")).response.status === 401, "no token");
console.log("done");
