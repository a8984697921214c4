import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import type { AliasField, Deprecation, Effect } from "#deprecations/deprecation.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import { fixedClock, isoDate, type IsoDate } from "#kernel/clock.ts";
import { type Answer, type ApiServer, ask, SILENT_MAIL_SERVER, startApi } from "../support/api-server.ts";

const DAY_MS = 86_400_000;
const dayBefore = (day: IsoDate): IsoDate => isoDate(Date.parse(`${day}T00:00:00Z`) - DAY_MS);
const lastNames = (fields: readonly { readonly field: string }[]): readonly string[] => fields.map(({ field }) => field);

/** One way to ask on a day: by the request's header, or by a token that is pinned to it. */
type Asking = (day: IsoDate) => Promise<{ readonly token?: string; readonly headers?: Readonly<Record<string, string>> }>;

interface World {
  readonly server: ApiServer;
  readonly zone: string;
  readonly on: Asking;
}

let names = 0;

/** A record of the type that the row is about, made in the newest way. */
async function record({ server, zone }: World, type: string): Promise<{ id: string; name: string }> {
  const name = `r${++names}`;
  const body =
    type === "SRV"
      ? { type, name: `_sip._tcp.${name}`, data: { priority: 1, weight: 2, port: 5060, target: "sip.example.com" } }
      : { type: "A", name, content: "192.0.2.1", ttl: 1 };
  const answer = await ask(server, "POST", `/zones/${zone}/dns_records`, { body, headers: { "api-version": "2030-01-01" } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.result;
}

/** An Access application of the account or the zone that the route is about. */
async function accessApp({ server, zone }: World, pattern: string): Promise<string> {
  const owner = pattern.startsWith("/zones/") ? `/zones/${zone}` : `/accounts/${server.account_id}`;
  const body = { type: "self_hosted", destinations: [{ type: "public", uri: `a${++names}.example.com` }] };
  const answer = await ask(server, "POST", `${owner}/access/apps`, { body, headers: { "api-version": "2030-01-01" } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.result.id;
}

/** One request to a route of the row on one day; `body` and `query` are added to what the route needs. */
async function request(
  world: World,
  route: string,
  day: IsoDate,
  type: string,
  change: { readonly body?: Record<string, unknown>; readonly query?: string } = {},
): Promise<Answer> {
  const [method = "", pattern = ""] = route.split(" ");
  const known = await record(world, type);
  const path = pattern
    .replace(":zone_id", world.zone)
    .replace(":dns_record_id", known.id)
    .replace(":account_id", world.server.account_id)
    .replace(":bookmark_id", randomUUID())
    .replace(":tunnel_id", randomUUID())
    .replace(":app_id", pattern.includes("/access/apps") ? await accessApp(world, pattern) : "")
    // Deleted objects need not have existed.
    .replaceAll(/:\w+/g, "0".repeat(32));
  const fresh = method === "POST" ? `n${++names}` : known.name;
  const plain =
    type === "SRV"
      ? {
          type,
          name: method === "POST" ? `_sip._tcp.${fresh}` : fresh,
          data: { priority: 1, weight: 2, port: 5061, target: "sip.example.com" },
        }
      : { type: "A", name: fresh, content: "192.0.2.9", ttl: 1 };
  return ask(world.server, method, path + (change.query ? `?${change.query}` : ""), {
    ...(await world.on(day)),
    ...(method === "GET" ? {} : { body: { ...(pattern.includes("/dns_records") ? plain : {}), ...change.body } }),
  });
}

const announced = (answer: Answer, row: Deprecation): boolean => (answer.headers.get("link") ?? "").includes(`/deprecations/${row.id}>`);
const ofType = (answer: Answer, type: string): Record<string, any>[] => [answer.body.result].flat().filter((item) => item.type === type);
const reach = (object: Record<string, any>, field: string): unknown => field.split(".").reduce<any>((value, part) => value?.[part], object);

/** The outside view of each kind of effect, the day before and on the day. */
const PROBES: {
  readonly [K in Effect["kind"]]: (
    world: World,
    row: Deprecation,
    effect: Extract<Effect, { kind: K }>,
    route: string,
    day: IsoDate,
    early: boolean,
  ) => Promise<void>;
} = {
  call_rule: async (_world, row) => assert.fail(`${row.id}: tests of rules are in later-rows.test.ts`),
  endpoint_gone: async (world, row, _effect, route, day, early) => {
    const answer = await request(world, route, day, "A");
    assert.equal(answer.status === 410, !early);
    assert.equal(announced(answer, row), early);
  },
  omit_response_fields: async (world, row, effect, route, day, early) => {
    const type = effect.type ?? "A";
    const answer = await request(world, route, day, type);
    assert.equal(answer.status, 200, answer.text);
    const objects = ofType(answer, type);
    assert.ok(objects.length > 0);
    for (const object of objects)
      for (const field of lastNames(effect.fields))
        assert.equal(reach(object, field) !== undefined, early, `${field} in ${JSON.stringify(object)}`);
    assert.equal(announced(answer, row), early && (effect.type === undefined || objects.length > 0));
  },
  omit_list_items: async (world, row, effect, route, day, early) => {
    const path = `/zones/${world.zone}/settings`;
    const listed = await ask(world.server, "GET", path, await world.on(early ? day : dayBefore(day)));
    for (const id of effect.ids) {
      const { value } = listed.body.result.find((item: { id: string }) => item.id === id);
      const body = route.startsWith("GET") ? {} : { items: [{ id, value }] };
      const answer = await request(world, route, day, "A", { body });
      if (route.startsWith("GET")) {
        assert.equal(answer.status, 200, answer.text);
        assert.equal(
          answer.body.result.some((item: { id: string }) => item.id === id),
          early,
        );
      } else {
        assert.equal(answer.status, early ? 200 : 400, answer.text);
        if (!early) assert.deepEqual([answer.body.errors[0].code, answer.body.errors[0].source.pointer], [10411, "/items/0/id"]);
      }
      assert.equal(announced(answer, row), early);
    }
  },
  ignore_request_fields: async (world, row, effect, route, day, early) => {
    const answer = await request(world, route, day, "A", {
      body: Object.fromEntries(effect.fields.map((field) => [field, "00000000000000000000000000000000"])),
    });
    assert.equal(answer.status, 200, answer.text);
    for (const field of effect.fields) assert.notEqual(answer.body.result[field], "00000000000000000000000000000000");
    assert.equal(announced(answer, row), early);
  },
  reject_request_fields: async (world, row, effect, route, day, early) => {
    const label = `p${++names}`;
    const parts = ["_sip", "_udp", `${label}.example.com`];
    const answer = await request(world, route, day, effect.type, {
      body: {
        [effect.within]: {
          priority: 1,
          weight: 2,
          port: 5060,
          target: "sip.example.com",
          ...Object.fromEntries(effect.fields.map((field, at) => [field, parts[at]])),
        },
      },
    });
    assert.equal(answer.status, early ? 200 : 400, answer.text);
    if (early) assert.equal(answer.body.result[effect.joined_into], parts.join("."));
    else assert.deepEqual([answer.body.errors[0].code, answer.body.errors[0].message], [10411, effect.message]);
    assert.equal(announced(answer, row), early);
  },
  reject_query_forms: async (world, row, effect, route, day, early) => {
    for (const form of effect.forms) {
      const query = `${form.parameter}=${encodeURIComponent("separator" in form ? `x1.example.com${form.separator}x2.example.com` : `${form.prefix}A`)}`;
      const answer = await request(world, route, day, "A", { query });
      assert.equal(answer.status, early ? 200 : 400, `${query}: ${answer.text}`);
      if (!early) assert.equal(answer.body.errors[0].code, 10411);
      assert.equal(announced(answer, row), early, query);
    }
  },
  legacy_alias: async (world, row, effect, route, day, early) => {
    const newest = effect.of === "endpoint" ? `/zones/${world.zone}/dns_settings` : `/accounts/${world.server.account_id}/dns_settings`;
    // Fields stand in the account as they do in its own settings, one level up.
    const path = (field: AliasField): string => (effect.of === "endpoint" ? field.newest : field.newest.replace("dns_settings.", ""));
    for (const field of effect.fields) {
      const values =
        field.values ?? (effect.of === "endpoint" ? [true, false] : ["custom.tenant", "cloudflare.standard"]).map((v) => [v, v]);
      for (const [legacy, now] of values) {
        const body = { name: "first account", ...nested(field.field, legacy) };
        const written = await request(world, route, day, "A", route.startsWith("GET") ? {} : { body });
        const isRefused = !early && effect.of === "fields" && !route.startsWith("GET");
        assert.equal(written.status, isRefused ? 400 : early || effect.of === "fields" ? 200 : 410, written.text);
        if (isRefused) assert.equal(written.body.errors[0].code, 10411);
        assert.equal(announced(written, row), early);
        const objects = [written.body.result].flat().filter((object) => object !== null);
        const shown = objects.map((object) => reach(object, field.field));
        if (!early) assert.ok(shown.every((value) => value === undefined));
        else if (route.startsWith("GET")) await followsNewest(world, field, path(field), newest, route, day);
        else {
          const same = (field.values ?? []).find((pair) => pair[1] === now)?.[0] ?? legacy;
          assert.deepEqual(shown, [same]);
          // A new account has default settings.
          if (!route.startsWith("POST")) assert.equal(reach((await ask(world.server, "GET", newest)).body.result, path(field)), now);
        }
      }
    }
  },
  listed_alias: async (world, row, effect, route, day, early) => {
    const uris = [`l${++names}.example.com`, `l${++names}.example.com/path`];
    const objects = uris.map((uri) => ({ type: effect.type, [effect.item]: uri }));
    const alone = await request(world, route, day, "A", { body: { type: "self_hosted", [effect.field]: uris } });
    if (route.startsWith("GET")) {
      assert.equal(alone.status, 200, alone.text);
      for (const app of [alone.body.result].flat()) {
        const shown = app[effect.newest].filter((one: { type: string }) => one.type === effect.type);
        assert.deepEqual(app[effect.field], early ? shown.map((one: Record<string, unknown>) => one[effect.item]) : undefined);
      }
      assert.equal(announced(alone, row), early);
      return;
    }
    if (early) assert.deepEqual([alone.body.result[effect.newest], alone.body.result[effect.field]], [objects, uris], alone.text);
    else
      assert.deepEqual(
        [alone.status, alone.body.errors[0].code, alone.body.errors[0].source.pointer],
        [400, 10411, `/${effect.field}`],
        alone.text,
      );
    assert.equal(announced(alone, row), early);
    // The newest field has the only word.
    const other = `o${++names}.example.com`;
    const body = { type: "self_hosted", [effect.newest]: [{ type: effect.type, [effect.item]: other }], [effect.field]: uris };
    const both = await request(world, route, day, "A", { body });
    assert.deepEqual(both.body.result[effect.newest], [{ type: effect.type, [effect.item]: other }], both.text);
    assert.deepEqual(both.body.result[effect.field], early ? [other] : undefined);
  },
  joined_alias: async ({ server, on }, row, effect, route, day, early) => {
    const [method = "", pattern = ""] = route.split(" ");
    const policies = pattern.replace(":account_id", server.account_id).replace("/:policy_id", "");
    const policy = (more: object): object => ({ name: `n${++names}`, enabled: true, alert_type: "zone_moved", ...more });
    const newest = { headers: { "api-version": "2030-01-01" } };
    const made = await ask(server, "POST", policies, { ...newest, body: policy({ mechanisms: { email: [{ id: "a@example.com" }] } }) });
    assert.equal(made.status, 200, made.text);
    const { id } = made.body.result;
    const path = pattern.endsWith(":policy_id") ? `${policies}/${id}` : policies;
    if (method === "GET") {
      const answer = await ask(server, "GET", path, await on(day));
      const shown = [answer.body.result].flat().find((one: { id: string }) => one.id === id);
      assert.deepEqual([shown[effect.field], shown.mechanisms.email], [early ? "a@example.com" : undefined, [{ id: "a@example.com" }]]);
      assert.equal(announced(answer, row), early);
      return;
    }
    const written = async (more: object) => {
      const answer = await ask(server, method, path, { ...(await on(day)), body: policy(more) });
      if (answer.status >= 300) return { answer, emails: undefined };
      const shown = await ask(server, "GET", `${policies}/${answer.body.result.id}`, newest);
      return { answer, emails: shown.body.result.mechanisms.email.map((one: { id: string }) => one.id) };
    };
    const { answer, emails } = await written({ [effect.field]: "b@example.com, c@example.com" });
    if (early) assert.deepEqual(emails, ["b@example.com", "c@example.com"], answer.text);
    else
      assert.deepEqual([answer.status, answer.body.errors[0].code, answer.body.errors[0].source.pointer], [400, 10411, `/${effect.field}`]);
    assert.equal(announced(answer, row), early);
    const both = await written({ mechanisms: { email: [{ id: "d@example.com" }] }, [effect.field]: "b@example.com" });
    assert.deepEqual(both.emails, ["d@example.com"], "the newest field has the only word");
  },
  // Tests of the edge hold these rows: they have no routes.
  protocol_rule: async () => assert.fail("a rule of a protocol has no routes"),
  error_wrapper: async (world, row, effect, route, day, early) => {
    const answer = await request(world, route, day, "A", { body: { content: "not an address" } });
    assert.equal(answer.status, 400);
    const [error] = answer.body.errors;
    assert.equal(error.code === effect.code, early, answer.text);
    assert.equal("error_chain" in error, early);
    assert.equal(early ? error.error_chain[0].code : error.code, 9005);
    assert.equal(announced(answer, row), early);
  },
};

/** `a.b` and a value as `{ a: { b: value } }`. */
const nested = (path: string, value: unknown): Record<string, unknown> =>
  path
    .split(".")
    .toReversed()
    .reduce<unknown>((inner, key) => ({ [key]: inner }), value) as Record<string, unknown>;

/** A value written through the newest endpoint is read through the alias. */
async function followsNewest(world: World, field: AliasField, path: string, newest: string, route: string, day: IsoDate): Promise<void> {
  for (const value of field.newest.endsWith(".type") ? ["custom.account", "cloudflare.standard"] : [true, false]) {
    assert.equal((await ask(world.server, "PATCH", newest, { body: nested(path, value) })).status, 200);
    const answer = await request(world, route, day, "A");
    const objects = [answer.body.result].flat();
    const expected = field.values ? (field.values.find((pair) => pair[1] === value) ?? field.values.at(-1))?.[0] : value;
    assert.ok(
      objects.some((object) => reach(object, field.field) === expected),
      answer.text,
    );
  }
}

const byHeader: Asking = async (day) => ({ headers: { "api-version": day } });

/** A token of the first user for each day, with everything that the first token has. */
function byPin(server: ApiServer): Asking {
  const tokens = new Map<string, Promise<string>>();
  const create = async (day: IsoDate): Promise<string> => {
    const newest = { headers: { "api-version": "2030-01-01" } };
    const [first] = (await ask(server, "GET", "/user/tokens?direction=asc", newest)).body.result;
    const made = await ask(server, "POST", "/user/tokens", { ...newest, body: { name: day, policies: first.policies, api_date: day } });
    assert.equal(made.status, 200, made.text);
    return made.body.result.value;
  };
  return async (day) => {
    const token = tokens.get(day) ?? create(day);
    tokens.set(day, token);
    return { token: await token };
  };
}

async function startWorld(asOf: IsoDate | null, way: (server: ApiServer) => Asking): Promise<World> {
  const server = await startApi({ date: { asOf, negotiate: true }, mailServer: SILENT_MAIL_SERVER });
  const body = { name: "example.com", account: { id: server.account_id } };
  const zone = await ask(server, "POST", "/zones", { body });
  return { server, zone: zone.body.result.id, on: way(server) };
}

/** The suite on servers of several days, whose own day must make no difference to callers that have one. */
const EDITIONS = [
  { title: "by header, on a server of today", asOf: null, way: () => byHeader },
  { title: "by header, on a server of 2019", asOf: "2019-01-01", way: () => byHeader },
  { title: "by the API date of a token, on a server of 2024", asOf: "2024-06-20", way: byPin },
] as const;

// The wrapper of invalid records and the legacy data of SRV records are rows of the table: SPEC 7.2, SPEC 7.3, SPEC 7.14.
for (const { title, asOf, way } of EDITIONS)
  describe(`SPEC 9: each row the day before its date and on it, ${title}`, () => {
    let world: World;
    before(async () => {
      world = await startWorld(asOf, way);
    });
    after(() => world.server.close());

    for (const row of DEPRECATIONS) {
      for (const route of row.routes) {
        for (const [when, day] of [
          ["the day before", dayBefore(row.date)],
          ["on its date", row.date],
        ] as const) {
          test(`${row.id}: ${route} ${when}`, async () => {
            const probe = PROBES[row.effect.kind] as (typeof PROBES)["endpoint_gone"];
            await probe(world, row, row.effect as never, route, day, day !== row.date);
          });
        }
      }
    }
  });

describe("SPEC 9: requests on a day", () => {
  let world: World;
  before(async () => {
    world = await startWorld(null, () => byHeader);
  });
  after(() => world.server.close());

  test("the response names its API date and the earliest end of a deprecated part", async () => {
    const answer = await request(world, "GET /zones/:zone_id/dns_records/:dns_record_id", "2024-05-30", "A");
    assert.equal(answer.headers.get("api-version"), "2024-05-30");
    assert.equal(answer.headers.get("deprecation"), `@${Date.UTC(2024, 6, 14) / 1000}`);
    assert.equal(answer.headers.get("sunset"), "Sun, 14 Jul 2024 00:00:00 GMT");
    const newest = await request(world, "GET /zones/:zone_id/dns_records", "2030-01-01", "A");
    assert.deepEqual([newest.headers.get("deprecation"), newest.headers.get("sunset"), newest.headers.get("link")], [null, null, null]);
  });

  test("the legacy filters find the same records as the newest ones", async () => {
    const { server, zone } = world;
    const [one, two] = [await record(world, "A"), await record(world, "A")];
    const found = async (query: string): Promise<string[]> =>
      (await ask(server, "GET", `/zones/${zone}/dns_records?${query}`, { headers: { "api-version": "2025-02-20" } })).body.result
        .map(({ id }: { id: string }) => id)
        .sort();
    assert.deepEqual(await found(`name=${one.name},${two.name}`), [one.id, two.id].sort());
    assert.deepEqual(await found(`name=${one.name},${two.name}&type=MX`), []);
    assert.deepEqual(await found(`name=starts_with:${one.name.split(".")[0]}.`), [one.id]);
    assert.deepEqual(await found(`name=ends_with:${two.name}&type=contains:AA`), []);
    assert.deepEqual(await found(`name=${two.name}&type=contains:A`), [two.id]);
  });

  test("cname_flattening in the settings list equals flatten_all_cnames in the DNS settings", async () => {
    const { server, zone } = world;
    const headers = { "api-version": "2025-03-20" };
    const settings = `/zones/${zone}/settings`;
    for (const [legacy, now, shown] of [
      ["on", true, "on"],
      ["off", false, "apex"],
    ]) {
      const items = [{ id: "cname_flattening", value: legacy }];
      const written = await ask(server, "PATCH", settings, { headers, body: { items } });
      assert.equal(written.status, 200, written.text);
      assert.equal((await ask(server, "GET", `/zones/${zone}/dns_settings`)).body.result.flatten_all_cnames, now);
      const listed = (await ask(server, "GET", settings, { headers })).body.result;
      const own = (await ask(server, "GET", `${settings}/cname_flattening`, { headers })).body.result;
      const item = listed.find(({ id }: { id: string }) => id === "cname_flattening");
      assert.deepEqual([item.value, item], [shown, own]);
    }
    const refused = await ask(server, "PATCH", settings, { headers, body: { items: [{ id: "cname_flattening", value: "apex " }] } });
    assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 1007]);
  });

  test("an invalid date is refused", async () => {
    for (const day of ["yesterday", "2024-02-30", "2024-1-1", ""]) {
      const answer = await ask(world.server, "GET", "/zones", { headers: { "api-version": day } });
      assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 10400], day);
    }
  });
});

