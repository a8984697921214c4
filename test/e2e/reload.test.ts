import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { get, Agent } from "node:https";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { eventually } from "../support/eventually.ts";
import { api, FREE_PORTS, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const directory = async (t: TestContext): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), "selvedge-reload-"));
  t.after(() => removeDirectory(path));
  return path;
};

/** A pair for 127.0.0.1 whose subject is the name. */
function makePair(name: string, certificate: string, key: string): void {
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", [...request, ...subject, "-out", certificate, "-keyout", key], { stdio: "pipe" });
}

interface Answer {
  readonly status: number | undefined;
  readonly subject: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Without a check of the certificate: which one comes is what is asked. */
function ask(url: URL, agent?: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { agent: agent ?? new Agent(), rejectUnauthorized: false, timeout: 20_000 }, (res) => {
      const { CN } = (res.socket as TLSSocket).getPeerCertificate().subject as PeerCertificate["subject"] & { CN: string };
      res.resume();
      res.on("end", () => resolve({ status: res.statusCode, subject: CN, headers: res.headers }));
    }).on("error", reject);
  });
}

const hangUp = (selvedge: Selvedge): void => void process.kill(selvedge.pid, "SIGHUP");
const logged = (selvedge: Selvedge, pattern: RegExp, times = 1): Promise<void> =>
  eventually(() => [...selvedge.log().matchAll(new RegExp(pattern, "g"))].length >= times);

test("SIGHUP loads new certificates of API and gateway for new connections, and no request fails", async (t) => {
  const skip = toolOrSkip("openssl");
  if (skip) return t.skip(skip);
  const dir = await directory(t);
  const [certificate, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  makePair("first", certificate, key);
  const selvedge = await startSelvedge({ args: ["--tls-certificate", certificate, "--tls-key", key] });
  t.after(() => selvedge.stop());
  const urls = [
    new URL("/client/v4/user/tokens/verify", selvedge.ready.api),
    new URL("/v1/none/none/openai/models", selvedge.ready.gateway),
  ];
  const kept = urls.map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
  t.after(() => kept.forEach((agent) => agent.destroy()));
  for (const [i, url] of urls.entries()) assert.deepEqual((await ask(url, kept[i])).subject, "first");

  let isOver = false;
  let asked = 0;
  const failures: unknown[] = [];
  const asking = urls.map(async (url) => {
    while (!isOver) {
      asked++;
      const answer = await ask(url).catch((error: unknown) => error as Error);
      if (answer instanceof Error || answer.status !== 400) failures.push(answer);
    }
  });
  makePair("second", certificate, key);
  for (let times = 1; times <= 3; times++) {
    hangUp(selvedge);
    await logged(selvedge, /reloaded the configuration/, times);
  }
  for (const url of urls) await eventually(async () => (await ask(url)).subject === "second");
  // Connections that were open stay so, with the certificate they have.
  for (const [i, url] of urls.entries()) assert.deepEqual((await ask(url, kept[i])).subject, "first");
  isOver = true;
  await Promise.all(asking);
  assert.deepEqual(failures, []);
  assert.ok(asked > 4);
  await selvedge.logged(/"has_new_certificate":true/);
});

test("errors in a new configuration or certificate are logged and change nothing", async (t) => {
  const skip = toolOrSkip("openssl");
  if (skip) return t.skip(skip);
  const dir = await directory(t);
  const [certificate, key, config] = [join(dir, "cert.pem"), join(dir, "key.pem"), join(dir, "selvedge.toml")];
  makePair("first", certificate, key);
  const text = `[tls]\ncertificate = "${certificate}"\nkey = "${key}"\n[api]\nrate_limit_requests = 100\n`;
  await writeFile(config, text);
  const server = await startSelvedge({ args: ["--config", config], env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: undefined } });
  t.after(() => server.stop());
  const url = new URL("/client/v4/user/tokens/verify", server.ready.api);
  const isFirst = async (): Promise<void> => assert.equal((await ask(url)).subject, "first");

  await writeFile(config, text.replace("= 100", '= "many"'));
  hangUp(server);
  await logged(server, /the configuration is invalid; nothing was changed/, 1);
  await server.logged(/selvedge\.toml:5: api\.rate_limit_requests must be a whole number/);
  await isFirst();

  await writeFile(config, text);
  const [otherCertificate, otherKey] = [join(dir, "other.pem"), join(dir, "other-key.pem")];
  makePair("other", otherCertificate, otherKey);
  await rename(otherCertificate, certificate);
  hangUp(server);
  await logged(server, /the configuration is invalid; nothing was changed/, 2);
  await server.logged(/does not belong to the certificate/);
  await isFirst();
  await rename(otherKey, key);
  const pair = readFileSync(certificate);
  await rm(certificate);
  execFileSync("mkfifo", [certificate]);
  hangUp(server);
  await logged(server, /the configuration is invalid; nothing was changed/, 3);
  await server.logged(/cert\.pem is not a regular file/);
  await isFirst();
  await rm(certificate);
  await writeFile(certificate, Buffer.concat(Array.from({ length: 300 }, () => pair)));
  hangUp(server);
  await logged(server, /the configuration is invalid; nothing was changed/, 4);
  await server.logged(/cert\.pem has \d+ bytes, more than 131072/);
  await isFirst();
  await rm(config);
  execFileSync("mkfifo", [config]);
  hangUp(server);
  await logged(server, /the configuration is invalid; nothing was changed/, 5);
  await server.logged(/cannot read the configuration file .*selvedge\.toml: .* is not a regular file/);
  await isFirst();
  await rm(config);
  await writeFile(config, text);
  await writeFile(certificate, pair);
  hangUp(server);
  await eventually(async () => (await ask(url)).subject === "other");
});

