import assert from "node:assert/strict";
import type { Call } from "#control/call.ts";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ZoneEntry } from "#snapshot/entries.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { storeTest } from "../../../test/support/store.ts";
import type { SettingChange } from "./setting-values.ts";

const failing = (code: number, status: number) => (error: unknown) =>
  error instanceof PlatformError && error.code === code && error.status === status;

const changes = (values: Readonly<Record<string, unknown>>): SettingChange[] =>
  Object.entries(values).map(([id, value], index) => ({ id, value, pointer: `/items/${index}` }));

async function world(store: Store) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const { control, account_id, call } = await controlOver(store, { clock });
  const { id } = await control.zones.create(call(), { name: "shop.example", account: { id: account_id } });
  const edit = async (values: Readonly<Record<string, unknown>>): Promise<Call & { shown: unknown[] }> => {
    const made = call();
    const shown = await control.zoneSettings.edit(made, id, changes(values));
    return { ...made, shown: shown.map(({ value }) => value) };
  };
  /** The ops that the change sent to planes. */
  const told = async ({ rev }: Call) => {
    assert.ok(rev !== null);
    const [delta] = (await store.changesSince(rev - 1, 1)) ?? [];
    return delta?.changes.map(({ kind, value }) => [kind, kind === "zone" ? (value as ZoneEntry).edge : value]);
  };
  return { control, clock, id, call, edit, told };
}

storeTest("only settings that differ from the defaults reach the planes, and the zone's serial does not change", async ({ store }) => {
  const { control, id, edit, told } = await world(store);
  assert.deepEqual(await control.zoneSettings.get(id, "ssl"), { id: "ssl", value: "flexible", editable: true, modified_on: null });
  const changed = await edit({ ssl: "strict", websockets: "off", min_tls_version: "1.3", browser_cache_ttl: 0 });
  assert.deepEqual(changed.shown, ["strict", "off", "1.3", 0]);
  const edge = { ssl: "strict", websockets: false, min_tls_version: "1.3", browser_cache_ttl: 0 };
  assert.deepEqual(await told(changed), [["zone", edge]]);
  assert.deepEqual(await control.zoneSettings.get(id, "ssl"), {
    id: "ssl",
    value: "strict",
    editable: true,
    modified_on: "2026-01-01T00:00:00.000000Z",
  });
  assert.equal((await edit({ ssl: "strict" })).rev, null, "what is so already is no change");
  assert.deepEqual(await told(await edit({ ssl: "flexible", websockets: "on", min_tls_version: "1.2", browser_cache_ttl: 14_400 })), [
    ["zone", undefined],
  ]);
});

storeTest("each change writes an audit row with old and new values", async ({ store }) => {
  const { id, edit } = await world(store);
  await edit({ ssl: "full", websockets: "off" });
  await edit({ ssl: "full" });
  const rows = await store.read.selectFrom("audit_log").selectAll().where("action", "=", "zone.settings.edit").execute();
  assert.deepEqual(
    rows
      .map((row) => [row.zone_id, row.before, row.after].map(String))
      .map(([zone, before = "", after = ""]) => [
        zone,
        JSON.parse(before).map(({ value }: { value: unknown }) => value),
        JSON.parse(after).map(({ value }: { value: unknown }) => value),
      ]),
    [[id, ["flexible", "on"], ["full", "off"]]],
  );
});

