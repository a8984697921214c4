import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { fixedClock } from "#kernel/clock.ts";
import { type Answer, type ApiServer, ask, OWNER_EMAIL, OWNER_KEY, startApi } from "../support/api-server.ts";

const NOW = "2026-05-06T07:08:09Z";

interface Pinned {
  readonly id: string;
  readonly secret: string;
}

/** A token of the account with everything on its zones, pinned or not. */
async function createToken(server: ApiServer, change: Record<string, unknown> = {}): Promise<Answer> {
  const groups = await ask(server, "GET", `/accounts/${server.account_id}/tokens/permission_groups`);
  const ofScope = (scope: string): { id: string }[] =>
    groups.body.result.filter(({ scopes }: { scopes: string[] }) => scopes.includes(scope)).map(({ id }: { id: string }) => ({ id }));
  const account = `com.cloudflare.api.account.${server.account_id}`;
  const policies = [
    { effect: "allow", resources: { [account]: "*" }, permission_groups: ofScope("com.cloudflare.api.account") },
    {
      effect: "allow",
      resources: { [account]: { "com.cloudflare.api.account.zone.*": "*" } },
      permission_groups: ofScope("com.cloudflare.api.account.zone"),
    },
  ];
  return ask(server, "POST", `/accounts/${server.account_id}/tokens`, { body: { name: "pinned", policies, ...change } });
}

async function pinnedToken(server: ApiServer, day?: string): Promise<Pinned> {
  const created = await createToken(server, day === undefined ? {} : { api_date: day });
  assert.equal(created.status, 200, created.text);
  assert.equal(created.body.result.api_date, day);
  return { id: created.body.result.id, secret: created.body.result.value };
}

const createZone = async (server: ApiServer): Promise<string> =>
  (await ask(server, "POST", "/zones", { body: { name: "example.com", account: { id: server.account_id } } })).body.result.id;

const pinAccount = (server: ApiServer, day: string | null): Promise<Answer> =>
  ask(server, "PUT", `/accounts/${server.account_id}`, { body: { name: "the account", api_date: day } });

const dateOf = (answer: Answer): string | null => answer.headers.get("api-version");

