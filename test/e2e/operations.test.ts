import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, stat, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readUntil } from "../support/eventually.ts";
import { startPostgres } from "../support/postgres.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";
import { removeDirectory } from "../support/temporary.ts";

const directory = async (t: TestContext): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), "selvedge-ops-"));
  t.after(() => removeDirectory(path));
  return path;
};

/** Runs `start` to its end; for starts that must fail. */
async function failingStart(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, ["bin/selvedge.js", "start", "--json", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const killer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(killer);
  return { code, stderr };
}

function httpsStatus(url: URL, ca: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { ca, agent: false }, (res) => {
      res.resume();
      res.on("end", () => resolve(res.statusCode));
    }).on("error", reject);
  });
}

const FREE_PORTS = ["--api-port", "0", "--gateway-port", "0", "--dns-port", "0", "--http-port", "0", "--https-port", "0"];

test("the API port serves health, readiness and metrics of every plane without credentials", async (t) => {
  const selvedge = await startSelvedge({ args: ["--edge-workers", "2", "--dns-workers", "2"] });
  t.after(() => selvedge.stop());
  const base = new URL(selvedge.ready.api).origin;
  assert.equal((await fetch(`${base}/healthz`)).status, 200);
  const readyz = await fetch(`${base}/readyz`);
  assert.equal(readyz.status, 200);
  assert.deepEqual(await readyz.json(), { status: "ready", reasons: [] });
  // Starts the planes of zones.
  const zone = { name: "example.com", account: { id: selvedge.ready.account_id }, type: "full" };
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "POST", "/zones", zone)).status, 200);
  await (await fetch(selvedge.ready.http)).arrayBuffer();
  const metrics = await fetch(`${base}/metrics`);
  assert.match(metrics.headers.get("content-type") ?? "", /^text\/plain/);
  const [, spent] = /^process_cpu_seconds_total (\S+)$/m.exec(await metrics.text()) ?? [];
  assert.ok(Number(spent) > 0.2, `${spent} s of CPU time, with the start`);
  const planes = [
    "process_cpu_seconds_total",
    "selvedge_events_dropped_total",
    "selvedge_edge_",
    "selvedge_dns_",
    "selvedge_gateway_",
    "selvedge_detection_",
    "selvedge_api_",
  ];
  // A thread that is busy for a second has no numbers.
  const text = await readUntil(
    async () => (await fetch(`${base}/metrics`)).text(),
    (read) => planes.every((name) => read.includes(name)),
  );
  const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name ?? "");
  const ours = families.filter((name) => !/^(process|nodejs)_/.test(name));
  assert.deepEqual(
    ours.filter((name) => !name.startsWith("selvedge_")),
    [],
    "our metrics bear one prefix",
  );
  assert.ok(ours.length > 10);
  assert.ok(!text.includes(selvedge.ready.token ?? "?"));
});

test("selvedge status shows planes, nodes, what waits and the last errors", async (t) => {
  const dataDir = await directory(t);
  const config = join(dataDir, "selvedge.toml");
  await writeFile(config, "");
  const selvedge = await startSelvedge({ dataDir, args: ["--config", config] });
  t.after(() => selvedge.stop());
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, ["bin/selvedge.js", ...args, "--data", dataDir], { encoding: "utf8", timeout: 120_000 });
  await writeFile(config, "[edge]\nnonsense = 1\n");
  assert.equal(run("reload").status, 1);
  assert.equal(run("node", "token", "--name", "fra-1", "--planes", "edge").status, 0);
  const { status, stdout } = run("status");
  assert.equal(status, 0);
  assert.match(stdout, /^planes +.*events.* up; nameserver, edge, gateway idle$/m);
  assert.match(stdout, /^nodes +1 waiting$/m);
  assert.match(stdout, /^waiting +\S/m);
  assert.match(stdout, /^error +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ the configuration is invalid; nothing was changed$/m);
  const { planes, nodes, last_errors } = JSON.parse(run("status", "--json").stdout);
  assert.deepEqual(new Set(planes.map((plane: any) => plane.status)), new Set(["up", "idle"]));
  assert.deepEqual([nodes, last_errors.length], [{ waiting: 1 }, 1]);
});

test("a user who may not read the data directory is told so", { skip: process.geteuid?.() === 0 ? false : "needs root" }, async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const args = ["bin/selvedge.js", "status", "--data", selvedge.dataDir];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 120_000, uid: 65_534, gid: 65_534 });
  assert.equal(status, 1);
  assert.match(stderr, /^selvedge: this user may not read \S+run\.json \(EACCES\): run the command as the user of the server$/m);
});