storeTest("several changes are applied together or not at all", async ({ store }) => {
  const { control, id, edit, call } = await world(store);
  const before = await control.zoneSettings.list(id);
  const refused: [Readonly<Record<string, unknown>>, number, number][] = [
    [{ ssl: "full", nonsense: "on" }, 1006, 400],
    [{ ssl: "full", websockets: "maybe" }, 1007, 400],
    [{ ssl: "full", browser_cache_ttl: -1 }, 1007, 400],
    [{ ssl: "full", security_header: { strict_transport_security: { max_age: "1" } } }, 1007, 400],
    [{ ssl: "full", http3: "maybe" }, 1007, 400],
    [{ ssl: "full", security_level: "highest" }, 1007, 400],
    [{ ssl: "full", minify: { css: "on" } }, 1007, 400],
    [{ ssl: "full", inert: {} }, 1006, 400],
    [{ tls_1_3: "off", min_tls_version: "1.3" }, 1007, 400],
    [{ ssl: "full", __proto__x: 1, constructor: 1 }, 1006, 400],
  ];
  for (const [values, code, status] of refused) await assert.rejects(edit(values), failing(code, status), JSON.stringify(values));
  const twice = [...changes({ ssl: "full" }), ...changes({ ssl: "strict" })];
  await assert.rejects(control.zoneSettings.edit(call(), id, twice), failing(10400, 400));
  await assert.rejects(control.zoneSettings.get(id, "nonsense"), failing(1006, 404));
  await assert.rejects(control.zoneSettings.get(id, "constructor"), failing(1006, 404));
  assert.deepEqual(await control.zoneSettings.list(id), before);
});

storeTest("a client that sends back everything it read changes nothing", async ({ store }) => {
  const { control, id, call } = await world(store);
  await control.zoneSettings.edit(call(), id, changes({ ssl: "full", security_header: { strict_transport_security: { enabled: true } } }));
  const before = await control.zoneSettings.list(id);
  const again = call();
  const items = before.map(({ id: setting, value }, index) => ({ id: setting, value, pointer: `/items/${index}` }));
  assert.deepEqual(await control.zoneSettings.edit(again, id, items), before);
  assert.equal(again.rev, null);
});

/** The settings of a block of the vendor's Terraform provider, version 4. */
const BLOCK = {
  ...{ always_online: "on", always_use_https: "on", automatic_https_rewrites: "on", brotli: "on", browser_cache_ttl: 14_400 },
  ...{
    browser_check: "on",
    cache_level: "aggressive",
    challenge_ttl: 2700,
    ciphers: ["ECDHE-RSA-AES128-GCM-SHA256"],
    cname_flattening: "flatten_all",
  },
  ...{ development_mode: "off", early_hints: "on", email_obfuscation: "on", h2_prioritization: "custom", hotlink_protection: "off" },
  ...{ http2: "on", http3: "on", image_resizing: "open", ip_geolocation: "on", ipv6: "off", max_upload: 500, min_tls_version: "1.0" },
  ...{ minify: { css: "on", html: "off", js: "on" }, mirage: "on", opportunistic_encryption: "on", opportunistic_onion: "on" },
  ...{ mobile_redirect: { status: "on", mobile_subdomain: "m", strip_uri: false }, polish: "lossy", prefetch_preload: "on" },
  ...{ pseudo_ipv4: "add_header", rocket_loader: "off", security_level: "under_attack", server_side_exclude: "on", ssl: "strict" },
  ...{ tls_1_3: "zrt", tls_client_auth: "on", "0rtt": "on" },
} as const;

