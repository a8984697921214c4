import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

test("the rules of a zone are exported to a file, compared, applied by it, and keep their identifiers", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rules-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const call = apiCaller(selvedge.ready);
  const run = async (args: readonly string[], input = "") => {
    const env = { ...process.env, SELVEDGE_API: selvedge.ready.api, SELVEDGE_TOKEN: selvedge.ready.token ?? "" };
    const child = spawn(process.execPath, ["bin/selvedge.js", "rules", ...args], { env, stdio: "pipe" });
    child.stdin.end(input);
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    return { out, err, code: code as number };
  };
  const { id } = await succeed(call("POST", "/zones", { name: "rules.example", account: { id: selvedge.ready.account_id } }));
  const entry = (phase: string): string => `/zones/${id}/rulesets/phases/${phase}/entrypoint`;
  const custom = "http_request_firewall_custom";
  const rules = [
    { action: "block", expression: 'http.request.uri.path eq "/admin"', description: "admin" },
    { action: "log", expression: "true", enabled: false },
  ];
  const made = await succeed(call("PUT", entry(custom), { rules }));
  const cache = { action: "set_cache_settings", expression: "true", action_parameters: { cache: false } };
  await succeed(call("PUT", entry("http_request_cache_settings"), { rules: [cache] }));

  const file = join(directory, "rules.json");
  const exported = await run(["export", "rules.example"]);
  assert.equal(exported.code, 0, exported.err);
  writeFileSync(file, exported.out);
  assert.deepEqual(Object.keys(JSON.parse(exported.out).phases), ["http_request_cache_settings", custom]);
  assert.equal((await run(["diff", file])).out, "no difference\n");

  const edited = JSON.parse(readFileSync(file, "utf8"));
  edited.phases[custom][0].expression = 'starts_with(http.request.uri.path, "/admin")';
  edited.phases[custom].push({ action: "managed_challenge", expression: 'ip.geoip.country eq "XX"' });
  delete edited.phases.http_request_cache_settings;
  writeFileSync(file, JSON.stringify(edited));
  const lines = [
    custom,
    '  - block http.request.uri.path eq "/admin"  # admin',
    '  + block starts_with(http.request.uri.path, "/admin")  # admin',
    '  + managed_challenge ip.geoip.country eq "XX"',
    "",
  ].join("\n");
  assert.equal((await run(["diff", file])).out, lines);
  const asked = await run(["apply", file]);
  assert.deepEqual([asked.code, /apply them with --yes/.test(asked.err)], [2, true], asked.err);
  const applied = await run(["apply", file, "--yes"]);
  assert.deepEqual([applied.code, applied.out], [0, `${lines}the rules of rules.example are now those of the file\n`], applied.err);
  const now = await succeed(call("GET", entry(custom)));
  assert.deepEqual(
    now.rules.map((rule: any) => [rule.id === made.rules[0].id || rule.id === made.rules[1].id, rule.version]),
    [
      [true, "2"],
      [true, "1"],
      [false, "1"],
    ],
  );
  assert.equal((await succeed(call("GET", entry("http_request_cache_settings")))).rules.length, 1, "not in the file");
  assert.match((await run(["apply", file, "--yes"])).out, /already those of the file/);
  assert.match((await run(["diff", "-"], readFileSync(file, "utf8"))).out, /no difference/);

  // A rule that the API refuses changes nothing, not even in other phases.
  edited.phases.http_request_cache_settings = [];
  edited.phases[custom][1].expression = "http.nonsense";
  writeFileSync(file, JSON.stringify(edited));
  const refused = await run(["apply", file, "-y"]);
  assert.deepEqual(
    [refused.code, /^selvedge: http_request_firewall_custom: [^]*unknown field "http\.nonsense"/.test(refused.err)],
    [1, true],
    refused.err,
  );
  assert.deepEqual(await succeed(call("GET", entry(custom))), now);
  assert.equal((await succeed(call("GET", entry("http_request_cache_settings")))).rules.length, 1);
  const missing = await run(["diff", join(directory, "none.json")]);
  assert.deepEqual([missing.code, /cannot read .*none\.json/.test(missing.err)], [1, true]);
});

