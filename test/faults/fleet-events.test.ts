import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { zstdDecompressSync } from "node:zlib";
import { openEventQueries } from "#events/read/queries.ts";
import type { PackedRows } from "#events/rows/packed-rows.ts";
import { eventsOfRequests } from "#events/rows/request-events.ts";
import { decodeRows } from "#events/rows/rows-form.ts";
import { spoolRecords } from "#events/spool/spool-records.ts";
import { succeed } from "../support/api.ts";
import { unpacked } from "../support/event-rows.ts";
import { eventually, readUntil } from "../support/eventually.ts";
import { type FleetWorld, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("dig");

const CARD = "4012 8888 8888 1881";
const SENSITIVE_DATA_RULESET = "e22d83c647c64a3eae91b71b499d988e";
const VISITS = 12;

/** The responses of a plane of the node, each with a unique name. */
interface Answered {
  readonly visits: string[];
  readonly blocked: string[];
  readonly detected: string[];
  readonly questions: string[];
  readonly logs: string[];
}

const nothing = (): Answered => ({ visits: [], blocked: [], detected: [], questions: [], logs: [] });

test("kill -9 of node, control and bus: each event on the node's disk reaches control once", { skip, timeout: 900_000 }, async (t) => {
  const origin = await listening(t, (request) => (request.url?.startsWith("/card") === true ? `number ${CARD}` : "fine"));
  const provider = await listening(t, () => JSON.stringify({ usage: { prompt_tokens: 3, completion_tokens: 4 } }));
  const world = await startFleet(t);
  const zone = await prepare(world);
  const dataDir = await world.join("fra-1", "edge,nameserver,gateway");
  const env = { SELVEDGE_EDGE_ORIGIN_PORT: String(origin), SELVEDGE_GATEWAY_PROVIDERS: `openai=http://127.0.0.1:${provider}/v1` };
  let node = await world.start(dataDir, env);
  await eventually(async () => (await answer(node, "/ready")) === "fine");

  const path = join(world.controlDir, "events.db");
  const kept = nothing();
  /** Answered just before a kill: the node's disk may not have had them. */
  const doubtful = nothing();
  const use = async (round: string, into: Answered): Promise<void> => {
    for (let i = 0; i < VISITS; i++) {
      await answer(node, `/page-${round}-${i}`);
      into.visits.push(`/page-${round}-${i}`);
    }
    await answer(node, `/blocked-${round}`);
    into.blocked.push(`/blocked-${round}`);
    await answer(node, `/card-${round}`);
    into.detected.push(`/card-${round}`);
    const { port } = new URL(`udp://${node.ready.dns}`);
    await execute("dig", ["@127.0.0.1", "-p", port, `q-${round}.events.example`, "A", "+short", "+time=60", "+tries=1"]);
    into.questions.push(`q-${round}.events.example`);
    into.logs.push(await chat(node, world.account, `hello ${round}`));
  };
  const useAndWait = async (round: string): Promise<void> => {
    await use(round, kept);
    await eventually(() => isEmpty(missing(path, kept, onDisk(dataDir))));
  };

  const faults: Readonly<Record<string, () => Promise<void>>> = {
    node: async () => {
      await use("dying", doubtful);
      await node.kill();
      node = await world.start(dataDir, env);
    },
    control: world.restartControl,
    bus: async () => {
      await world.nats.kill();
      await useAndWait("without-bus");
      await world.nats.start();
    },
    wiped: async () => {
      await world.nats.kill();
      world.nats.wipe();
      await useAndWait("without-store");
      await node.kill();
      node = await world.start(dataDir, env);
      await world.restartControl();
      await world.nats.start();
    },
  };
  for (const [name, fault] of Object.entries(faults)) {
    await useAndWait(name);
    await fault();
  }
  await useAndWait("last");

  assert.deepEqual(await readUntil(() => missing(path, kept), isEmpty), nothing());
  assert.deepEqual(doubled(path), []);
  const known = new Set(Object.values(kept).concat(Object.values(doubtful)).flat());
  for (const name of Object.values(seen(path)).flat()) assert.ok(known.has(name) || name === "/ready", name);

  // Control's API shows them, bodies included.
  const log = `/accounts/${world.account}/ai-gateway/gateways/main/logs/${kept.logs[0]}`;
  assert.match(JSON.stringify(await succeed(world.call("GET", log))), /hello node/);
  const { body }: { readonly body: any } = await world.call("POST", "/graphql", {
    query: `{ viewer { zones(filter: { zoneTag: "${zone}" }) { httpRequestsAdaptive(limit: 1000, filter: { clientRequestPath_like: "/page-last%" }) { clientRequestPath } } } }`,
  });
  assert.equal(body.data?.viewer.zones[0].httpRequestsAdaptive.length, VISITS, JSON.stringify(body));
  await node.stop();
});

async function listening(t: TestContext, body: (request: IncomingMessage) => string): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "text/plain");
    response.end(body(request));
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** The zone. */
async function prepare({ call, account }: FleetWorld): Promise<string> {
  const { id: zone } = await succeed(call("POST", "/zones", { name: "events.example", account: { id: account } }));
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const rules = {
    http_request_firewall_custom: { action: "block", expression: 'starts_with(http.request.uri.path, "/blocked")', description: "" },
    http_response_firewall_managed: {
      action: "execute",
      action_parameters: { id: SENSITIVE_DATA_RULESET },
      expression: "true",
      description: "",
    },
  };
  for (const [phase, rule] of Object.entries(rules))
    await succeed(call("POST", `/zones/${zone}/rulesets`, { name: "rules", description: "", kind: "zone", phase, rules: [rule] }));
  await succeed(
    call("POST", `/accounts/${account}/ai-gateway/gateways`, {
      ...{ id: "main", collect_logs: true, cache_invalidate_on_update: false, cache_ttl: null },
      ...{ rate_limiting_interval: null, rate_limiting_limit: null },
    }),
  );
  return zone;
}

