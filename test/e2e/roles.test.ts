import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { apiCaller, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);

async function start(t: TestContext, dataDir: string, roles: string): Promise<Selvedge> {
  const server = await startSelvedge({ dataDir, args: ["--roles", roles] });
  t.after(() => server.kill());
  return server;
}

function directory(t: TestContext): string {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-roles-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

async function addressOf({ ready }: Selvedge, name: string): Promise<string> {
  const { port } = new URL(`udp://${ready.dns}`);
  const { stdout } = await execute("dig", ["@127.0.0.1", "-p", port, name, "A", "+short", "+time=60", "+tries=1"]);
  return stdout.trim();
}

const ready = async ({ ready: { ops } }: Selvedge): Promise<number> => (await fetch(new URL("/readyz", ops))).status;

test("control alone runs the API and no plane, and planes alone serve without API and database", { skip: toolOrSkip("dig") }, async (t) => {
  const dataDir = directory(t);
  const control = await start(t, dataDir, "control");
  assert.equal(await ready(control), 200);
  assert.deepEqual(
    [control.ready.dns, control.ready.dot, control.ready.http, control.ready.https, control.ready.gateway],
    ["", "", "", "", ""],
  );
  const call = apiCaller(control.ready);
  const zone = await succeed(call("POST", "/zones", { name: "roles.example", account: { id: control.ready.account_id } }));
  const record = { type: "A", name: "www.roles.example", content: "192.0.2.7", ttl: 300 };
  const made = await call("POST", `/zones/${zone.id}/dns_records`, record);
  assert.deepEqual([made.status, made.body.messages], [200, []]);
  await control.stop();

  renameSync(join(dataDir, "control.db"), join(dataDir, "elsewhere.db"));
  const planes = await start(t, dataDir, "nameserver,gateway");
  assert.equal(await ready(planes), 200);
  assert.deepEqual([planes.ready.api, planes.ready.account_id, planes.ready.http, planes.ready.https], ["", "", "", ""]);
  assert.equal(await addressOf(planes, "www.roles.example"), "192.0.2.7");
  assert.ok((await fetch(planes.ready.gateway)).status < 500);
  assert.equal(existsSync(join(dataDir, "control.db")), false, "a database was created");
  const { stdout } = await execute(process.execPath, ["bin/selvedge.js", "status", "--data", dataDir, "--json"]);
  const status = JSON.parse(stdout);
  assert.deepEqual([status.status, status.dns, status.api], ["ready", planes.ready.dns, ""]);
  await planes.stop();

  const edge = await start(t, dataDir, "edge");
  assert.equal(await ready(edge), 200);
  assert.equal((await fetch(edge.ready.http)).status, 530);
  await edge.stop();
});

test("planes alone without a copy of the snapshot do not start, and the error says what to do", async (t) => {
  const dataDir = directory(t);
  await assert.rejects(start(t, dataDir, "edge"), /there is nothing to serve: .*copy snapshot\.last-good, .*or add control to roles/s);
  await assert.rejects(start(t, dataDir, "edge,cache"), /--roles must be a list of one or more of control, edge, nameserver, gateway/);
});