describe("SPEC 9: the API date of a request", () => {
  const clock = fixedClock(NOW);
  let server: ApiServer;
  let zone: string;
  before(async () => {
    server = await startApi({ clock, date: { asOf: "2026-01-01", negotiate: true } });
    zone = await createZone(server);
  });
  after(() => server.close());

  test("comes from the header, then the token, then the account, then the operator", async () => {
    const [pinned, free] = [await pinnedToken(server, "2024-02-01"), await pinnedToken(server)];
    const paths = [`/zones/${zone}/dns_records`, `/accounts/${server.account_id}`, "/accounts", "/zones"];
    const dates = async (token: string, headers: Record<string, string> = {}): Promise<(string | null)[]> => {
      const all: (string | null)[] = [];
      for (const path of paths) all.push(dateOf(await ask(server, "GET", path, { token, headers })));
      return all;
    };
    assert.deepEqual(
      await dates(free.secret),
      paths.map(() => "2026-01-01"),
      "the operator's",
    );
    assert.deepEqual(
      await dates(pinned.secret),
      paths.map(() => "2024-02-01"),
      "the token's",
    );
    assert.equal((await pinAccount(server, "2022-03-04")).body.result.api_date, "2022-03-04");
    assert.deepEqual(
      await dates(free.secret),
      paths.map(() => "2022-03-04"),
      "the account's, by its own token on every path",
    );
    assert.deepEqual(
      await dates(server.token),
      ["2022-03-04", "2022-03-04", "2026-01-01", "2026-01-01"],
      "a user's token where the path names it",
    );
    assert.deepEqual(
      await dates(pinned.secret),
      paths.map(() => "2024-02-01"),
      "the token's before the account's",
    );
    const key = { token: null, headers: { "x-auth-email": OWNER_EMAIL, "x-auth-key": OWNER_KEY } };
    assert.equal(dateOf(await ask(server, "GET", `/zones/${zone}`, key)), "2022-03-04", "by e-mail and key");
    const header = { "api-version": "2025-01-01" };
    assert.deepEqual(
      await dates(pinned.secret, header),
      paths.map(() => "2025-01-01"),
      "the header's",
    );
    assert.equal((await pinAccount(server, null)).body.result.api_date, undefined);
    assert.deepEqual(
      await dates(free.secret),
      paths.map(() => "2026-01-01"),
      "and the operator's again",
    );
  });

  test("is the operator's for a browser session, because the dashboard belongs to this version", async () => {
    await pinAccount(server, "2022-03-04");
    const session = await ask(server, "POST", "/user/sessions", {
      body: { label: "browser" },
      headers: { origin: server.url.slice(0, -10) },
    });
    const cookie = (session.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    assert.notEqual(cookie, "", session.text);
    const asked = await ask(server, "GET", `/zones/${zone}/dns_records`, { token: null, headers: { cookie } });
    await pinAccount(server, null);
    assert.deepEqual([asked.status, dateOf(asked)], [200, "2026-01-01"], asked.text);
  });

  test("lets one client see the API of 2024 while the others see today's", async () => {
    const [old, today] = [await pinnedToken(server, "2024-05-01"), await pinnedToken(server)];
    const data = { service: "_sip", proto: "_tcp", name: "example.com", priority: 1, weight: 2, port: 5060, target: "sip.example.com" };
    const body = { type: "SRV", data };
    const path = `/zones/${zone}/dns_records`;
    const refused = await ask(server, "POST", path, { token: today.secret, body });
    assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 10411], refused.text);
    const created = await ask(server, "POST", path, { token: old.secret, body });
    assert.equal(created.status, 200, created.text);
    assert.deepEqual(created.body.result.data, data);
    const found = (await ask(server, "GET", `${path}/${created.body.result.id}`, { token: today.secret })).body.result;
    assert.equal("service" in found.data, false);
    assert.equal((await ask(server, "GET", "/deprecations", { token: null })).status, 200);
  });

  test("may be in the future, so that a client can test coming changes", async () => {
    const token = await pinnedToken(server, "2030-01-01");
    assert.equal(dateOf(await ask(server, "GET", "/zones", { token: token.secret })), "2030-01-01");
  });

  test("survives edits without the field, is removed by null, and appears in lists", async () => {
    const { id } = await pinnedToken(server, "2024-05-01");
    const path = `/accounts/${server.account_id}/tokens/${id}`;
    const { name, policies } = (await ask(server, "GET", path)).body.result;
    const put = (change: object): Promise<Answer> => ask(server, "PUT", path, { body: { name, policies, ...change } });
    assert.equal((await put({})).body.result.api_date, "2024-05-01");
    const listed = (await ask(server, "GET", `/accounts/${server.account_id}/tokens?per_page=50`)).body.result;
    assert.equal(listed.find((one: { id: string }) => one.id === id).api_date, "2024-05-01");
    assert.equal((await put({ api_date: "2023-01-01" })).body.result.api_date, "2023-01-01");
    assert.equal((await put({ api_date: null })).body.result.api_date, undefined);
    await pinAccount(server, "2024-05-01");
    const kept = await ask(server, "PUT", `/accounts/${server.account_id}`, { body: { name: "the account" } });
    assert.equal(kept.body.result.api_date, "2024-05-01");
    const accounts = (await ask(server, "GET", "/accounts")).body.result;
    assert.deepEqual(
      accounts.map((one: { api_date?: string }) => one.api_date),
      ["2024-05-01"],
    );
    await pinAccount(server, null);
  });

  test("must be a valid day, and a refused one changes nothing", async () => {
    for (const day of ["yesterday", "2024-02-30", "2024-1-1", "", "2024-05-01T00:00:00Z"])
      for (const answer of [await createToken(server, { api_date: day }), await pinAccount(server, day)]) {
        assert.deepEqual([answer.status, answer.body.result], [400, null], day);
        if (day.length <= 10) assert.equal(answer.body.errors[0].source.pointer, "/api_date", day);
      }
    assert.equal((await ask(server, "GET", `/accounts/${server.account_id}`)).body.result.api_date, undefined);
  });

  test("appears in the audit log if a change sets it, and if a change was made at another date than the operator's", async () => {
    // Entries of one millisecond have no order.
    clock.advance(1);
    const { id, secret } = await pinnedToken(server, "2024-05-01");
    clock.advance(1);
    const record = { type: "A", name: "audited", content: "192.0.2.1", ttl: 1 };
    assert.equal((await ask(server, "POST", `/zones/${zone}/dns_records`, { token: secret, body: record })).status, 200);
    clock.advance(1);
    await pinAccount(server, "2024-06-01");
    clock.advance(1);
    await pinAccount(server, null);
    const log = (await ask(server, "GET", `/accounts/${server.account_id}/audit_logs?per_page=4`)).body.result;
    const shown = log.map((row: Record<string, any>) => [row["action"].type, row["actor"].api_date, row["metadata"].api_date]);
    assert.deepEqual(shown, [
      ["account.update", "2024-06-01", null],
      ["account.update", undefined, "2024-06-01"],
      ["dns_record.create", "2024-05-01", undefined],
      ["token.create", undefined, "2024-05-01"],
    ]);
    assert.equal(log[3].resource.id, id);
  });
});