function answer({ ready }: Selvedge, path: string): Promise<string> {
  const { hostname, port } = new URL(ready.http);
  return new Promise((resolve, reject) => {
    get(
      { host: hostname, port, path, headers: { host: "www.events.example" } },
      (response) => void text(response).then(resolve, reject),
    ).on("error", reject);
  });
}

/** The id of its log. */
async function chat({ ready }: Selvedge, account: string, content: string): Promise<string> {
  const response = await fetch(`${ready.gateway}/v1/${account}/main/openai/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer none" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
  });
  await response.text();
  assert.equal(response.status, 200);
  return response.headers.get("svc-aig-log-id") ?? "";
}

/** Names of the rows that control has. */
function seen(path: string): Answered {
  const queries = openEventQueries(path);
  try {
    const all = { where: [], limit: 100_000 };
    const events = queries.list("security_events", all);
    return {
      visits: queries.list("requests", all).map((row) => row.path),
      blocked: events.filter(({ action }) => action === "block").map((row) => row.path),
      detected: events.filter(({ action }) => action !== "block").map((row) => row.path),
      questions: queries.list("dns_queries", all).map((row) => row.query_name),
      logs: queries.list("gateway_logs", all).map((row) => row.id),
    };
  } finally {
    queries.close();
  }
}

/** Names of the rows in the node's files. */
function onDisk(dataDir: string): ReadonlySet<string> {
  const directory = join(dataDir, "event-spool");
  const names = new Set<string>();
  const add = (table: string, packed: PackedRows, column: string): void => {
    for (const cells of unpacked(packed.table, packed)) names.add(`${table} ${String(cells[column as never])}`);
  };
  for (const file of readdirSync(directory).filter((name) => name.endsWith(".log")))
    for (const record of recordsIn(join(directory, file))) {
      const packed = decodeRows(zstdDecompressSync(record));
      if (packed.table === "dns_queries") add("questions", packed, "query_name");
      else if (packed.table === "security_events") add("detected", packed, "path");
      else add("visits", packed, "path");
      if (packed.events !== undefined) add("blocked", eventsOfRequests(packed, packed.events), "path");
    }
  return names;
}

/** None while the last one is being written, or if control has them all meanwhile. */
function recordsIn(path: string): readonly Uint8Array[] {
  try {
    return spoolRecords(readFileSync(path));
  } catch {
    return [];
  }
}

const isEmpty = (answered: Answered): boolean => Object.values(answered).flat().length === 0;

/** The events that neither control nor, if given, the node's disk has. A gateway log is on disk before its response. */
function missing(path: string, kept: Answered, disk?: ReadonlySet<string>): Answered {
  const found = seen(path);
  const without = (kind: keyof Answered): string[] =>
    kept[kind].filter((name) => !found[kind].includes(name) && disk?.has(`${kind} ${name}`) !== true);
  const [visits, blocked, detected] = [without("visits"), without("blocked"), without("detected")];
  return { visits, blocked, detected, questions: without("questions"), logs: disk === undefined ? without("logs") : [] };
}

function doubled(path: string): readonly string[] {
  const names = Object.entries(seen(path)).flatMap(([kind, list]) => (list as string[]).map((name) => `${kind} ${name}`));
  return names.filter((name, at) => !name.endsWith("/ready") && names.indexOf(name) !== at);
}
