import { test, type TestContext } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { json, text } from "node:stream/consumers";
import { bootstrap } from "#control/access/bootstrap.ts";
import { systemClock } from "#kernel/clock.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { openStore } from "#store/database/open.ts";
import { hashSecret } from "#control/sign-in/secrets.ts";
import { findTokenByHash, type TokenRow } from "#store/access/tokens.ts";
import { writeRunFile } from "#app/operations/run-file.ts";
import { startSelvedge } from "../support/selvedge.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function selvedge(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ""): Promise<Outcome> {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...inherited, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit") as Promise<[number]>]);
  return { code, out, err };
}

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "selvedge-cli-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

test("help lists every command and a first step, and a mistyped command gets a suggestion", async () => {
  const help = await selvedge(["--help"]);
  assert.equal(help.code, 0);
  for (const command of ["start", "status", "token", "zone", "rules", "config"]) assert.match(help.out, new RegExp(`^  ${command}`, "m"));
  const create = await selvedge(["token", "create", "--help"]);
  assert.match(create.out, /--permission <group>/);
  assert.match(create.out, /--data <value>/);
  const mistyped = await selvedge(["strat"]);
  assert.deepEqual([mistyped.code, mistyped.out], [2, ""]);
  assert.match(mistyped.err, /Did you mean start/);
  assert.equal((await selvedge([])).code, 2);
});

test("help, -h and -v work in every position, and help for an unknown command gets a suggestion", async () => {
  const { out: help } = await selvedge(["--help"]);
  for (const args of [["-h"], ["help"]]) assert.equal((await selvedge(args)).out, help, args.join(" "));
  assert.equal((await selvedge(["-v"])).out, (await selvedge(["--version"])).out);
  const { out: create } = await selvedge(["token", "create", "--help"]);
  for (const args of [
    ["help", "token", "create"],
    ["token", "create", "-h"],
  ])
    assert.equal((await selvedge(args)).out, create, args.join(" "));
  const unknown = await selvedge(["help", "token", "crate"]);
  assert.deepEqual([unknown.code, unknown.out], [2, ""]);
  assert.match(unknown.err, /unknown command 'crate'/);
});

test("a reader that closes the pipe early does not make the command fail", async () => {
  for (const args of [["--help"], ["start", "--help"], ["config", "check"]]) {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<[number]>]);
    assert.deepEqual({ code, err }, { code: 0, err: "" }, args.join(" "));
  }
});

test("the help of a command lists exactly the flags that it accepts", async () => {
  const heeded: Readonly<Record<string, readonly string[]>> = {
    status: ["config", "data", "json"],
    "token create": ["config", "data", "database-url", "json"],
    "zone export": ["api", "token", "config", "data", "json"],
    "events tail": ["api", "token", "requests", "zone", "account", "filter", "for", "config", "data", "json"],
  };
  for (const [command, flags] of Object.entries(heeded)) {
    const { code, out } = await selvedge([...command.split(" "), "--help"]);
    assert.equal(code, 0, command);
    for (const flag of flags) assert.match(out, new RegExp(`^  --${flag}\\b`, "m"), command);
    assert.doesNotMatch(out, /--api-port|--dns-|--edge-|default: \[\]/, command);
  }
  assert.match((await selvedge(["env", "--help"])).out, /\(default:\s+shell\)/);
  assert.match((await selvedge(["hostnames", "add", "--help"])).out, /\(default: http\)/);
  const foreign = await selvedge(["zone", "export", "example.com", "--dns-port", "53"]);
  assert.deepEqual([foreign.code, foreign.out], [2, ""]);
  assert.match(foreign.err, /unknown option '--dns-port'/);
  assert.match((await selvedge(["start", "--help"])).out, /^Nameserver:\n {2}--dns-host <value>[^]*^Process:$/m);
  assert.doesNotMatch((await selvedge(["zone", "--help"])).out, /help \[command\]/);
});

test("missing or misspelled arguments are reported before anything else", async () => {
  for (const [args, said] of [
    [["events", "tail"], /either --zone or --account/],
    [["events", "tail", "--zone", "a", "--account", "b"], /either --zone or --account/],
    [["events", "tail", "--zone", "a", "--filter", "block"], /--filter block: must be name=value/],
    [["token", "create", "--name", "ci", "--permission", "dns writ"], /did you mean "DNS Write"/],
    [["zone", "export"], /missing required argument 'zone'/],
  ] as const) {
    const { code, out, err } = await selvedge(args);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, said);
  }
});