test("SIGHUP applies the settings that can change, and names those that need a restart", async (t) => {
  const config = join(await directory(t), "selvedge.toml");
  const write = (requests: number, level: string, workers: number, day: string): Promise<void> =>
    writeFile(
      config,
      `[api]\nrate_limit_requests = ${requests}\nrate_limit_period_seconds = ${requests}\n[log]\nlevel = "${level}"\n[edge]\nworkers = ${workers}\n[deprecations]\nas_of = "${day}"\n`,
    );
  await write(5000, "info", 1, "2024-01-01");
  const env = { SELVEDGE_CONFIG: config, SELVEDGE_API_RATE_LIMIT_REQUESTS: undefined };
  const selvedge = await startSelvedge({ env: { ...env, SELVEDGE_API_RATE_LIMIT_PERIOD_SECONDS: "4000" } });
  t.after(() => selvedge.stop());
  const token = selvedge.ready.token ?? "";
  const head = async (): Promise<Headers> =>
    (await fetch(`${selvedge.ready.api}/user/tokens/verify`, { headers: { authorization: `Bearer ${token}` } })).headers;
  assert.equal((await head()).get("api-version"), "2024-01-01");
  assert.equal((await head()).get("x-ratelimit-limit"), "5000");
  await write(7, "debug", 2, "2024-02-02");
  hangUp(selvedge);
  await logged(selvedge, /take effect after a restart/);
  await selvedge.logged(/"changed":\["api\.rate_limit_requests","deprecations\.as_of","log\.level"\]/);
  await selvedge.logged(/changes to edge\.workers take effect after a restart/);
  assert.equal((await head()).get("api-version"), "2024-02-02");
  assert.equal((await head()).get("x-ratelimit-limit"), "7");
  assert.match((await head()).get("ratelimit-policy") ?? "", /w=4000$/, "a variable goes before the file, as at the start");
  const metrics = await (await fetch(new URL("/metrics", selvedge.ready.api))).text();
  assert.match(metrics, /^selvedge_config_reloads_total\{result="done"\} 1$/m);
  assert.match(metrics, /^selvedge_transport_fallback\{part="datagrams",reason=".*"\} \d$/m);
});

test("areas of the log have different levels, and SIGHUP changes them", async (t) => {
  const config = join(await directory(t), "selvedge.toml");
  await writeFile(config, "");
  const selvedge = await startSelvedge({ args: ["--config", config, "--log-area", "gateway=error"] });
  t.after(() => selvedge.stop());
  const ask = async (): Promise<void> => void (await fetch(`${selvedge.ready.api}/user/tokens/verify`));
  await ask();
  await writeFile(config, '[log]\nlevel = "warn"\n[log.levels]\napi = "debug"\n');
  hangUp(selvedge);
  await eventually(async () => {
    await ask();
    return /"level":20,.*"msg":"request"/.test(selvedge.log());
  });
  await writeFile(config, '[log]\nlevels = { api = "silent" }\n');
  hangUp(selvedge);
  // At warn, the first reload says nothing.
  await logged(selvedge, /reloaded the configuration/);
  const before = selvedge.log().match(/"msg":"request"/g)?.length;
  await ask();
  await writeFile(config, '[log]\nlevels = { edges = "debug" }\n');
  hangUp(selvedge);
  await logged(selvedge, /the configuration is invalid; nothing was changed/);
  await selvedge.logged(/log\.levels must be areas of the log with levels, such as edge=warn; areas: api, jobs,/);
  assert.equal(selvedge.log().match(/"msg":"request"/g)?.length, before);
});

