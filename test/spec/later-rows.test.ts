import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { deprecationTable, LATER_ROWS } from "#deprecations/later-rows.ts";
import { isoDate } from "#kernel/clock.ts";
import { type Answer, type ApiServer, ask, startApi } from "../support/api-server.ts";

const GATEWAY = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const DAY_MS = 86_400_000;

/** Against the days of the rows that SPEC 9 does not have. */
describe("rows after SPEC 9, the day before their date and on it", () => {
  let server: ApiServer;
  let zone: string;
  let names = 0;
  before(async () => {
    server = await startApi({ date: { asOf: null, negotiate: true }, deprecations: deprecationTable(true) });
    const created = await ask(server, "POST", "/zones", { body: { name: "later.test", account: { id: server.account_id } } });
    zone = `/zones/${created.body.result.id}`;
  });
  after(() => server.close());

  const rowOf = (id: string): Deprecation => LATER_ROWS.find((row) => row.id === id)!;
  const on = (day: string) => (method: string, path: string, body?: object) =>
    ask(server, method, path, { headers: { "api-version": day }, ...(body === undefined ? {} : { body }) });
  const bothSides = (id: string) => {
    const { date } = rowOf(id);
    return { early: on(isoDate(Date.parse(`${date}T00:00:00Z`) - DAY_MS)), late: on(date) };
  };
  const warns = ({ headers }: Answer, id: string): boolean => (headers.get("link") ?? "").includes(id);
  const record = async (): Promise<string> => {
    const body = { type: "A", name: `r${++names}`, content: "192.0.2.1" };
    return `${zone}/dns_records/${(await on("2026-01-01")("POST", `${zone}/dns_records`, body)).body.result.id}`;
  };

  for (const id of ["zone-settings-batch", "dns-analytics-rest"])
    test(`${id}: the endpoints answer 410 from the day on`, async () => {
      const { early, late } = bothSides(id);
      for (const route of rowOf(id).routes) {
        const [method = "", path = ""] = route.replace("/zones/:zone_id", zone).split(" ");
        const body = method === "PATCH" ? { items: [{ id: "websockets", value: "on" }] } : undefined;
        const before = await early(method, path, body);
        assert.deepEqual([before.status, warns(before, id)], [200, true], route);
        assert.deepEqual([(await late(method, path, body)).status], [410], route);
      }
      assert.equal((await late("GET", `${zone}/settings/websockets`)).status, 200, "single settings stay");
    });

  test("dns-record-type-change: a change of the type is refused from the day on, and every other change works", async () => {
    const { early, late } = bothSides("dns-record-type-change");
    const text = { type: "TXT", name: "t", content: '"text"', ttl: 300 };
    for (const method of ["PATCH", "PUT"]) {
      const path = await record();
      const same = await early(method, path, { type: "A", name: `r${names}`, content: "192.0.2.2", ttl: 300 });
      assert.deepEqual([same.status, warns(same, "dns-record-type-change")], [200, false]);
      const changed = await early(method, await record(), { ...text, name: `r${names}` });
      assert.deepEqual([changed.status, changed.body.result.type, warns(changed, "dns-record-type-change")], [200, "TXT", true]);
      const refused = await late(method, path, { ...text, name: `r${names}` });
      assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 9020]);
      assert.match(refused.body.errors[0].message, /delete the record and create a new one/);
      assert.equal((await late("GET", path)).body.result.type, "A");
      assert.equal((await late(method, path, { type: "A", name: `s${++names}`, content: "192.0.2.3", ttl: 300 })).status, 200);
    }
    const [one, two] = [await record(), await record()];
    const id = (path: string): string => path.split("/").at(-1)!;
    const batch = { patches: [{ id: id(one), type: "TXT", content: '"a"' }], deletes: [{ id: id(two) }] };
    assert.equal((await late("POST", `${zone}/dns_records/batch`, batch)).status, 400);
    assert.equal((await late("GET", two)).status, 200, "all or nothing");
    const replaced = { deletes: [{ id: id(one) }], posts: [{ ...text, name: `r${names}` }] };
    assert.equal((await late("POST", `${zone}/dns_records/batch`, replaced)).status, 200);
    const path = await record();
    await early("PATCH", path, { type: "TXT", content: '"text"' });
    const [newest] = (await late("GET", `${zone}/dns_versions`)).body.result;
    assert.equal((await late("POST", `${zone}/dns_versions/${newest.version}/revert`)).status, 200);
    assert.equal((await late("GET", path)).body.result.type, "A", "an undo restores the type");
  });

  test("gateways-without-authentication: new gateways authenticate from the day on, and old ones may stay as they are", async () => {
    const id = "gateways-without-authentication";
    const { early, late } = bothSides(id);
    const path = `/accounts/${server.account_id}/ai-gateway/gateways`;
    const create = (at: typeof late, more: object) => at("POST", path, { ...GATEWAY, id: `g${++names}`, ...more });
    const old = await create(early, {});
    assert.deepEqual([old.status, old.body.result.authentication, warns(old, id)], [200, false, true]);
    assert.equal(warns(await create(early, { authentication: true }), id), false);
    assert.equal((await create(late, {})).body.result.authentication, true);
    const refused = await create(late, { authentication: false });
    assert.deepEqual([refused.status, refused.body.errors[0].source.pointer], [400, "/authentication"]);
    const update = (at: typeof late, gateway: string, more: object) => at("PUT", `${path}/${gateway}`, { ...GATEWAY, ...more });
    assert.equal((await update(late, old.body.result.id, {})).body.result.authentication, false, "it had none before");
    assert.equal((await update(late, old.body.result.id, { authentication: true })).body.result.authentication, true);
    assert.equal((await update(late, old.body.result.id, { authentication: false })).status, 400);
    assert.equal((await update(early, old.body.result.id, { authentication: false })).body.result.authentication, false);
  });
});

test("by default, no row after SPEC 9 applies", async () => {
  const server = await startApi({ date: { asOf: "2030-01-01", negotiate: false } });
  try {
    const created = await ask(server, "POST", "/zones", { body: { name: "later.test", account: { id: server.account_id } } });
    assert.equal((await ask(server, "GET", `/zones/${created.body.result.id}/settings`)).status, 200);
    const gateway = await ask(server, "POST", `/accounts/${server.account_id}/ai-gateway/gateways`, { body: { ...GATEWAY, id: "open" } });
    assert.equal(gateway.body.result.authentication, false);
  } finally {
    await server.close();
  }
});
