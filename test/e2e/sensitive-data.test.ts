import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { text } from "node:stream/consumers";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { apiCaller, type ApiCall, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { readUntil } from "../support/eventually.ts";

const HOST = "www.shop.example";
const CARD = "4716461583322103";
const IBAN = "DE89370400440532013000";
const STAFF = "EMP-204711";
const SECRET = "AKIA4QYHJT3NWBKLD2PX";
const BODY = JSON.stringify({ users: [{ card: CARD, iban: IBAN }], note: `${STAFF} ${SECRET}` });

interface Match {
  readonly detector: string;
  readonly rule_id: string;
  readonly json_path?: string;
  readonly value_hash?: string;
  readonly sample?: string;
  readonly matched_data?: string;
}

let selvedge: Selvedge;
let call: ApiCall;
let zone = "";
const origin = createServer((_req, res) => {
  res.setHeader("content-type", "application/json");
  res.end(BODY);
});

before(async () => {
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  selvedge = await startSelvedge();
  call = apiCaller(selvedge.ready);
  zone = (await succeed(call("POST", "/zones", { name: "shop.example", account: { id: selvedge.ready.account_id } }))).id;
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  await entryPoint("http_request_origin", {
    action: "route",
    action_parameters: { origin: { port: (origin.address() as AddressInfo).port } },
  });
});

after(async () => {
  await selvedge?.stop();
  origin.close();
  origin.closeAllConnections();
});

const entryPoint = (phase: string, rule: object): Promise<any> =>
  succeed(call("PUT", `/zones/${zone}/rulesets/phases/${phase}/entrypoint`, { rules: [{ expression: "true", ...rule }] }));
const detect = (parameters: object = {}): Promise<any> =>
  entryPoint("http_response_firewall_managed", { action: "execute", action_parameters: { id: SENSITIVE_DATA_RULESET_ID, ...parameters } });

/** Fetches the path and gives the matches of the event that it leaves. */
async function matchesOf(path: string): Promise<readonly Match[]> {
  const { hostname, port } = new URL(selvedge.ready.http);
  const body = await new Promise<string>((resolve, reject) => {
    get({ hostname, port, path, headers: { host: HOST } }, (res) => void text(res).then(resolve, reject)).on("error", reject);
  });
  assert.equal(body, BODY);
  const events = await readUntil<readonly { readonly matches: Match[] }[]>(
    () => succeed(call("GET", `/zones/${zone}/security/events?path=${path}`)),
    ({ length }) => length > 0,
  );
  return events[0]?.matches ?? [];
}

test("SPEC 6: events name kind and place, allow-lists and custom patterns apply at once, and only one reader decrypts the copies", async () => {
  await detect();
  const plain = await matchesOf("/plain");
  assert.deepEqual(
    plain.map(({ detector, json_path }) => [detector, json_path]),
    [
      ["fin.card_visa", "$.users[0].card"],
      ["fin.iban", "$.users[0].iban"],
      ["secret.aws_access_key_id", "$.note"],
    ],
  );
  assert.ok(plain.every(({ sample, matched_data }) => sample === undefined && matched_data === undefined));

  const objects = `/zones/${zone}/sensitive_data`;
  const allowed = await succeed(call("POST", `${objects}/allowed`, { value_hash: plain[0]?.value_hash, description: "our own card" }));
  const pattern = await succeed(call("POST", `${objects}/patterns`, { name: "Staff number", pattern: "EMP-\\d{6}" }));
  const listed = await matchesOf("/listed");
  assert.deepEqual(
    listed.map(({ detector, rule_id }) => [detector, rule_id === pattern.id]),
    [
      ["fin.iban", false],
      [`custom.${pattern.id}`, true],
      ["secret.aws_access_key_id", false],
    ],
  );
  assert.equal((await succeed(call("GET", `${objects}/allowed`))).length, 1);
  await succeed(call("DELETE", `${objects}/allowed/${allowed.id}`));

  const keys = JSON.parse(selvedgeCommand(["matched-data", "keygen"])) as { public_key: string };
  await detect({ matched_data: { public_key: keys.public_key, masked_sample: true } });
  const [card] = await matchesOf("/copied");
  assert.equal(card?.sample, "4716********2103");
  const keyFile = join(selvedge.dataDir, "private-key.json");
  await writeFile(keyFile, JSON.stringify(keys));
  const opened = selvedgeCommand(["matched-data", "decrypt", "--private-key-file", keyFile], card?.matched_data);
  assert.deepEqual(JSON.parse(opened), [{ offset: BODY.indexOf(CARD), text: CARD }]);
  const answer = await call("GET", `/zones/${zone}/security/events?path=/copied`);
  const lines = selvedgeCommand(["matched-data", "decrypt", "--private-key-file", keyFile], JSON.stringify(answer.body));
  const texts = lines
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { matched_data: { text: string }[] }).matched_data[0]?.text);
  assert.deepEqual(texts.slice(0, 2), [CARD, IBAN], "a whole answer at once");
  const [event] = answer.body.result as { id: string }[];
  assert.equal((JSON.parse(lines.split("\n")[0]!) as { event_id: string }).event_id, event?.id, "each line says of which event it is");
  await writeFile(keyFile, selvedgeCommand(["matched-data", "keygen"]));
  assert.throws(
    () => selvedgeCommand(["matched-data", "decrypt", "--private-key-file", keyFile], card?.matched_data),
    /it was encrypted for another key, or modified/,
  );
  assert.throws(
    () => selvedgeCommand(["matched-data", "decrypt", "--private-key-file", keyFile], JSON.stringify(answer.body)),
    /4 of 4 could not be decrypted/,
  );
  await rm(keyFile);
});