storeTest("a block of settings is accepted whole; messages and notes say which values have no effect", async ({ store }) => {
  const { control, id, edit, told } = await world(store);
  assert.equal(Object.keys(BLOCK).length, 37);
  const call = await edit(BLOCK);
  assert.deepEqual(call.shown, Object.values({ ...BLOCK, cname_flattening: "on" }));
  const isMet = ["always_use_https", "brotli", "browser_cache_ttl", "cache_level", "cname_flattening", "development_mode", "http2"];
  isMet.push("ip_geolocation", "minify", "mobile_redirect", "server_side_exclude", "ssl", "hotlink_protection", "rocket_loader");
  const unmet = Object.keys(BLOCK).filter((name) => !isMet.includes(name));
  assert.deepEqual(
    call.notes?.map((note) => note.slice(0, note.indexOf(" "))),
    [...unmet, "mobile_redirect"],
  );
  assert.ok(call.notes?.includes("mobile_redirect has no effect until m.shop.example has an A, AAAA or CNAME record."));
  assert.ok(call.notes?.includes('http3 is kept as "on". It has no effect: HTTP/3 is not supported.'));
  assert.ok(call.notes?.includes('min_tls_version is kept as "1.0". It acts as 1.2: TLS 1.0 and 1.1 are not supported (RFC 8996).'));
  const edge = {
    always_use_https: true,
    ssl: "strict",
    mobile_redirect: { subdomain: "m", strip_uri: false },
    server_side_exclude: true,
    minify: { css: true, html: false, js: true },
  };
  assert.deepEqual(
    (await told(call))?.filter(([kind]) => kind === "zone"),
    [["zone", edge]],
  );

  const shown = new Map((await control.zoneSettings.list(id)).map((setting) => [setting.id, setting]));
  for (const [name, value] of Object.entries({ ...BLOCK, cname_flattening: "on" })) {
    assert.deepEqual(shown.get(name)?.value, value, name);
    assert.equal(shown.get(name)?.note === undefined, isMet.includes(name), name);
  }
  const again = await edit(BLOCK);
  assert.equal(again.rev, null);
  assert.deepEqual(again.notes, call.notes, "also where nothing changes");
  const back = await edit({ http3: "off", min_tls_version: "1.2" });
  assert.equal(back.notes, undefined);
  assert.deepEqual(await control.zoneSettings.get(id, "http3"), {
    id: "http3",
    value: "off",
    editable: true,
    modified_on: "2026-01-01T00:00:00.000000Z",
  });
});

storeTest(
  "a block of a zone without a mobile site has an empty subdomain, and one without flattening its older name",
  async ({ store }) => {
    const { edit, told } = await world(store);
    const off = { status: "off", mobile_subdomain: "", strip_uri: false } as const;
    const call = await edit({ mobile_redirect: off, cname_flattening: "flatten_none" });
    assert.deepEqual(call.shown, [off, "apex"]);
    assert.deepEqual(await told(call), [["zone", undefined]], "planes have the defaults");
    await assert.rejects(edit({ mobile_redirect: { ...off, status: "on" } }), /needs a mobile_subdomain/);
  },
);

storeTest("omitted parts of security_header keep their values", async ({ store }) => {
  const { edit } = await world(store);
  await edit({ security_header: { strict_transport_security: { enabled: true, max_age: 86_400 } } });
  const [value] = (await edit({ security_header: { strict_transport_security: { nosniff: true } } })).shown;
  assert.deepEqual(value, {
    strict_transport_security: { enabled: true, max_age: 86_400, include_subdomains: false, preload: false, nosniff: true },
  });
});

storeTest("development mode lasts three hours from when it was last turned on", async ({ store }) => {
  const { control, clock, id, edit, told } = await world(store);
  const shown = async () => {
    const { value, time_remaining } = await control.zoneSettings.get(id, "development_mode");
    return [value, time_remaining, (await control.zones.get(id)).development_mode];
  };
  assert.deepEqual(await shown(), ["off", 0, 0]);
  await edit({ development_mode: "on" });
  clock.advance(3_600_000);
  assert.deepEqual(await shown(), ["on", 7200, 7200]);
  const again = await edit({ development_mode: "on" });
  assert.deepEqual(await told(again), [["zone", { development_mode_until_ms: clock.nowMs() + 3 * 3_600_000 }]]);
  assert.deepEqual(await shown(), ["on", 10_800, 10_800]);
  clock.advance(3 * 3_600_000);
  assert.deepEqual(await shown(), ["off", 0, 0]);
  await edit({ development_mode: "on" });
  assert.deepEqual(await told(await edit({ development_mode: "off" })), [["zone", undefined]]);
  assert.deepEqual(await shown(), ["off", 0, 0]);
});

storeTest("a response names contradictory settings", async ({ store }) => {
  const { edit } = await world(store);
  await edit({ always_use_https: "on" });
  assert.deepEqual((await edit({ ssl: "off" })).notes, ["always_use_https has no effect while ssl is off."]);
});
