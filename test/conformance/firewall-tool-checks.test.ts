import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Answer, apiCaller, succeed } from "../support/api.ts";
import { type ApiServer, startApi } from "../support/api-server.ts";

let api: ApiServer;
let call: ReturnType<typeof apiCaller>;
let zone: string;

before(async () => {
  api = await startApi({ hasPlaces: false });
  call = apiCaller({ api: api.url } as never, api.token);
  const { id } = await succeed(call("POST", "/zones", { account: { id: api.account_id }, name: "checks.test" }));
  zone = `/zones/${id}`;
});
after(() => api?.close());

/** The messages of a refusal. */
async function refused(answer: Promise<Answer>): Promise<string> {
  const { status, body } = await answer;
  assert.equal(status, 400, JSON.stringify(body));
  return body.errors.map(({ message }) => message).join();
}

const rule = (target: string, value: string) => ({ mode: "block", configuration: { target, value } });

test("access rules name only countries and networks that exist", async () => {
  const rules = `${zone}/firewall/access_rules/rules`;
  for (const [target, value, about] of [
    ["country", "ZZ", /two letters of a country/],
    ["country", "UK", /two letters of a country/],
    ["country", "A1", /two letters of a country/],
    ["asn", "AS0", /above 0/],
    ["asn", "0", /above 0/],
  ] as const)
    assert.match(await refused(call("POST", rules, rule(target, value))), about, value);
  for (const [target, value] of [
    ["country", "gb"],
    ["country", "T1"],
    ["asn", "AS64496"],
  ] as const)
    await succeed(call("POST", rules, rule(target, value)));
});

test("without a database of places, a rule of a country or a network says that it has no effect", async () => {
  const made = async (target: string, value: string): Promise<string> => {
    const { body } = await call("POST", `/accounts/${api.account_id}/firewall/access_rules/rules`, rule(target, value));
    return body.messages.map(({ message }) => message).join();
  };
  assert.match(await made("country", "FR"), /no GeoIP database/);
  assert.match(await made("asn", "AS64497"), /no GeoIP database/);
  assert.equal(await made("ip", "192.0.2.1"), "");
});

test("lockdowns protect only names of their zone", async () => {
  const lockdowns = `${zone}/firewall/lockdowns`;
  const lockdown = (...urls: string[]) => ({ urls, configurations: [{ target: "ip", value: "192.0.2.1" }] });
  for (const url of [
    "elsewhere.test/admin",
    "notchecks.test/*",
    "*.elsewhere.test/*",
    "192.0.2.7/",
    "https://checks.test.elsewhere.test/*",
  ])
    assert.match(await refused(call("POST", lockdowns, lockdown("checks.test/a", url))), /must name a host of the zone checks\.test/, url);
  for (const url of [
    "checks.test/admin",
    "WWW.Checks.test/*",
    "*.checks.test/*",
    "*checks.test/*",
    "*/login",
    "shop.*/a",
    "a.checks.test:8443/*",
  ])
    await succeed(call("POST", lockdowns, lockdown(url)));
});

test("lists refuse filters that they do not know", async () => {
  for (const list of ["firewall/access_rules/rules", "firewall/lockdowns", "firewall/ua_rules"]) {
    assert.match(await refused(call("GET", `${zone}/${list}?colour=red`)), /"colour" is not a parameter/, list);
    await succeed(call("GET", `${zone}/${list}?page=1&per_page=50`));
  }
  await succeed(call("GET", `${zone}/firewall/lockdowns?priority=1&created_on=2026-01-01T00:00:00Z&modified_on=2026-01-01T00:00:00Z`));
});

test("the universal certificate is neither edited nor deleted, and the response says why", async () => {
  const packs = `${zone}/ssl/certificate_packs`;
  const [universal] = await succeed(call("GET", packs));
  for (const method of ["DELETE", "PATCH"])
    assert.match(await refused(call(method, `${packs}/${universal.id}`, method === "PATCH" ? {} : undefined)), /universal certificate/);
  const { id } = await succeed(
    call("POST", `${packs}/order`, { type: "advanced", hosts: ["checks.test"], validation_method: "txt", validity_days: 90 }),
  );
  assert.match(await refused(call("PATCH", `${packs}/${id}`, { hosts: ["a.checks.test"] })), /hosts of a pack cannot change/);
  assert.match(await refused(call("PATCH", `${packs}/${id}`, { validation_method: "http" })), /validation_method of a pack cannot change/);
  await succeed(call("PATCH", `${packs}/${id}`, { hosts: ["Checks.test"], validation_method: "txt" }));
});
