import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:tls";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { type Selvedge, startSelvedge, type StartOptions } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const program = join(import.meta.dirname, "../../bin/selvedge.js");

/** Threads of the server by name (proc(5), comm). */
const threadsOf = ({ pid }: Selvedge): readonly string[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => readFileSync(`/proc/${pid}/task/${thread}/comm`, "latin1").trim());
const zoneThreads = (server: Selvedge): readonly string[] =>
  threadsOf(server)
    .filter((name) => /^(edge|nameserver)-/.test(name))
    .toSorted();
const hasGatewayThread = (server: Selvedge): boolean => threadsOf(server).includes("gateway");

const BOTH = ["edge-1", "nameserver-1"];

async function start(t: TestContext, options: StartOptions = {}): Promise<Selvedge> {
  const server = await startSelvedge(options);
  t.after(() => server.kill());
  return server;
}

async function ask(server: Selvedge, name: string, ...flags: readonly string[]): Promise<string> {
  const port = new URL(`udp://${server.ready.dns}`).port;
  const { stdout } = await execute("dig", ["@127.0.0.1", "-p", port, name, "SOA", "+time=60", "+tries=1", ...flags]);
  return /status: (\w+)/.exec(stdout)?.[1] ?? stdout;
}

const ready = async ({ ready: { api } }: Selvedge): Promise<number> => (await fetch(new URL("/readyz", api))).status;

test(
  "without a zone no thread of nameserver or edge runs, and the first visitor starts it and gets an answer",
  { skip: toolOrSkip("dig") },
  async (t) => {
    const visits: readonly ((server: Selvedge) => Promise<unknown>)[] = [
      async (server) => assert.equal(await ask(server, "example.com"), "REFUSED"),
      async (server) => assert.equal(await ask(server, "example.com", "+tcp"), "REFUSED"),
      async (server) => assert.equal((await fetch(server.ready.http)).status, 530),
      async (server) => {
        const { port } = new URL(server.ready.https);
        const socket = connect({ host: "127.0.0.1", port: Number(port), servername: "nobody.example", rejectUnauthorized: false });
        // A name that nobody has a certificate for.
        const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
        assert.match(error.code ?? "", /UNRECOGNIZED_NAME/);
      },
    ];
    for (const visit of visits) {
      const server = await start(t);
      assert.deepEqual(zoneThreads(server), []);
      assert.equal(await ready(server), 200);
      await visit(server);
      assert.deepEqual(zoneThreads(server), BOTH);
      assert.equal((await server.stop()).code, 0);
    }
  },
);

test(
  "the planes serve the first zone once the API has responded, and right from the next start",
  { skip: toolOrSkip("dig") },
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge-late-"));
    t.after(() => rmSync(dataDir, { recursive: true }));
    const first = await start(t, { dataDir });
    const call = apiCaller(first.ready);
    await succeed(call("POST", "/zones", { name: "example.com", account: { id: first.ready.account_id }, type: "full" }));
    assert.deepEqual(zoneThreads(first), BOTH);
    assert.equal(await ready(first), 200);
    assert.equal(await ask(first, "example.com"), "NOERROR");
    assert.equal((await first.stop()).code, 0);

    const second = await start(t, { dataDir });
    assert.deepEqual(zoneThreads(second), BOTH);
    assert.equal(await ask(second, "example.com"), "NOERROR");
    assert.equal((await second.stop()).code, 0);
  },
);

test("several threads share the ports that the first one took over", { skip: toolOrSkip("dig") }, async (t) => {
  const server = await start(t, { args: ["--dns-workers", "2", "--edge-workers", "2"] });
  assert.deepEqual(zoneThreads(server), []);
  assert.equal(await ask(server, "example.com"), "REFUSED");
  const visit = async (): Promise<void> => {
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(server.ready.http)).status));
    assert.deepEqual(new Set(statuses), new Set([530]));
  };
  await visit();
  // The first thread of each plane answers visitors while the others still start; they join the ports that it has.
  await eventually(() => String(zoneThreads(server)) === "edge-1,edge-2,nameserver-1,nameserver-2");
  await visit();
  assert.equal(await ask(server, "example.com"), "REFUSED");
  assert.equal((await server.stop()).code, 0);
});

test("a server stops cleanly before it has a zone and while its planes start", async (t) => {
  const idle = await start(t);
  assert.equal((await idle.stop()).code, 0);
  const waking = await start(t);
  void ask(waking, "example.com", "+time=1").catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal((await waking.stop()).code, 0);
});

/** A chat that reaches no provider: the gateway does not exist, or asks for a token. */
const visitGateway = async ({ ready: { gateway, account_id } }: Selvedge, name: string) => {
  const res = await fetch(`${gateway}/v1/${account_id}/${name}/openai/chat/completions`, { method: "POST", body: "{}" });
  return { status: res.status, text: await res.text() };
};

test("without a gateway its thread does not run, and the first visitor starts it and gets an answer", async (t) => {
  const server = await start(t);
  assert.equal(hasGatewayThread(server), false);
  assert.equal(await ready(server), 200);
  const answers = await Promise.all(["chats", "mails"].map((name) => visitGateway(server, name)));
  for (const { status, text } of answers) assert.deepEqual([status, (JSON.parse(text) as { success: boolean }).success], [400, false]);
  assert.equal(hasGatewayThread(server), true);
  assert.equal(await ready(server), 200);
  assert.equal((await server.stop()).code, 0);
});

test("the AI gateway serves the first gateway once the API has responded, and right from the next start", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-late-"));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const first = await start(t, { dataDir });
  await succeed(
    apiCaller(first.ready)("POST", `/accounts/${first.ready.account_id}/ai-gateway/gateways`, {
      id: "chats",
      authentication: true,
      cache_invalidate_on_update: false,
      cache_ttl: 0,
      collect_logs: true,
      rate_limiting_interval: 0,
      rate_limiting_limit: 0,
    }),
  );
  assert.deepEqual([hasGatewayThread(first), zoneThreads(first)], [true, []]);
  assert.equal((await visitGateway(first, "chats")).status, 401);
  assert.equal((await first.stop()).code, 0);

  const second = await start(t, { dataDir });
  assert.equal(hasGatewayThread(second), true);
  assert.equal((await visitGateway(second, "chats")).status, 401);
  assert.equal((await second.stop()).code, 0);
});

test("a restart passes the port of an AI gateway on, whether its thread runs or not", async (t) => {
  const server = await start(t);
  for (const restarts of [1, 2]) {
    if (restarts === 2) assert.equal((await visitGateway(server, "chats")).status, 400);
    await execute(process.execPath, [program, "restart", "--data", server.dataDir]);
    await eventually(() => server.log().split('"msg":"stopped"').length > restarts);
  }
  assert.equal((await visitGateway(server, "chats")).status, 400);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});