test("rules fmt prints an expression in canonical form, checks it for a phase and points at errors", async () => {
  const plain = await selvedge(["rules", "fmt", '( http.host == "a" )&&(not(ssl))||ip.src in {10.0.0.0/8   1.1.1.1}']);
  assert.deepEqual([plain.code, plain.out, plain.err], [0, 'http.host eq "a" and not ssl or ip.src in {10.0.0.0/8 1.1.1.1}\n', ""]);
  const piped = await selvedge(["rules", "fmt", "--phase", "http_request_firewall_custom"], {}, "ip.src==1.1.1.1\n");
  assert.deepEqual([piped.code, piped.out], [0, "ip.src eq 1.1.1.1\n"]);
  const value = await selvedge(["rules", "fmt", "--value", 'concat( "a",http.host )']);
  assert.deepEqual([value.code, value.out], [0, 'concat("a", http.host)\n']);
  const json = await selvedge(["rules", "fmt", "--json", "ssl"]);
  assert.deepEqual([json.code, json.out], [0, '{"expression":"ssl"}\n']);
  const late = await selvedge(["rules", "fmt", "--phase", "http_request_firewall_custom", "http.response.code eq 200"]);
  assert.equal(late.code, 1);
  assert.match(late.err, /Filter parsing error \(1:1\)/);
  const broken = await selvedge(["rules", "fmt", "ip.src =="]);
  assert.deepEqual([broken.code, broken.out], [1, ""]);
  assert.match(broken.err, /\^/);
  assert.equal((await selvedge(["rules", "fmt", "--phase", "none", "true"])).code, 2);
});

test("matched-data keygen prints the keys as one line with --json", async () => {
  const { code, out } = await selvedge(["matched-data", "keygen", "--json"]);
  assert.equal(code, 0);
  assert.equal(out.split("\n").length, 2, "one line");
  assert.deepEqual(Object.keys(JSON.parse(out) as object).toSorted(), ["private_key", "public_key"]);
});