describe("ADR 0203: a row that protects something", () => {
  const row = (id: string, protects: string | undefined): Deprecation => ({
    ...{ id, date: "2026-01-01", routes: [id === "safe" ? "GET /zones" : "GET /accounts"], effect: { kind: "endpoint_gone" } },
    ...{ replacement: null, was: "", why: "", spec: "" },
    ...(protects === undefined ? {} : { protects }),
  });
  const deprecations = [row("safe", "Of whom."), row("shape", undefined)];

  for (const [unsafePins, expected] of [
    [false, [410, 200]],
    [true, [200, 200]],
  ] as const)
    test(`is ${unsafePins ? "" : "not "}brought back by a pin ${unsafePins ? "if" : "unless"} the operator allows it`, async () => {
      const server = await startApi({ clock: fixedClock(NOW), date: { asOf: null, negotiate: false, unsafePins }, deprecations });
      try {
        const statuses = async (token: string): Promise<number[]> => [
          (await ask(server, "GET", "/zones", { token })).status,
          (await ask(server, "GET", "/accounts", { token })).status,
        ];
        const [pinned, free] = [await pinnedToken(server, "2025-12-31"), await pinnedToken(server)];
        assert.deepEqual(await statuses(free.secret), [410, 410]);
        assert.deepEqual(await statuses(pinned.secret), expected);
        await pinAccount(server, "2025-12-31");
        assert.deepEqual(await statuses(free.secret), expected, "of an account");
      } finally {
        await server.close();
      }
    });

  test("applies to a token pinned to a later date than the operator's", async () => {
    const server = await startApi({ clock: fixedClock(NOW), date: { asOf: "2025-06-01", negotiate: false }, deprecations });
    try {
      const later = await pinnedToken(server, "2026-01-01");
      assert.equal((await ask(server, "GET", "/zones")).status, 200);
      assert.equal((await ask(server, "GET", "/zones", { token: later.secret })).status, 410);
    } finally {
      await server.close();
    }
  });
});

test("selvedge deprecations --who-calls lists tokens with their API dates, earliest end first", async () => {
  const server = await startApi({ clock: fixedClock(NOW) });
  try {
    const { id } = await pinnedToken(server, "2024-05-01");
    const call = { account_id: server.account_id, token_id: id, route: "GET /zones/:zone_id/dns_records" };
    await server.control.deprecationCalls.add([
      { ...call, day: "2026-05-01", deprecation_id: "dns-record-locked", calls: 2 },
      { ...call, day: "2026-05-03", deprecation_id: "dns-record-locked", calls: 5 },
      { ...call, day: "2026-05-02", deprecation_id: "dns-record-zone-fields", token_id: "a".repeat(32), calls: 1 },
    ]);
    const run = (...args: readonly string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const program = join(import.meta.dirname, "../../bin/selvedge.js");
        const env = { ...process.env, SELVEDGE_TOKEN: server.token, SELVEDGE_API: server.url };
        execFile(process.execPath, [program, "deprecations", ...args], { env, timeout: 60_000 }, (error, out) =>
          error === null ? resolve(out) : reject(error),
        );
      });
    const { account_id, callers } = JSON.parse(await run("--who-calls", "--json"));
    assert.equal(account_id, server.account_id);
    const { account_id: _, ...shown } = call;
    assert.deepEqual(callers, [
      {
        ...shown,
        deprecation_id: "dns-record-locked",
        token_name: "pinned",
        api_date: "2024-05-01",
        calls: 7,
        last: "2026-05-03",
        ends: "2024-07-14",
      },
      { ...shown, deprecation_id: "dns-record-zone-fields", token_id: "a".repeat(32), calls: 1, last: "2026-05-02", ends: "2024-11-30" },
    ]);
    const text = await run("--who-calls", "--account", server.account_id);
    assert.match(
      text,
      /^ENDS +ID +TOKEN +API DATE +CALLS +LAST +ROUTE\n2024-07-14 +dns-record-locked +pinned +2024-05-01 +7 +2026-05-03 +GET /,
    );
    assert.match(await run(), /^DATE +ID +USE INSTEAD\n/);
  } finally {
    await server.close();
  }
});
