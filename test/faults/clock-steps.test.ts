import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const HOUR_MS = 3_600_000;
/** More than the test needs to reach it, and more than it asks for afterwards. */
const LIMIT = 5;

interface Follower {
  /** Paths of the rows. */
  readonly paths: string[];
  readonly ids: string[];
  lastId: string;
  isOver: boolean;
}

/** Follows the requests of a zone. */
function follow(api: string, token: string, zone: string, known: Follower): void {
  const headers = { authorization: `Bearer ${token}`, ...(known.lastId === "" ? {} : { "last-event-id": known.lastId }) };
  known.isOver = false;
  const ended = (): void => void (known.isOver = true);
  get(`${api}/zones/${zone}/logs/requests/tail`, { headers }, (res) => {
    let rest = "";
    res.setEncoding("utf8").on("data", (text: string) => {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1] ?? "";
        if (field("id") !== "") known.lastId = field("id");
        if (field("event") === "missed") assert.fail(event);
        if (field("data") === "") continue;
        known.ids.push(field("id"));
        known.paths.push((JSON.parse(field("data")) as { path: string }).path);
      }
    });
    res.on("close", ended).on("error", ended);
  }).on("error", ended);
}

test("while the clock is set forth and back, limits hold and live tails go on; after kill -9 a tail ends, and goes on without a row twice", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-clock-steps-"));
  t.after(() => removeDirectory(directory));
  const clock = join(directory, "clock");
  const setClock = async (ms: number): Promise<void> => {
    writeFileSync(clock, String(ms));
    await new Promise((done) => setTimeout(done, 200));
  };
  await setClock(0);
  const dataDir = join(directory, "data");
  const env = {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "../support/stepped-clock.ts")}`,
    TEST_CLOCK_FILE: clock,
  };
  let server: Selvedge = await startSelvedge({ dataDir, env });
  t.after(() => server.kill().catch(() => undefined));
  const token = server.ready.token ?? "";
  const call = apiCaller(server.ready, token);
  const { id: zone } = await succeed(call("POST", "/zones", { name: "steps.example", account: { id: server.ready.account_id } }));
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const rule = (path: string, more: object) => ({ expression: `http.request.uri.path eq "${path}"`, ...more });
  await succeed(
    call("PUT", `/zones/${zone}/rulesets/phases/http_request_firewall_custom/entrypoint`, {
      rules: [{ action: "block", expression: 'starts_with(http.request.uri.path, "/row")' }],
    }),
  );
  const ratelimit = { characteristics: ["ip.src", "cf.colo.id"], period: 600, requests_per_period: LIMIT, mitigation_timeout: 600 };
  await succeed(
    call("PUT", `/zones/${zone}/rulesets/phases/http_ratelimit/entrypoint`, { rules: [rule("/limited", { action: "block", ratelimit })] }),
  );
  const ask = async (path: string): Promise<number> => {
    const { hostname, port } = new URL(server.ready.http);
    const [res] = (await once(get({ hostname, port, path, headers: { host: "www.steps.example" } }), "response")) as [IncomingMessage];
    await once(res.resume(), "end");
    return res.statusCode ?? 0;
  };
  const asked: string[] = [];
  const row = async (): Promise<void> => {
    const path = `/row/${asked.length}`;
    assert.equal(await ask(path), 403);
    asked.push(path);
  };

  const tail: Follower = { paths: [], ids: [], lastId: "", isOver: false };
  follow(server.ready.api, token, zone, tail);
  await eventually(() => tail.lastId !== "");
  for (let i = 0; i <= LIMIT; i++) await ask("/limited");
  assert.equal(await ask("/limited"), 429);
  for (const ms of [HOUR_MS, -HOUR_MS, 2 * HOUR_MS, 0]) {
    await setClock(ms);
    assert.equal(await ask("/limited"), 429, `with the clock ${ms} ms off`);
    await row();
  }
  const rows = (): readonly string[] => tail.paths.filter((path) => path.startsWith("/row/"));
  await eventually(() => rows().length >= asked.length);
  assert.deepEqual(rows(), asked);

  await row();
  await server.kill();
  await eventually(() => tail.isOver);
  server = await startSelvedge({ dataDir, env });
  follow(server.ready.api, token, zone, tail);
  await row();
  await eventually(() => rows().at(-1) === asked.at(-1));
  assert.equal(new Set(tail.ids).size, tail.ids.length, "no row twice");
  // The last one before the end of the server may have been in its memory only.
  assert.deepEqual(
    rows(),
    asked.filter((path) => rows().includes(path)),
  );
  assert.ok(rows().length >= asked.length - 1);
});