test("without negotiation the header is ignored, and the operator's date counts, or today", async () => {
  const clock = fixedClock("2024-07-13T23:59:59Z");
  const today = await startApi({ clock });
  const pinned = await startApi({ date: { asOf: "2024-01-01", negotiate: false } });
  try {
    for (const [server, day] of [
      [today, "2024-07-13"],
      [pinned, "2024-01-01"],
    ] as const) {
      const answer = await ask(server, "GET", "/zones", { headers: { "api-version": "nonsense" } });
      assert.deepEqual([answer.status, answer.headers.get("api-version")], [200, day]);
    }
    const zone = (await ask(today, "POST", "/zones", { body: { name: "example.com", account: { id: today.account_id } } })).body.result.id;
    const create = (name: string) =>
      ask(today, "POST", `/zones/${zone}/dns_records`, { body: { type: "A", name, content: "192.0.2.1", ttl: 1 } });
    assert.equal((await create("before")).body.result.locked, false);
    clock.advance(1000);
    const after = await create("after");
    assert.equal(after.headers.get("api-version"), "2024-07-14");
    assert.equal("locked" in after.body.result, false, "midnight needs no restart");
  } finally {
    await today.close();
    await pinned.close();
  }
});

test("callers of deprecated parts are counted by day, row, token and route", async () => {
  const server = await startApi({ clock: fixedClock("2026-05-06T07:08:09Z"), date: { asOf: "2024-07-01", negotiate: false } });
  const { store } = server;
  const zone = (await ask(server, "POST", "/zones", { body: { name: "example.com", account: { id: server.account_id } } })).body.result.id;
  const token = (await ask(server, "GET", "/user/tokens/verify")).body.result.id;
  for (let i = 0; i < 3; i++) await ask(server, "GET", `/zones/${zone}/dns_records`);
  let rows: unknown = null;
  await server.close(async () => {
    rows = await store.read.selectFrom("deprecation_calls").selectAll().orderBy("deprecation_id").execute();
  });
  const expected = ["dns-record-locked", "dns-record-zone-fields"].map((deprecation_id) => ({
    day: "2026-05-06",
    account_id: server.account_id,
    deprecation_id,
    token_id: token,
    route: "GET /zones/:zone_id/dns_records",
    calls: 3,
  }));
  assert.deepEqual(rows, expected);
});
