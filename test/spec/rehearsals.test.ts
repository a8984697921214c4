import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { deprecationTable } from "#deprecations/later-rows.ts";
import type { Rehearsal } from "#model/access/rehearsal.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";
import { eventually } from "../support/eventually.ts";

const OPERATOR = { asOf: "2024-01-01", negotiate: false } as const;
const AS_OF = "2025-12-31";

const createZone = async (server: ApiServer, account: string): Promise<string> =>
  (await ask(server, "POST", "/zones", { body: { name: `${account}.example`, account: { id: account } } })).body.result.id;

async function rehearsal(server: ApiServer, body: object = { as_of: AS_OF }, account = server.account_id): Promise<Rehearsal> {
  const answer = await ask(server, "POST", `/accounts/${account}/deprecations/rehearsals`, { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.result;
}

/** Calls are written every ten seconds. */
const written = (server: ApiServer, calls: number): Promise<void> => eventually(async () => (await rehearsal(server)).calls >= calls);

interface Planted {
  readonly id: string;
  readonly outcome: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly times: number;
}

const SRV = { service: "_sip", proto: "_tcp", name: "a", priority: 1, weight: 2, port: 3, target: "t.example.com" };

/** Calls that work on the operator's day and not on the rehearsed one. */
const planted = (zone: string): readonly Planted[] => {
  const records = `/zones/${zone}/dns_records`;
  return [
    {
      id: "dns-record-srv-name-parts-in-requests",
      outcome: "refused",
      method: "POST",
      path: records,
      body: { type: "SRV", data: SRV },
      times: 3,
    },
    { id: "dns-records-filter-prefixes", outcome: "refused", method: "GET", path: `${records}?name=contains:secret-name`, times: 2 },
    { id: "dns-records-comma-lists", outcome: "refused", method: "GET", path: `${records}?name=one.example,two.example`, times: 2 },
    { id: "firewall-rules", outcome: "gone", method: "GET", path: `/zones/${zone}/firewall/rules`, times: 4 },
    {
      id: "zone-settings-brotli",
      outcome: "refused",
      method: "PATCH",
      path: `/zones/${zone}/settings`,
      body: { items: [{ id: "brotli", value: "on" }] },
      times: 1,
    },
  ];
};

const harmless = (zone: string, account: string): readonly (readonly [string, string, object?])[] => [
  ["GET", "/zones"],
  ["GET", `/zones/${zone}`],
  ["GET", `/zones/${zone}/dns_records?name.contains=a&type=A`],
  ["GET", `/zones/${zone}/dns_settings`],
  ["GET", `/zones/${zone}/settings`],
  ["PATCH", `/zones/${zone}/settings`, { items: [{ id: "ipv6", value: "on" }] }],
  ["GET", `/accounts/${account}/tokens`],
  ["GET", `/zones/${zone}/rulesets`],
];

describe("rehearsals of recorded calls", () => {
  let server: ApiServer;
  let zone: string;
  before(async () => {
    server = await startApi({ date: OPERATOR });
    zone = await createZone(server, server.account_id);
  });
  after(() => server.close());

  test("a rehearsal over 1,000 calls finds exactly the planted ones", async () => {
    const wanted = planted(zone);
    const plain = harmless(zone, server.account_id);
    const calls = wanted.flatMap(({ method, path, body, times }) =>
      Array.from(
        { length: times },
        (_, n) => [method, path, body && "data" in body ? { ...body, data: { ...SRV, name: `n${n}` } } : body] as const,
      ),
    );
    const count = calls.reduce((sum) => sum + 1, 0);
    for (let n = 0; n < 1000; n++) {
      const at = Math.floor(n / Math.floor(1000 / count));
      const [method, path, body] = n % Math.floor(1000 / count) === 0 && at < count ? calls[at]! : plain[n % plain.length]!;
      const answer = await ask(server, method, path, body === undefined ? {} : { body });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text}`);
    }
    await written(server, 870);
    const report = await rehearsal(server);
    assert.equal(report.breaking, count);
    const breaking = report.findings.filter(({ outcome }) => outcome !== "answer");
    assert.deepEqual(
      breaking.map(({ deprecation_id, outcome, calls: times }) => [deprecation_id, outcome, times]).toSorted(),
      wanted.map(({ id, outcome, times }) => [id, outcome, times]).toSorted(),
    );
    const token = (await ask(server, "GET", "/user/tokens/verify")).body.result.id;
    for (const finding of breaking)
      assert.deepEqual([finding.token_id, finding.token_name, finding.is_kept], [token, "First token", false]);
    assert.match(breaking.find(({ outcome }) => outcome === "refused")?.error?.message ?? "", /no longer supported/);
    const before2024 = await rehearsal(server, { as_of: "2024-01-02" });
    assert.deepEqual([before2024.breaking, before2024.findings], [0, []], "nothing ends on the day after the operator's");
  });

  test("only names of the API's own fields are recorded, and no values", async () => {
    const secret = "s3cr3tvalue";
    const records = `/zones/${zone}/dns_records`;
    await ask(server, "POST", records, {
      body: {
        type: "TXT",
        name: secret,
        content: `"${secret}"`,
        comment: secret,
        [secret]: secret,
        data: { [secret]: { [secret]: secret } },
      },
    });
    await ask(server, "GET", `${records}?name=${secret}&content=contains:${secret}&${secret}=${secret}&search=${secret},${secret}`);
    const resources = { [`com.cloudflare.api.account.${secret}`]: "*" };
    await ask(server, "POST", `/accounts/${server.account_id}/tokens`, {
      body: { name: secret, policies: [{ effect: secret, resources, permission_groups: [{ id: secret }] }] },
    });
    await ask(server, "PUT", `/accounts/${server.account_id}`, { body: [secret, [secret, { [secret]: 1 }]] });
    const before = await server.store.read.selectFrom("recorded_calls").select("shape").execute();
    const has = (rows: readonly { shape: string }[], text: string): boolean => rows.some(({ shape }) => shape.includes(text));
    assert.equal(has(before, 'contains:x","name"'), false);
    await eventually(async () =>
      has(
        await server.store.read.selectFrom("recorded_calls").select("shape").execute(),
        '"content":"contains:x","name":"x","search":"x,x"',
      ),
    );
    const rows = await server.store.read.selectFrom("recorded_calls").selectAll().execute();
    assert.equal(JSON.stringify(rows).includes(secret), false);
    assert.ok(rows.every(({ shape }) => shape.length < 10_000));
  });

  test("an account sees only its own calls", async () => {
    const other = (await ask(server, "POST", "/accounts", { body: { name: "other" } })).body.result.id;
    const report = await rehearsal(server, { as_of: AS_OF }, other);
    assert.deepEqual([report.calls, report.findings], [0, []]);
  });

  test("an invalid date and a range of too many days are refused", async () => {
    for (const body of [{ as_of: "soon" }, { as_of: "2025-02-30" }, { as_of: AS_OF, days: 31 }, { as_of: AS_OF, days: 0 }, {}])
      assert.equal(
        (await ask(server, "POST", `/accounts/${server.account_id}/deprecations/rehearsals`, { body })).status,
        400,
        JSON.stringify(body),
      );
  });

  test("selvedge deprecations rehearse --since and --live query the server", async () => {
    const since = await run(["--as-of", AS_OF, "--since", "7d", "--json"], server);
    assert.equal(since.code, 1, since.err);
    assert.equal((JSON.parse(since.out) as Rehearsal).breaking, 13, "the planted ones, and one filter of another test");
    const clean = await run(["--as-of", "2024-01-02", "--json"], server);
    assert.deepEqual([clean.code, (JSON.parse(clean.out) as Rehearsal).breaking], [0, 0], clean.err);
    for (const source of [
      ["--since", "7d"],
      ["--live", "--for", "60"],
    ]) {
      const past = await run(["--as-of", OPERATOR.asOf, ...source], server);
      assert.deepEqual([past.code, past.out], [2, ""], "nothing ends between the two days");
      assert.match(past.err, /nothing can end: .* is not after 2024-01-01/);
    }
    const coming = run(["--as-of", AS_OF, "--live", "--for", "25"], server);
    const calling = setInterval(() => void ask(server, "GET", `/zones/${zone}/rate_limits`), 1_000);
    const live = await coming.finally(() => clearInterval(calling));
    assert.equal(live.code, 1, live.err);
    assert.match(live.err, /rate-limits {2}gone {2}First token/);
    assert.doesNotMatch(live.out, /firewall-rules/, "calls before it began do not count");
  });
});

test("a caller with its own API date is not affected", async () => {
  const server = await startApi({ date: { asOf: null, negotiate: true } });
  try {
    const zone = await createZone(server, server.account_id);
    const old = { headers: { "api-version": "2024-01-01" } };
    for (let n = 0; n < 3; n++) assert.equal((await ask(server, "GET", `/zones/${zone}/firewall/rules`, old)).status, 200);
    await written(server, 3);
    const report = await rehearsal(server, { as_of: "2027-01-01" });
    assert.equal(report.breaking, 0);
    const kept = report.findings.find(({ deprecation_id }) => deprecation_id === "firewall-rules");
    assert.deepEqual([kept?.is_kept, kept?.api_date, kept?.calls, kept?.outcome], [true, "2024-01-01", 3, "gone"]);
  } finally {
    await server.close();
  }
});

test("calls of an account deleted before they are written are skipped, and the others are written", async () => {
  const server = await startApi({ date: OPERATOR });
  try {
    const gone = (await ask(server, "POST", "/accounts", { body: { name: "gone" } })).body.result.id;
    assert.equal((await ask(server, "GET", `/accounts/${gone}`)).status, 200);
    assert.equal((await ask(server, "DELETE", `/accounts/${gone}`)).status, 200);
    await createZone(server, server.account_id);
    await ask(server, "GET", `/accounts/${server.account_id}`);
    await written(server, 1);
    assert.deepEqual(
      server.logged.filter((line) => line.includes("could not record")),
      [],
    );
  } finally {
    await server.close();
  }
});

test("a rehearsal finds calls that only the server knows to change a record's type or to leave a gateway open", async () => {
  const server = await startApi({ date: { asOf: "2026-01-01", negotiate: false }, deprecations: deprecationTable(true) });
  try {
    const records = `/zones/${await createZone(server, server.account_id)}/dns_records`;
    const gateways = `/accounts/${server.account_id}/ai-gateway/gateways`;
    const call = async (method: string, path: string, body: object): Promise<any> => {
      const answer = await ask(server, method, path, { body });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.result;
    };
    const { id } = await call("POST", records, { type: "A", name: "a", content: "192.0.2.1" });
    await call("PUT", `${records}/${id}`, { type: "A", name: "a", content: "192.0.2.2", ttl: 300 });
    await call("PATCH", `${records}/${id}`, { type: "TXT", content: '"text"' });
    await call("PATCH", `${records}/${id}`, { type: "TXT", content: '"other"' });
    await call("POST", `${records}/batch`, { puts: [{ id, type: "A", name: "a", content: "192.0.2.3", ttl: 300 }] });
    const gateway = { cache_invalidate_on_update: false, cache_ttl: null, collect_logs: true };
    const limits = { rate_limiting_interval: null, rate_limiting_limit: null };
    await call("POST", gateways, { ...gateway, ...limits, id: "open", authentication: false });
    await call("POST", gateways, { ...gateway, ...limits, id: "unsaid" });
    await call("POST", gateways, { ...gateway, ...limits, id: "closed", authentication: true });
    await eventually(async () => (await rehearsal(server, { as_of: "2026-12-31" })).calls >= 8);
    const { findings, breaking } = await rehearsal(server, { as_of: "2026-12-31" });
    const found = findings.map((one) => [one.deprecation_id, one.outcome, one.route.split(" ")[0], one.calls]);
    assert.deepEqual(found.map(String).toSorted(), [
      "dns-record-type-change,refused,PATCH,1",
      "dns-record-type-change,refused,POST,1",
      "gateways-without-authentication,answer,POST,1",
      "gateways-without-authentication,refused,POST,1",
    ]);
    assert.equal(breaking, 3);
  } finally {
    await server.close();
  }
});

test("nothing is recorded if the operator turned recording off", async () => {
  const server = await startApi({ date: OPERATOR, recordsCalls: () => false });
  const { store } = server;
  await createZone(server, server.account_id);
  let rows: unknown = null;
  await server.close(async () => {
    rows = await store.read.selectFrom("recorded_calls").selectAll().execute();
  });
  assert.deepEqual(rows, []);
});

test("selvedge deprecations rehearse --log reads calls from a file, without a server", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rehearsal-"));
  try {
    const zone = "0".repeat(32);
    const lines = [
      { method: "GET", path: `/client/v4/zones/${zone}/dns_records?name=contains:a`, token: "old <tool>" },
      { method: "GET", path: `/zones/${zone}/dns_records?name=contains:b`, token: "old <tool>" },
      { method: "PATCH", path: `/zones/${zone}/settings/cname_flattening`, body: { value: "on" } },
      { method: "PUT", path: "/accounts/{account_id}", body: { name: "a", settings: { default_nameservers: "custom.account" } } },
      { method: "GET", path: `/zones/${zone}/dns_records` },
      { method: "GET", path: "/nowhere" },
    ];
    const log = join(directory, "calls.ndjson");
    const html = join(directory, "report.html");
    writeFileSync(log, `${lines.map((line) => JSON.stringify(line)).join("\n")}\nnot json\n`);
    const args = ["--as-of", "2025-12-31", "--from", "2024-01-01", "--log", log];
    const { code, out, err } = await run([...args, "--json", "--html", html]);
    assert.equal(code, 1, err);
    assert.match(err, /2 entries are not calls of the management API and were left out, beginning with line 6\n/);
    const report = JSON.parse(out) as Rehearsal;
    assert.deepEqual([report.calls, report.breaking], [5, 4]);
    const outcomes = report.findings
      .filter(({ outcome }) => outcome !== "answer")
      .map((one) => [one.deprecation_id, one.outcome, one.calls]);
    assert.deepEqual(outcomes, [
      ["dns-records-filter-prefixes", "refused", 2],
      ["account-settings-nameservers", "refused", 1],
      ["zone-setting-cname-flattening", "gone", 1],
    ]);
    assert.deepEqual(report.findings.find(({ deprecation_id }) => deprecation_id === "dns-records-filter-prefixes")?.rewrite, {
      before: `curl -X GET -H "Authorization: Bearer $TOKEN" "$API"'/zones/:zone_id/dns_records?name=contains%3Ax'`,
      curl: `curl -X GET -H "Authorization: Bearer $TOKEN" "$API"'/zones/:zone_id/dns_records?name.contains=x'`,
      sdk: 'client.get("/zones/:zone_id/dns_records", {"query":{"name.contains":"x"}})',
    });
    const page = readFileSync(html, "utf8");
    assert.ok(page.includes("<td>old &lt;tool&gt;") && !page.includes("<tool>"));
    const text = await run(args);
    assert.match(text.out, /^5 calls, of which 4 would break on 2025-12-31\nDATE +ID +OUTCOME/);
    assert.equal((await run(["--as-of", "2024-01-02", "--from", "2024-01-01", "--log", log])).code, 0);
    assert.equal((await run(["--as-of", "soon", "--log", log])).code, 2);
    assert.equal((await run(["--as-of", "2025-12-31", "--from", "2024-01-01", "--log", join(directory, "absent")])).code, 2);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a log has calls as recorders of HTTP write them, and one without calls is an error", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-rehearsal-"));
  const zone = "0".repeat(32);
  const address = `https://api.example.net/edge/client/v4/zones/${zone}/filters/?page=1#top`;
  const request = { method: "get", url: address, postData: { text: "" } };
  const settings = JSON.stringify({ settings: { default_nameservers: "custom.account" } });
  const archive = { log: { version: "1.2", entries: [{ request }, { request: { method: "GET", url: "https://www.example.net/zones" } }] } };
  const logs: readonly (readonly [name: string, text: string, broken: readonly string[]])[] = [
    ["an address", JSON.stringify({ method: "GET", path: address }), ["firewall-rules"]],
    ["a byte order mark", `\uFEFF${JSON.stringify(request)}\r\n\r\n`, ["firewall-rules"]],
    ["a body as text", JSON.stringify({ method: "PUT", path: `/accounts/${zone}`, body: settings }), ["account-settings-nameservers"]],
    ["an archive", JSON.stringify(archive), ["firewall-rules"]],
    ["a written archive", JSON.stringify(archive, null, 2), ["firewall-rules"]],
    ["a list", JSON.stringify([request, 5]), ["firewall-rules"]],
    ["a line that is cut", `{"method":"GET"\n${JSON.stringify(request)}\n`, ["firewall-rules"]],
  ];
  try {
    const file = join(directory, "calls");
    const args = ["--as-of", "2026-01-01", "--from", "2024-01-01", "--log", file];
    for (const [name, text, broken] of logs) {
      writeFileSync(file, text);
      const { code, out, err } = await run([...args, "--json"]);
      assert.equal(code, 1, `${name}: ${err}`);
      const { findings } = JSON.parse(out) as Rehearsal;
      const ids = findings.filter(({ outcome }) => outcome !== "answer").map(({ deprecation_id }) => deprecation_id);
      assert.deepEqual(ids, broken, name);
    }
    writeFileSync(file, "GET /zones\n");
    const without = await run(args);
    assert.deepEqual([without.code, without.out], [2, ""]);
    assert.match(without.err, /nothing to rehearse .*beginning with line 1/);
    for (const empty of ["", "\n", "[]", JSON.stringify({ log: { version: "1.2", entries: [] } })]) {
      writeFileSync(file, empty);
      const none = await run(args);
      assert.deepEqual([none.code, none.out], [2, ""], JSON.stringify(empty));
      assert.match(none.err, /nothing to rehearse .*no entry/);
    }
    writeFileSync(file, JSON.stringify(request));
    const early = await run(["--as-of", "2026-01-01", "--log", file]);
    assert.equal(early.code, 2);
    assert.match(early.err, /--as-of 2026-01-01 must come after --from/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

function run(args: readonly string[], server?: ApiServer): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const api = server === undefined ? {} : { SELVEDGE_TOKEN: server.token, SELVEDGE_API: server.url };
  const account = server === undefined ? [] : ["--account", server.account_id];
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [program, "deprecations", "rehearse", ...args, ...account],
      { env: { ...process.env, ...api }, timeout: 120_000 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    ),
  );
}