test("SPEC 4.5: another action, another phase or an invalid key is refused and changes nothing", async () => {
  const at = (phase: string): string => `/zones/${zone}/rulesets/phases/${phase}/entrypoint`;
  const before = await succeed(call("GET", at("http_response_firewall_managed")));
  const parameters = (more: object) => ({ id: SENSITIVE_DATA_RULESET_ID, ...more });
  for (const [phase, action_parameters, message] of [
    ["http_response_firewall_managed", parameters({ overrides: { action: "block" } }), /can only have the action log/],
    [
      "http_response_firewall_managed",
      parameters({ overrides: { categories: [{ category: "pii", action: "block" }] } }),
      /can only have the action log/,
    ],
    ["http_response_firewall_managed", parameters({ matched_data: { public_key: "abc" } }), /X25519/],
    ["http_request_firewall_managed", parameters({}), /runs in phase http_response_firewall_managed/],
  ] as const) {
    const answer = await call("PUT", at(phase), { rules: [{ action: "execute", expression: "true", action_parameters }] });
    assert.equal(answer.status, 400);
    assert.match(answer.body.errors.map((error) => error.message).join(), message);
  }
  assert.deepEqual(await succeed(call("GET", at("http_response_firewall_managed"))), before);
});

test("no file, log or metric contains the matched data", async () => {
  const { hostname, port } = new URL(selvedge.ready.api);
  const metrics = await (await fetch(`http://${hostname}:${port}/metrics`)).text();
  const files = await readdir(selvedge.dataDir, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => [file.name, (await readFile(join(file.parentPath, file.name))).toString("latin1")] as const),
  );
  assert.ok(contents.some(([name]) => name === "events.db"));
  for (const planted of [CARD, IBAN, STAFF, SECRET])
    for (const [name, content] of [...contents, ["the log", selvedge.log()], ["the metrics", metrics]] as const)
      assert.ok(!content.includes(planted), `${planted.slice(0, 4)}… is in ${name}`);
});

test("only the server's user can read files with data of visitors and tenants, whatever the directory's mode", async () => {
  for (const name of ["control.db", "control.db-wal", "events.db", "events.db-wal", "events.db-shm", "seal.key", "snapshot.last-good"]) {
    const file = await stat(join(selvedge.dataDir, name)).catch(() => null);
    if (file === null) assert.match(name, /-(?:wal|shm)$/, name);
    else assert.equal(file.mode & 0o777, 0o600, name);
  }
});

function selvedgeCommand(args: readonly string[], input = ""): string {
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { input, encoding: "utf8", timeout: 60_000 });
  assert.equal(status, 0, stderr);
  return stdout;
}