test("rules that somebody adds while the command asks are kept", { skip: toolOrSkip("script") }, async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rules-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const call = apiCaller(selvedge.ready);
  const { id } = await succeed(call("POST", "/zones", { name: "rules.example", account: { id: selvedge.ready.account_id } }));
  const entry = `/zones/${id}/rulesets/phases/http_request_firewall_custom/entrypoint`;
  const file = join(directory, "rules.json");
  const wanted = [{ action: "block", expression: 'http.host eq "old.example"' }];
  writeFileSync(file, JSON.stringify({ zone: "rules.example", phases: { http_request_firewall_custom: wanted } }));
  const env = { ...process.env, SELVEDGE_API: selvedge.ready.api, SELVEDGE_TOKEN: selvedge.ready.token ?? "" };
  const command = `'${process.execPath}' bin/selvedge.js rules apply '${file}'`;
  const child = spawn("script", ["-qec", command, "/dev/null"], { env, stdio: "pipe" });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  await eventually(() => shown.includes("[y/N]"));
  await succeed(call("PUT", entry, { rules: [{ action: "block", expression: 'http.host eq "urgent.example"' }] }));
  child.stdin.write("y\n");
  const [code] = (await once(child, "exit")) as [number];
  assert.equal(code, 1, shown);
  assert.match(shown, /the rules of rules\.example have changed since they were compared: nothing was changed/);
  const { rules } = await succeed(call("GET", entry));
  assert.deepEqual(
    rules.map((rule: any) => rule.expression),
    ['http.host eq "urgent.example"'],
  );
});

test("a phase that cannot be written leaves all phases as they were, and the command says what it could not put back", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rules-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const call = apiCaller(selvedge.ready);
  const { id } = await succeed(call("POST", "/zones", { name: "rules.example", account: { id: selvedge.ready.account_id } }));
  const entry = (phase: string): string => `/zones/${id}/rulesets/phases/${phase}/entrypoint`;
  const [cache, custom] = ["http_request_cache_settings", "http_request_firewall_custom"] as const;
  const before = await succeed(call("PUT", entry(cache), { rules: [cacheRule("false")] }));
  const file = join(directory, "rules.json");
  const wanted = { [cache]: [cacheRule("true")], [custom]: [{ action: "block", expression: "ssl" }] };
  writeFileSync(file, JSON.stringify({ zone: "rules.example", phases: wanted }));
  // The writes for which the proxy answers 500, by their number.
  let writes = 0;
  let lost: readonly number[] = [];
  const proxy = createServer(async (req, res) => {
    const body = await text(req);
    const isWrite = req.method === "PUT" && !req.url!.includes("dry_run");
    if (isWrite && lost.includes(++writes))
      return res.writeHead(500).end(JSON.stringify({ success: false, errors: [{ code: 7, message: "lost" }], messages: [], result: null }));
    const headers = { authorization: req.headers.authorization ?? "", "content-type": "application/json" };
    const answer = await fetch(new URL(req.url!, selvedge.ready.api), { method: req.method!, headers, ...(body === "" ? {} : { body }) });
    return res.writeHead(answer.status).end(await answer.text());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  t.after(() => proxy.close());
  const base = new URL(selvedge.ready.api);
  base.port = String((proxy.address() as AddressInfo).port);
  const apply = async (...answers500: readonly number[]) => {
    [writes, lost] = [0, answers500];
    const env = { ...process.env, SELVEDGE_API: base.href, SELVEDGE_TOKEN: selvedge.ready.token ?? "" };
    const child = spawn(process.execPath, ["bin/selvedge.js", "rules", "apply", file, "--yes"], {
      env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    return { err, code: code as number };
  };
  const failed = await apply(2);
  assert.equal(failed.code, 1);
  assert.match(failed.err, /^selvedge: http_request_firewall_custom: lost [^]*those from before: what was already written was put back/);
  const now = await succeed(call("GET", entry(cache)));
  assert.deepEqual([now.rules[0].id, now.rules[0].expression], [before.rules[0].id, "false"]);
  assert.deepEqual((await succeed(call("GET", entry(custom)))).rules ?? [], []);
  const worse = await apply(2, 3, 4);
  assert.equal(worse.code, 1);
  assert.match(worse.err, /http_request_firewall_custom, http_request_cache_settings may have the rules of the file.*apply the file again/);
  assert.equal((await apply()).code, 0);
  assert.equal((await succeed(call("GET", entry(custom)))).rules[0].expression, "ssl");
});

const cacheRule = (expression: string): object => ({
  ref: "one",
  action: "set_cache_settings",
  expression,
  action_parameters: { cache: false },
});
