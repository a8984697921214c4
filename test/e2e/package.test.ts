import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { Resolver } from "node:dns/promises";
import { get, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { readUntil } from "../support/eventually.ts";
import { dependencies, type InstalledPackage, installPackage, stranger } from "../support/installed-package.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

const SENSITIVE_DATA_RULESET = "e22d83c647c64a3eae91b71b499d988e";
interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}
const CARD_PAGE = "<p>4012 8888 8888 1881</p>";

describe("the npm package", () => {
  let installed: InstalledPackage;
  before(() => {
    installed = installPackage();
  });
  after(() => installed?.remove());

  test("contains the program with its source maps, and nothing that only a checkout needs", (t) => {
    t.diagnostic(`${installed.size} bytes, ${installed.unpackedSize} unpacked, ${installed.files.length} files`);
    const built =
      /^(?:bin\/selvedge|(?:bin|dist)\/[\w/-]+\.js(?:\.map)?|dashboard\/dist\/.*|docs\/(?:divergences|errors|guides|reference)\/.*\.md)$/;
    const besides = installed.files.filter((path) => !built.test(path));
    for (const needed of ["dashboard/dist/index.html", "docs/guides/README.md", "docs/errors/7000.md"])
      assert.ok(installed.files.includes(needed), needed);
    assert.deepEqual(besides.toSorted(), ["LICENSE", "README.md", "dist/LICENSES.txt", "dist/package.json", "package.json"]);
    assert.deepEqual(
      installed.files.filter((path) => /\btesting\b|\btest\b/.test(path)),
      [],
    );
  });

  test("imports only packages that are installed with it", () => {
    const allowed = new Set(dependencies());
    const asked = new Set<string>();
    // Files for browsers hold programs to copy, whose imports are text.
    const programs = installed.files.filter((one) => one.endsWith(".js") && !one.startsWith("dashboard/"));
    for (const path of programs)
      for (const [, early, late] of readFileSync(join(installed.directory, path), "utf8").matchAll(IMPORTED)) {
        const specifier = early ?? late ?? "";
        if (!/^[.#]/.test(specifier) && !isBuiltin(specifier)) asked.add(packageOf(specifier));
      }
    assert.ok(asked.has("fastify") && asked.has("koffi"), [...asked].join(", "));
    assert.deepEqual(
      [...asked].filter((name) => !allowed.has(name)),
      [],
    );
  });

  test("runs the command line", () => {
    const { version } = JSON.parse(readFileSync(join(installed.directory, "package.json"), "utf8")) as { version: string };
    const run = (...args: readonly string[]): string =>
      execFileSync(process.execPath, [installed.program, ...args], { encoding: "utf8", timeout: 120_000 });
    assert.equal(run("--version"), `${version}\n`);
    assert.equal(run("rules", "fmt", 'http.host=="a"'), 'http.host eq "a"\n');
    assert.match(run("start", "--help"), /--api-port/);
  });

  test("its command runs the Node.js that npm installed with it, and otherwise the machine's", (t) => {
    const { bin, version } = JSON.parse(readFileSync(join(installed.directory, "package.json"), "utf8")) as Manifest;
    const machine = mkdtempSync(join(tmpdir(), "selvedge machine "));
    t.after(() => rmSync(machine, { recursive: true, force: true }));
    writeFileSync(join(machine, "node"), '#!/bin/sh\necho the machine runs $(basename "$1") $2\n', { mode: 0o755 });
    const link = join(machine, "selvedge");
    symlinkSync(join(installed.directory, bin["selvedge"] ?? ""), link);
    const run = (): string =>
      execFileSync(link, ["--version"], { encoding: "utf8", env: { PATH: `${machine}:/usr/bin:/bin` }, timeout: 120_000 });
    assert.equal(run(), `${version}\n`);
    const modules = dirname(installed.directory);
    const own = join(modules, `node-linux-${process.arch}`);
    const away = join(modules, "away");
    t.after(() => {
      rmSync(own, { recursive: true, force: true });
      renameSync(away, own);
    });
    renameSync(own, away);
    assert.equal(run(), "the machine runs selvedge.js --version\n");
    // As where the C library is another one.
    mkdirSync(join(own, "bin"), { recursive: true });
    writeFileSync(join(own, "bin/node"), "#!/nonexistent\n", { mode: 0o755 });
    assert.equal(run(), "the machine runs selvedge.js --version\n");
  });

  test("serves on every plane for a user without write access to the package or a home, and writes nothing there", async (t) => {
    const identity = stranger();
    readOnly(t, installed.directory);
    const before = await listing(installed.directory);
    const origin = createServer((_, res) => res.setHeader("content-type", "text/html").end(CARD_PAGE)).listen(0, "127.0.0.1");
    t.after(() => origin.close());
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge data ü "));
    t.after(() => rmSync(dataDir, { recursive: true, force: true }));
    const selvedge = await startSelvedge({
      ...{ program: installed.program, identity, dataDir },
      env: { HOME: "/nonexistent", XDG_CACHE_HOME: undefined, NODE_COMPILE_CACHE: undefined },
    });
    t.after(() => selvedge.kill());
    await quickStart(selvedge, (origin.address() as AddressInfo).port);
    assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
    // A machine that is busy lets threads wait.
    const wrong = selvedge
      .log()
      .split("\n")
      .filter((line) => /"level":[56]0|Warning:/.test(line) && !line.includes("unresponsive"));
    assert.deepEqual(wrong, []);
    assert.deepEqual(await listing(installed.directory), before);
  });
});

/** As esbuild writes imports. */
const IMPORTED = /(?:^|;)(?:import|export)\b ?[\w$*{}, ]*?(?:\bfrom)? ?"([^"]+)"|\bimport\("([^"]+)"\)/gm;

/** The steps of the README that need no tool. */
async function quickStart(selvedge: Selvedge, originPort: number): Promise<void> {
  const { token = "", account_id } = selvedge.ready;
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await api(selvedge, token, method, path, body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.result;
  };
  const zone = await call("POST", "/zones", { account: { id: account_id }, name: "shop.example", type: "full" });
  await call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
  await call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "direct", content: "192.0.2.7", ttl: 120 });
  await call("PUT", `/zones/${zone.id}/rulesets/phases/http_request_origin/entrypoint`, {
    rules: [{ action: "route", action_parameters: { origin: { port: originPort } }, expression: "true" }],
  });
  await call("POST", `/zones/${zone.id}/rulesets`, {
    ...{ name: "Sensitive data", kind: "zone", phase: "http_response_firewall_managed" },
    rules: [{ action: "execute", action_parameters: { id: SENSITIVE_DATA_RULESET }, expression: "true" }],
  });
  const resolver = new Resolver();
  resolver.setServers([selvedge.ready.dns]);
  assert.deepEqual(await resolver.resolve4("direct.shop.example"), ["192.0.2.7"]);
  assert.equal(await page(selvedge.ready.http), CARD_PAGE);
  const events = await readUntil(
    () => call("GET", `/zones/${zone.id}/security/events`),
    ({ length }) => length > 0,
  );
  assert.equal(events[0].path, "/card");

  await call("POST", `/accounts/${account_id}/ai-gateway/gateways`, {
    ...{ id: "main", authentication: true, collect_logs: true, cache_invalidate_on_update: false, cache_ttl: null },
    ...{ rate_limiting_interval: null, rate_limiting_limit: null },
  });
  const refused = await fetch(`${selvedge.ready.gateway}/v1/${account_id}/main/openai/chat/completions`, { method: "POST", body: "{}" });
  assert.equal(refused.status, 401);
}

async function page(edge: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  get(new URL("/card", edge), { headers: { host: "www.shop.example" }, agent: false }, (res) => {
    let text = "";
    res.setEncoding("utf8").on("data", (part: string) => (text += part));
    res.on("end", () => resolve(text));
  }).on("error", reject);
  return promise;
}

const packageOf = (specifier: string): string => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** For everybody but an administrator, who is somebody else there. */
function readOnly(t: TestContext, directory: string): void {
  const { mode } = statSync(directory);
  chmodSync(directory, 0o555);
  t.after(() => chmodSync(directory, mode));
}

async function listing(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.map(({ parentPath, name }) => `${join(parentPath, name)} ${statSync(join(parentPath, name)).mtimeMs}`).toSorted();
}