test("SIGUSR1 does nothing, and SIGHUP during the start does not stop the server", async (t) => {
  const dataDir = await directory(t);
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const child = spawn(process.execPath, [program, "start", "--data", dataDir, ...FREE_PORTS, "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  // Its first lines have run once it has threads and files.
  let hasBegun = false;
  const signals = setInterval(() => {
    hasBegun ||= errors !== "" || readdirSync(dataDir).length > 0;
    if (hasBegun) for (const signal of ["SIGHUP", "SIGUSR1"] as const) child.kill(signal);
  }, 20);
  t.after(() => clearInterval(signals));
  const exit = once(child, "exit");
  const [line] = (await Promise.race([once(child.stdout, "data"), exit])) as [Buffer];
  const ready = JSON.parse(String(line)) as Selvedge["ready"];
  clearInterval(signals);
  assert.equal(hasBegun, true);
  // One for each thread of the process as well.
  const threads = String(execFileSync("ls", [`/proc/${ready.pid}/task`]))
    .trim()
    .split("\n");
  assert.ok(threads.length > 3);
  for (const thread of threads) {
    try {
      process.kill(Number(thread), "SIGUSR1");
    } catch {
      // It has ended since.
    }
  }
  assert.equal((await fetch(new URL("/healthz", ready.api))).status, 200);
  await eventually(() => errors.includes("reloaded the configuration"));
  assert.doesNotMatch(errors, /Debugger listening/);
  const debug = connect(9229, "127.0.0.1");
  const [refused] = await Promise.race([once(debug, "error"), once(debug, "connect").then(() => [null])]);
  debug.destroy();
  assert.equal((refused as NodeJS.ErrnoException | null)?.code, "ECONNREFUSED");
  child.kill("SIGTERM");
  assert.deepEqual(await exit, [0, null]);
});

test("closing the terminal stops the server like Ctrl-C, and SIGHUP with an open terminal reloads the configuration", async (t) => {
  const skip = toolOrSkip("script");
  if (skip) return t.skip(skip);
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const dataDir = await directory(t);
  const command = `exec ${process.execPath} ${program} start --data ${dataDir} ${FREE_PORTS.join(" ")}`;
  const terminal = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
  t.after(() => terminal.kill("SIGKILL"));
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await eventually(() => shown.includes('"msg":"ready"'));
  const runFile = join(dataDir, "run.json");
  const run = JSON.parse(readFileSync(runFile, "utf8")) as { pid: number; api: string };
  const isThere = (): boolean => existsSync(`/proc/${run.pid}`);
  t.after(() => isThere() && process.kill(run.pid, "SIGKILL"));
  process.kill(run.pid, "SIGHUP");
  await eventually(() => shown.includes("reloaded the configuration"));
  assert.equal((await fetch(new URL("/healthz", run.api))).status, 200);
  terminal.kill("SIGKILL");
  await eventually(() => !isThere());
  assert.equal(existsSync(runFile), false, "it has closed what it had opened");
});

test("if koffi does not load, the reason is logged once and shown in status and metrics", async (t) => {
  const hook = join(await directory(t), "without-koffi.mjs");
  await writeFile(
    hook,
    `import { registerHooks } from "node:module";
    registerHooks({ resolve: (name, context, next) => { if (name === "koffi") throw new Error("no koffi today"); return next(name, context); } });`,
  );
  const selvedge = await startSelvedge({
    env: { NODE_OPTIONS: `--import ${hook}` },
    args: ["--edge-workers", "2", "--dns-workers", "2"],
  });
  t.after(() => selvedge.stop());
  const zone = { name: "example.com", account: { id: selvedge.ready.account_id }, type: "full" };
  assert.equal((await api(selvedge, selvedge.ready.token ?? "", "POST", "/zones", zone)).status, 200);
  const lines = selvedge.log().split("\n");
  for (const part of ["DNS over UDP uses Node.js", "edge and gateway connections use Node.js", "edge TLS uses Node.js"])
    assert.equal(lines.filter((line) => line.includes(part) && line.includes("no koffi today")).length, 1, part);
  assert.equal(lines.filter((line) => line.includes('"level":40') && line.includes("no koffi today")).length, 1, "one line for all");
  const metrics = await (await fetch(new URL("/metrics", selvedge.ready.api))).text();
  assert.match(metrics, /^selvedge_transport_fallback\{part="datagrams",reason="no koffi today"\} 1$/m);
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const status = String(execFileSync(process.execPath, [program, "status", "--data", selvedge.dataDir]));
  assert.match(status, /^status +ready$/m);
  assert.match(status, /^notice +.*no koffi today/m);
});

test("runtime.native decides whether native system calls are used, and log, metrics and status show it", async (t) => {
  for (const native of ["auto", "off"] as const) {
    const selvedge = await startSelvedge({ args: ["--runtime-native", native] });
    t.after(() => selvedge.stop());
    const token = selvedge.ready.token ?? "";
    const zone = { name: "example.com", account: { id: selvedge.ready.account_id }, type: "full" };
    const { result } = (await api(selvedge, token, "POST", "/zones", zone)).body as any;
    const record = { type: "A", name: "www", content: "192.0.2.1", ttl: 60 };
    assert.equal((await api(selvedge, token, "POST", `/zones/${result.id}/dns_records`, record)).status, 200);
    const resolver = new Resolver();
    resolver.setServers([selvedge.ready.dns]);
    assert.deepEqual(await resolver.resolve4("www.example.com"), ["192.0.2.1"]);
    assert.equal((await fetch(selvedge.ready.http)).status, 530, "the error page of an unknown host");
    // Some time after the start.
    await eventually(() => native === "auto" || /freed memory back late/.test(selvedge.log()));
    const warnings = selvedge
      .log()
      .split("\n")
      .filter((line) => line.includes('"level":40') && line.includes("native"));
    assert.deepEqual(warnings, []);
    const metrics = await (await fetch(new URL("/metrics", selvedge.ready.api))).text();
    const program = join(import.meta.dirname, "../../bin/selvedge.js");
    const status = String(execFileSync(process.execPath, [program, "status", "--data", selvedge.dataDir]));
    for (const part of ["datagrams", "connections", "tls", "time_slices"]) {
      const sample = native === "auto" ? `{part="${part}",reason=""} 0` : `{part="${part}",reason="runtime.native is off"} 1`;
      assert.ok(metrics.includes(`\nselvedge_transport_fallback${sample}\n`), `${sample}\n${selvedge.log()}`);
    }
    assert.equal(/^notice +.*runtime\.native is off/m.test(status), native === "off");
    await selvedge.logged(native === "auto" ? /"msg":"native system calls are in use"/ : /"native":\[\],"fallback":\{/);
  }
});

test("selvedge reload prints the result of the reload", async (t) => {
  const dir = await directory(t);
  const config = join(dir, "selvedge.toml");
  await writeFile(config, "[api]\nrate_limit_requests = 100\n");
  const server = await startSelvedge({ args: ["--config", config], env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: undefined } });
  t.after(() => server.stop());
  const reload = (...args: readonly string[]) => {
    const program = join(import.meta.dirname, "../../bin/selvedge.js");
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, "reload", "--data", server.dataDir, ...args], {
      ...{ encoding: "utf8", timeout: 120_000 },
    });
    return { status, stdout, stderr };
  };
  await writeFile(config, "[api]\nrate_limit_requests = 200\n");
  assert.deepEqual(reload(), { status: 0, stdout: "changed: api.rate_limit_requests\n", stderr: "" });
  await writeFile(config, '[api]\nrate_limit_requests = "many"\n');
  const refused = reload();
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /selvedge\.toml:2: api\.rate_limit_requests must be a whole number[^]*nothing was changed/);
  await writeFile(config, "[api]\nrate_limit_requests = 200\n[dns]\nworkers = 2\n");
  const third = JSON.parse(reload("--json").stdout) as object;
  assert.deepEqual(third, { number: 3, problems: [], changed: [], need_restart: ["dns.workers"], has_new_certificate: false });
  assert.equal(reload("--data", join(dir, "none")).status, 3);
});