test("a restart keeps token, account and answers", async (t) => {
  const dataDir = await directory(t);
  const first = await startSelvedge({ dataDir });
  const token = first.ready.token ?? "";
  const zone = await api(first, token, "POST", "/zones", { name: "kept.example", account: { id: first.ready.account_id }, type: "full" });
  assert.equal(zone.status, 200);
  assert.equal((await first.stop()).code, 0);

  const second = await startSelvedge({ dataDir });
  t.after(() => second.stop());
  assert.equal(second.ready.token, undefined);
  assert.equal(second.ready.account_id, first.ready.account_id);
  assert.equal((await api(second, token, "GET", `/zones/${zone.body.result.id}`)).body.result.name, "kept.example");
});

test("a second server on the same directory is refused and does no damage", async (t) => {
  const dataDir = await directory(t);
  const selvedge = await startSelvedge({ dataDir });
  t.after(() => selvedge.stop());
  const { code, stderr } = await failingStart(["--data", dataDir, ...FREE_PORTS]);
  assert.equal(code, 1);
  assert.match(stderr, /another Selvedge is running/);
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "GET", "/user/tokens/verify")).status, 200);
});

test("a public API with a bootstrap token and without TLS is refused, and the error names both reasons", async (t) => {
  const { code, stderr } = await failingStart(["--data", await directory(t), "--api-host", "0.0.0.0", ...FREE_PORTS]);
  assert.equal(code, 1);
  assert.match(stderr, /bootstrap token/);
  assert.match(stderr, /TLS is off/);
});

test("with a certificate the API and the gateway serve only TLS", async (t) => {
  const skip = toolOrSkip("openssl");
  if (skip) return t.skip(skip);
  const dir = await directory(t);
  const [certificate, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      ...subject,
      "-out",
      certificate,
      "-keyout",
      key,
    ],
    { stdio: "pipe" },
  );
  const selvedge = await startSelvedge({ args: ["--tls-certificate", certificate, "--tls-key", key] });
  t.after(() => selvedge.stop());
  const ca = await readFile(certificate);
  for (const [url, path, status] of [
    [selvedge.ready.api, "/client/v4/user/tokens/verify", 400],
    [selvedge.ready.gateway, "/v1/none/none/openai/models", 400],
  ] as const) {
    assert.match(url, /^https:/);
    assert.equal(await httpsStatus(new URL(path, url), ca), status);
    await assert.rejects(fetch(new URL(path, url.replace("https:", "http:"))), "plain HTTP is not answered");
  }
  const status = spawnSync(process.execPath, ["bin/selvedge.js", "status", "--data", selvedge.dataDir], { encoding: "utf8" });
  assert.deepEqual([status.status, status.stderr], [0, ""], status.stdout);
  assert.match(status.stdout, /^status +ready$/m);
});

test("a start on an occupied port names the port and exits", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const taken = new URL(selvedge.ready.gateway).port;
  const { code, stderr } = await failingStart(["--data", await directory(t), ...FREE_PORTS, "--gateway-port", taken]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`the AI gateway cannot listen on 127\\.0\\.0\\.1:${taken} \\(EADDRINUSE\\).*--gateway-port`));
});

test("secrets at rest are hashed or encrypted, in files that other users cannot read", async (t) => {
  const dataDir = await directory(t);
  const selvedge = await startSelvedge({ dataDir });
  const token = selvedge.ready.token ?? "";
  const zone = await api(selvedge, token, "POST", "/zones", {
    name: "sealed.example",
    account: { id: selvedge.ready.account_id },
    type: "full",
  });
  assert.equal(zone.status, 200);
  await selvedge.stop();
  assert.equal((await stat(join(dataDir, "seal.key"))).mode & 0o777, 0o600);
  assert.equal((await stat(dataDir)).mode & 0o077, 0, "the directory is the owner's alone");
  for (const file of ["control.db", "snapshot.last-good", "run.json", "events.db"]) {
    const bytes = await readFile(join(dataDir, file)).catch(() => Buffer.alloc(0));
    assert.ok(!bytes.includes(token), `${file} holds the token`);
    assert.ok(!bytes.includes("PRIVATE KEY"), `${file} holds a private key in the clear`);
  }
  assert.ok((await readFile(join(dataDir, "control.db"))).includes("sealed.example"), "the database was looked into");
});

test("the server works with PostgreSQL instead of the embedded database", async (t) => {
  const skip = toolOrSkip("postgres");
  if (skip) return t.skip(skip);
  const postgres = startPostgres();
  t.after(() => postgres.stop());
  const selvedge = await startSelvedge({ env: { SELVEDGE_DATABASE_URL: await postgres.createDatabase() } });
  t.after(() => selvedge.stop());
  const token = selvedge.ready.token ?? "";
  const zone = await api(selvedge, token, "POST", "/zones", {
    name: "pg.example",
    account: { id: selvedge.ready.account_id },
    type: "full",
  });
  assert.equal(zone.status, 200, JSON.stringify(zone.body));
  const record = await api(selvedge, token, "POST", `/zones/${zone.body.result.id}/dns_records`, {
    type: "TXT",
    name: "@",
    content: "hello",
    ttl: 300,
  });
  assert.equal(record.status, 200, JSON.stringify(record.body));
  assert.equal(record.body.result.content, '"hello"');
});