test("config check prints values with their sources, masks secrets, and exits 2 with file and line of an error", async (t) => {
  const file = join(directory(t), "selvedge.toml");
  writeFileSync(file, "[api]\nport = 1234\n");
  const secret = "canary-bootstrap-secret";
  const good = await selvedge(["config", "check", "--config", file, "--dns-port", "53", "--json"], { SELVEDGE_BOOTSTRAP_TOKEN: secret });
  assert.equal(good.code, 0, good.err);
  const values = JSON.parse(good.out) as Record<string, unknown>;
  assert.deepEqual(values["api.port"], { value: 1234, source: "file", origin: `${file}:2` });
  assert.deepEqual(values["dns.port"], { value: 53, source: "flag", origin: "--dns-port" });
  assert.deepEqual(values["http.port"], { value: 8080, source: "default" });
  assert.ok(!good.out.includes(secret));
  const forPeople = await selvedge(["config", "check", "--config", file]);
  assert.match(forPeople.out, /^api\.port +=  1234 +# file: .*selvedge\.toml:2$/m);
  writeFileSync(file, "[api]\n\nprot = 1\n");
  const bad = await selvedge(["config", "check", "--config", file]);
  assert.deepEqual([bad.code, bad.out, bad.err], [2, "", `selvedge: ${file}:3: unknown key "api.prot"; did you mean "api.port"?\n`]);
});

test("status exits 0 if the server is ready, 1 if it does not respond and 3 if no server runs", async (t) => {
  const data = directory(t);
  const none = await selvedge(["status", "--data", data]);
  assert.deepEqual([none.code, none.out], [3, ""]);
  assert.match(none.err, /no server runs on .*; start one with/);
  let ready = true;
  let afterMs = 0;
  const server = createServer((_req, res) => {
    const answer = (): unknown =>
      res
        .writeHead(ready ? 200 : 503, { "content-type": "application/json" })
        .end(JSON.stringify({ status: ready ? "ready" : "not ready", reasons: ready ? [] : ["edge is down"] }));
    setTimeout(answer, afterMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`;
  const run = {
    pid: process.pid,
    api,
    gateway: "http://127.0.0.1:2",
    dns: "127.0.0.1:3",
    dot: "127.0.0.1:2",
    http: "http://127.0.0.1:4",
    https: "https://127.0.0.1:5",
    started_at: "2026-01-01T00:00:00Z",
  };
  writeRunFile(data, run);
  const up = await selvedge(["status", "--data", data, "--json"]);
  assert.equal(up.code, 0, up.err);
  assert.deepEqual(JSON.parse(up.out), { status: "ready", reasons: [], ...run, data });
  ready = false;
  const down = await selvedge(["status", "--data", data]);
  assert.equal(down.code, 1);
  assert.match(down.out, /^status +not ready; edge is down$/m);
  // The server itself waits three seconds for a database that does not answer.
  afterMs = 3_300;
  assert.match((await selvedge(["status", "--data", data])).out, /^status +not ready; edge is down$/m);
  // A process that cannot exist: the largest identifier is 2^22.
  writeRunFile(data, { ...run, pid: 2 ** 30 });
  assert.equal((await selvedge(["status", "--data", data])).code, 3);
});

async function installation(
  t: TestContext,
): Promise<{ readonly data: string; readonly account: string; token(secret: string): Promise<TokenRow | undefined> }> {
  const data = directory(t);
  const url = `sqlite:${join(data, "control.db")}`;
  const store = await openStore({ url, clock: systemClock });
  const { account_id } = await bootstrap({ store, clock: systemClock, sealer: createSealer(Buffer.alloc(32)), email: "admin@example.com" });
  t.after(() => store.close());
  return { data, account: account_id, token: (secret) => findTokenByHash(store.read, hashSecret(secret)) };
}

test("token create prints a working secret once, with the requested permissions", async (t) => {
  const { data, account, token } = await installation(t);
  const all = await selvedge(["token", "create", "--name", "ci", "--all", "--data", data, "--json"]);
  assert.equal(all.code, 0, all.err);
  const result = JSON.parse(all.out) as { id: string; token: string; account_id: string; expires_on: null; permissions: string[] };
  assert.deepEqual([result.account_id, result.expires_on], [account, null]);
  assert.ok(result.permissions.includes("AI Gateway Run") && result.permissions.includes("DNS Write"));
  assert.equal((await token(result.token))?.id, result.id);
  const narrow = await selvedge([
    "token",
    "create",
    "--name",
    "run",
    "--permission",
    "ai gateway run",
    "--permission",
    "DNS Read",
    "--expires-in",
    "90d",
    "--data",
    data,
  ]);
  assert.equal(narrow.code, 0, narrow.err);
  const row = await token(narrow.out.trim());
  assert.ok(row?.expires_on);
  const groups = (JSON.parse(row.policies) as { permission_groups: { name: string }[] }[]).flatMap((policy) =>
    policy.permission_groups.map((group) => group.name),
  );
  assert.deepEqual(groups, ["AI Gateway Run", "DNS Read"]);
  assert.ok(!narrow.err.includes(narrow.out.trim()), "the secret stands on standard output alone");
});

test("token create refuses invalid requests and does not create a database", async (t) => {
  const { data } = await installation(t);
  const refused = async (...args: readonly string[]): Promise<readonly [number, string]> => {
    const { code, err, out } = await selvedge(["token", "create", "--name", "x", "--data", data, ...args]);
    assert.equal(out, "");
    return [code, err];
  };
  assert.match((await refused()).join(), /^2,.*say what the token may do/);
  assert.match((await refused("--permission", "DNS Wirte")).join(), /^2,.*did you mean "DNS Write"/);
  assert.match((await refused("--all", "--expires-in", "soon")).join(), /^2,.*--expires-in takes/);
  assert.match((await refused("--all", "--account", "0".repeat(32))).join(), /^1,.*the account 0{32} does not exist/);
  const empty = directory(t);
  const absent = await selvedge(["token", "create", "--name", "x", "--all", "--data", empty]);
  assert.match(`${absent.code} ${absent.err}`, /^1 .*the database at .* does not exist/);
  assert.ok(!existsSync(join(empty, "control.db")));
});

test("every command refuses a database of a newer version in one line and does not change it", async (t) => {
  const { data } = await installation(t);
  const db = new DatabaseSync(join(data, "control.db"));
  db.exec("INSERT INTO schema_migrations VALUES (9999, 'later', '2030-01-01')");
  db.close();
  if (!existsSync(join(data, "seal.key"))) writeFileSync(join(data, "seal.key"), Buffer.alloc(32), { mode: 0o600 });
  for (const command of [["start"], ["token", "create", "--name", "x", "--all"]]) {
    const { code, out, err } = await selvedge([...command, "--data", data]);
    assert.deepEqual([code, out], [1, ""], command[0]);
    assert.match(err, /^selvedge: .*schema version 9999 and this program knows up to \d+: start the newer program that made it\n$/);
  }
});

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: Record<string, unknown>;
}

/** An API of a few lines, for what a real one does only under load or in other versions. */
async function smallApi(
  t: TestContext,
  answer: (asked: Asked) => {
    status?: number;
    retryAfter?: string;
    result?: unknown;
    error?: { code: number; message: string; error_chain?: object[] };
  },
): Promise<{ base: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    assert.equal(req.headers.authorization, "Bearer api-token");
    const isJson = req.headers["content-type"] === "application/json";
    const body = req.method !== "POST" ? {} : isJson ? ((await json(req)) as Record<string, unknown>) : { text: await text(req) };
    const one = { method: req.method, url: req.url, body };
    asked.push(one);
    const { status = 200, retryAfter, result = null, error } = answer(one);
    res.writeHead(status, { "content-type": "application/json", ...(retryAfter === undefined ? {} : { "retry-after": retryAfter }) });
    res.end(JSON.stringify({ result, success: error === undefined, errors: error === undefined ? [] : [error], messages: [] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`, asked };
}

const ZONE_FILE = `$ORIGIN example.com.
$TTL 3600
@   SOA ns1.example.com. admin.example.com. ( 1 7200 3600 1209600 3600 )
@   NS  ns1.example.com.
@   MX  10 mail
www A   192.0.2.1
    TXT "hello world"
old A   192.0.2.2
bad A   not-an-address
odd A   192.0.2.3
_sip._tcp SRV 1 2 5060 sip.example.com.
cn1 CNAME Same
cn2 CNAME other
`;

test("zone import creates the zone, waits for the rate limit, and prints each line that the API refuses", async (t) => {
  let limited = false;
  const { base, asked } = await smallApi(t, ({ method, url }) => {
    if (url?.startsWith("/client/v4/zones?")) return { result: [] };
    if (url === "/client/v4/accounts") return { result: [{ id: "account-1" }] };
    if (url === "/client/v4/zones" && method === "POST") return { result: { id: "zone-1" } };
    if (!limited) {
      limited = true;
      return { status: 429, retryAfter: "1", error: { code: 971, message: "slow down" } };
    }
    const error_chain = [{ code: 81058, message: "Line 10: odd" }];
    return { status: 400, error: { code: 9310, message: "Line 10: odd", error_chain } };
  });
  const args = ["zone", "import", "-", "--zone", "Example.com.", "--create", "--api", base, "--json"];
  const token = { SELVEDGE_TOKEN: "api-token" };
  const unreadable = await selvedge(args, token, ZONE_FILE);
  assert.equal(unreadable.code, 1);
  assert.match(unreadable.err, /^selvedge: -:9: .*IPv4/);
  assert.equal(asked.length, 0, "nothing is created for a file that cannot be read");

  const refused = await selvedge([...args, "--proxied"], token, ZONE_FILE.replace(/^bad.*/m, ""));
  assert.equal(refused.code, 1);
  assert.deepEqual(JSON.parse(refused.out), {
    zone: "example.com",
    zone_id: null,
    created: 0,
    skipped: 0,
    report: [],
    failed: [{ line: 10, message: "odd (81058)" }],
  });
  assert.match(refused.err, /rate limit is reached; continuing in 1 s/);
  assert.match(refused.err, /^selvedge: -:10: odd \(81058\)$/m);
  const form = asked.at(-1);
  assert.equal(form?.url, "/client/v4/zones/zone-1/dns_records/import");
  assert.match(String(form?.body["text"]), /name="proxied"\r\n\r\ntrue\r\n/);
});

test("against a real server status, token create and zone export work, and a second zone import changes nothing", async (t) => {
  const data = directory(t);
  const server = await startSelvedge({ dataDir: data });
  t.after(() => server.stop());
  assert.equal((await selvedge(["status", "--data", data])).code, 0);
  const token = await selvedge(["token", "create", "--name", "import", "--all", "--data", data]);
  assert.equal(token.code, 0, token.err);
  const env = { SELVEDGE_TOKEN: token.out.trim() };
  const file = join(data, "zone.txt");
  writeFileSync(
    file,
    `${ZONE_FILE.replace(/^bad.*\n/m, "")}text TXT plain "two parts"\n@ CAA 0 issue "ca.example"\n* AAAA 2001:db8::1 ; any\n`,
  );
  const importing = async (): Promise<unknown> => {
    const run = await selvedge(["zone", "import", file, "--zone", "example.com", "--create", "--data", data, "--json"], env);
    assert.equal(run.code, 0, run.err);
    const { created, skipped } = JSON.parse(run.out) as { created: number; skipped: number };
    return { created, skipped };
  };
  assert.deepEqual(await importing(), { created: 11, skipped: 2 });
  assert.deepEqual(await importing(), { created: 0, skipped: 13 });
  const exported = await selvedge(["zone", "export", "Example.com", "--data", data], env);
  assert.equal(exported.code, 0, exported.err);
  assert.match(exported.out, /^\*\.example\.com\.\t3600\tIN\tAAAA\t2001:db8::1 ; any$/m);
  writeFileSync(file, exported.out);
  assert.deepEqual(await importing(), { created: 0, skipped: 14 });
  const absent = await selvedge(["zone", "export", "absent.example", "--data", data], env);
  assert.match(`${absent.code} ${absent.err}`, /^1 .*cannot access a zone absent\.example/);
  const malformed = await selvedge(["zone", "export", "example.com", "--data", data], { SELVEDGE_TOKEN: "x" });
  assert.match(
    `${malformed.code} ${malformed.err}`,
    /^1 .*Invalid request headers \(6003\): Invalid format for Authorization header \(6111\)\nselvedge: .*does not look like an API token/,
  );
  for (const command of [
    ["zone", "export", "example.com"],
    ["zone", "import", file, "--zone", "example.com"],
    ["events", "tail", "--zone", "example.com"],
  ]) {
    const unknown = await selvedge([...command, "--data", data], { SELVEDGE_TOKEN: "a".repeat(40) });
    assert.match(
      `${unknown.code} ${unknown.err}`,
      /^1 .*Invalid access token \(9109\)\nselvedge: The API does not know the token/,
      command.join(" "),
    );
  }
  const narrow = await selvedge(["token", "create", "--name", "narrow", "--permission", "Zone Read", "--data", data]);
  const refused = await selvedge(["zone", "import", file, "--zone", "example.com", "--data", data], {
    SELVEDGE_TOKEN: narrow.out.trim(),
  });
  assert.match(`${refused.code} ${refused.err}`, /^1 .*\(10000\)\nselvedge: .*its permissions do not include this/);
});

test("guides run the program with npx, as npm ci installs it", async () => {
  const guides = join(import.meta.dirname, "../../docs/guides");
  const texts = readdirSync(guides).map((name) => readFileSync(join(guides, name), "utf8"));
  const commands = texts.flatMap((guide) => [...guide.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block]) => block!.split("\n")));
  assert.ok(commands.some((line) => line.startsWith("npx selvedge ")));
  assert.deepEqual(
    commands.filter((line) => /(^|[|;&]) *selvedge /.test(line)),
    [],
  );
});

test("zone import explains which argument or setting is missing", async (t) => {
  const file = join(directory(t), "zone.txt");
  writeFileSync(file, "@ A 192.0.2.1\n");
  const attempt = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { code, err } = await selvedge(["zone", "import", ...args], env);
    return `${code} ${err}`;
  };
  const { base } = await smallApi(t, () => ({ result: [] }));
  const token = { SELVEDGE_TOKEN: "api-token" };
  assert.match(await attempt([file, "--zone", "example.com", "--api", base]), /^2 .*SELVEDGE_TOKEN/);
  assert.match(await attempt([file, "--zone", "example.com", "--api", base], token), /^1 .*cannot access a zone example\.com.*--create/);
  assert.match(await attempt([`${file}.absent`, "--zone", "example.com", "--api", base], token), /^1 .*cannot read/);
  assert.match(await attempt([file, "--zone", "example.com", "--data", directory(t)], token), /^3 .*no server runs/);
  assert.match(await attempt([file, "--zone", "example.com", "--api", "http://127.0.0.1:1/client/v4"], token), /^1 .*cannot reach the API/);
  assert.match(await attempt([file, "--zone", "bad..name", "--api", base], token), /^2 .*--zone bad\.\.name/);
});

test("start reports a configuration error in one line and exits 2", async () => {
  const { code, out, err } = await selvedge(["start", "--api-port", "seven"]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^selvedge: --api-port must be a port number .*\n$/);
});

test("output that finds no room is one line and a failure, and errors that find none keep their exit code", async () => {
  const into = async (name: "stdout" | "stderr", ...args: readonly string[]): Promise<{ readonly code: number; readonly rest: string }> => {
    const full = openSync("/dev/full", "w");
    const stdio = name === "stdout" ? (["ignore", full, "pipe"] as const) : (["ignore", "pipe", full] as const);
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: [...stdio] });
    closeSync(full);
    const [rest, [code]] = await Promise.all([text((child.stderr ?? child.stdout)!), once(child, "exit") as Promise<[number]>]);
    return { code, rest };
  };
  const lost = await into("stdout", "rules", "fmt", "true");
  assert.equal(lost.code, 1);
  assert.match(lost.rest, /^selvedge: cannot write the output: ENOSPC[^\n]*\n$/);
  assert.deepEqual(await into("stderr", "nonsense"), { code: 2, rest: "" });
});
