import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { systemClock } from "#kernel/clock.ts";
import { NS_TTL_SECONDS } from "#model/dns/dns-settings.ts";
import { SOA_DEFAULTS } from "#model/dns/soa.ts";
import type { EntryKind, EntryTypes, Op, ZoneEntry } from "#snapshot/entries.ts";
import { createSnapshotState } from "#snapshot/state.ts";
import { isSameInstallation } from "#store/database/history.ts";
import { openStore } from "#store/database/open.ts";
import type { Store } from "#store/database/store.ts";
import { controlOver } from "../../../test/support/control.ts";
import { recoverDatabase } from "./recover-database.ts";

const ACCOUNT = "a".repeat(32);
const OTHER_ACCOUNT = "b".repeat(32);
const NAME_SERVERS = ["ns1.selvedge.internal", "ns2.selvedge.internal"];
const HISTORY = "0123456789abcdef".repeat(2);
const sealer = createSealer(Buffer.alloc(32, 7));

const id = (digit: string): string => digit.repeat(32);

const zone = (digit: string, name: string, more: Partial<ZoneEntry> = {}): ZoneEntry => ({
  ...{ id: id(digit), account_id: ACCOUNT, name, status: "active", proof: "operator", paused: false, type: "full", plan: "free" },
  name_servers: NAME_SERVERS,
  soa: { ...SOA_DEFAULTS, mname: NAME_SERVERS[0] as string, rname: `hostmaster.${name}` },
  ns_ttl: NS_TTL_SECONDS,
  ...{ flatten_all_cnames: false, multi_provider: false, secondary_overrides: false },
  ...more,
});

const A_RDATA = Buffer.from([192, 0, 2, 1]).toString("base64");
const record = { zone_id: id("1"), name: "www.one.example", type: "A", ttl: 60, content: "192.0.2.1", rdata: A_RDATA, proxied: false };
const rule = (digit: string) => ({
  ...{ id: id(digit), ref: id(digit), version: "3", action: "block", action_parameters: {}, description: "" },
  ...{ expression: 'http.host eq "one.example"', enabled: true },
});
const peer = { ip: "192.0.2.53", port: 53, tsig: null };
const tsig = { id: id("e"), name: "key.one.example", algorithm: "hmac-sha256", secret: sealer.seal("c2VjcmV0", `tsig:${id("e")}`) };
const gateway = {
  account_id: ACCOUNT,
  gateway_id: "g",
  authentication: true,
  collect_logs: true,
  cache_epoch: "2026-01-02T03:04:05.000000Z",
};

/**
 * Several entries of each kind of the planes, with and without optional members. Entries that need a certificate get it
 * from `before`.
 */
const ENTRIES: { [K in EntryKind]: Record<string, EntryTypes[K]> } = {
  zone: {
    [id("1")]: zone("1", "one.example"),
    [id("2")]: zone("2", "two.example", {
      ...{
        plan: "enterprise",
        paused: true,
        name_servers: ["ns.own.example"],
        ns_ttl: 600,
        flatten_all_cnames: true,
        multi_provider: true,
      },
      soa: { ...SOA_DEFAULTS, mname: "primary.own.example", rname: "dns.own.example", refresh: 1200 },
      edge: {
        ...{
          ssl: "strict",
          min_tls_version: "1.3",
          tls_1_3: false,
          http2: false,
          websockets: false,
          brotli: false,
          log_masking: "all",
          url_normalization: { scope: "both", type: "rfc3986" } as const,
        },
        ...{ ip_geolocation: false, always_use_https: true, development_mode_until_ms: 1_790_000_000_000, cache_level: "basic" },
        ...{ browser_cache_ttl: 0, sort_query_string_for_cache: true },
        security_header: { enabled: true, max_age: 60, include_subdomains: true, preload: false, nosniff: true },
      },
    }),
    [id("3")]: zone("3", "three.example", {
      ...{ account_id: OTHER_ACCOUNT, type: "secondary", paused: true, name_servers: ["ns.primary.example"], ns_ttl: 300 },
      soa: { ...SOA_DEFAULTS, mname: "ns.primary.example", rname: "root.primary.example", expire: 100_000 },
    }),
    [id("4")]: zone("4", "four.example", {
      ...{ type: "secondary", secondary_overrides: true, expired: true },
    }),
    [id("5")]: zone("5", "five.example", { status: "pending", proof: "none", created_on: "2026-01-02T03:04:05.000000Z" }),
  },
  serial: Object.fromEntries(["1", "2", "3", "4", "5"].map((digit) => [id(digit), { serial: 1_795_000_000 + Number(digit) }])),
  record: {
    [id("a")]: record,
    [id("b")]: { ...record, name: "automatic.one.example", ttl: 300, proxied: true, settings: { ipv4_only: true } },
    [id("c")]: {
      ...record,
      type: "MX",
      content: "mail.one.example",
      rdata: Buffer.from("\0\nmail\x03one\x07example\0".replace("mail", "\x04mail"), "latin1").toString("base64"),
    },
    [id("d")]: {
      ...record,
      type: "TXT",
      content: '"as it was" "sent"',
      rdata: Buffer.from("\x09as it was\x04sent", "latin1").toString("base64"),
    },
    [id("e")]: { ...record, zone_id: id("3"), name: "three.example" },
  },
  core_rules: { owasp: { digest: "ab", version: "OWASP_CRS/1", format: 2, program: "AA==" } },
  edge_addresses: { edge: { addresses: ["203.0.113.7", "2001:db8::7"] } },
  visitor_keys: { edge: { keys: ["sealed", "next", "former"] } },
  staged: {},
  release: {},
  dnssec: {
    [id("1")]: { keys: [{ id: id("1"), public_key: "AA==", private_key: "sealed", signs_zone: true }], cds: [id("1")] },
    [id("2")]: {
      keys: ["8", "7"].map((digit) => ({ id: id(digit), public_key: "AA==", private_key: "sealed", signs_zone: digit === "8" })),
      cds: [id("7")],
    },
    [id("3")]: {
      keys: ["4", "3"].map((digit) => ({ id: id(digit), public_key: "AA==", private_key: "sealed", signs_zone: digit === "3" })),
      cds: "delete",
    },
    [id("5")]: { keys: [{ id: id("5"), public_key: "AA==", private_key: "sealed", signs_zone: true }], cds: [] },
  },
  transfer: {
    [id("1")]: { outgoing: { peers: [peer, { ...peer, port: 5353, tsig }], acl: ["198.51.100.0/24", "192.0.2.9/32"] }, incoming: null },
    [id("2")]: { outgoing: { peers: [{ ...peer, port: 5353, tsig }], acl: ["198.51.100.0/24", "192.0.2.9/32"] }, incoming: null },
    [id("3")]: { outgoing: null, incoming: { peers: [{ ip: "", port: 53, tsig: null }], acl: [] } },
  },
  list: {
    [`${id("1")}/0`]: {
      account_id: ACCOUNT,
      list_id: id("1"),
      name: "blocked",
      kind: "ip",
      part: 0,
      items: ["192.0.2.0/24", "2001:db8::1"],
    },
    [`${id("2")}/0`]: { account_id: ACCOUNT, list_id: id("2"), name: "empty", kind: "asn", part: 0, items: [] },
    [`${id("3")}/0`]: {
      ...{ account_id: OTHER_ACCOUNT, list_id: id("3"), name: "moved", kind: "redirect", part: 0 },
      items: [{ source_url: "one.example/a", target_url: "https://two.example/b", status_code: 301 }],
    },
  },
  ruleset: {
    [id("1")]: {
      ...{
        level: "zone",
        owner_id: id("1"),
        account_id: ACCOUNT,
        kind: "zone",
        phase: "http_request_firewall_custom",
        name: "default",
        version: "7",
      },
      rules: [rule("1"), { ...rule("2"), logging: { enabled: false }, ratelimit: { period: 60 }, enabled: false }],
    },
    [id("2")]: {
      ...{
        level: "account",
        owner_id: ACCOUNT,
        account_id: ACCOUNT,
        kind: "custom",
        phase: "http_request_firewall_custom",
        name: "mine",
        version: "1",
      },
      rules: [],
    },
  },
  certificate: {},
  custom_hostname: {
    [id("1")]: { zone_id: id("1"), hostname: "shop.elsewhere.example", wildcard: false, active: true, token: "t1" },
    [id("2")]: {
      ...{ zone_id: id("1"), hostname: "all.elsewhere.example", wildcard: true, active: false, token: "t2" },
      ...{ origin: "www.one.example", sni: ":request_host_header:", tls: { min_tls_version: "1.3", tls_1_3: true, http2: false } },
    },
    [id("3")]: {
      zone_id: id("1"),
      hostname: "m.elsewhere.example",
      wildcard: false,
      active: true,
      token: "t3",
      metadata: { customer: "7" },
    },
  },
  fallback_origin: { [id("1")]: { origin: "www.one.example" } },
  acme_challenge: {},
  purge: { [id("1")]: { count: 4, recent: [{ by: "tags", values: ["a"] }] } },
  detection: {
    [id("1")]: {
      allowed: [
        { id: id("1"), path: "/a*" },
        { id: id("2"), value_hash: id("3"), json_path: "$.a", rule_id: id("4") },
      ],
      patterns: [
        { ...{ id: id("5"), name: "order", pattern: "ORD-\\d{6}", context: ["order"], validator: "none" }, tags: ["x"], enabled: false },
      ],
    },
    [OTHER_ACCOUNT]: { allowed: [], patterns: [{ id: id("6"), name: "n", pattern: "ABC\\d", context: [], validator: "luhn", tags: [] }] },
  },
  gateway: {
    [`${ACCOUNT}/g`]: gateway,
    [`${ACCOUNT}/full`]: {
      ...{ ...gateway, gateway_id: "full" },
      log_limit: { rows_max: 10_000, strategy: "DELETE_OLDEST" },
      rate_limit: { limit: 5, interval_seconds: 60, technique: "sliding" },
      retry: { max_attempts: 3, delay_ms: 100, backoff: "linear" },
      cache: { ttl_seconds: 60 },
      guardrails: { prompt: { S1: "BLOCK" }, response: {} },
      dlp: [{ id: "p", action: "BLOCK", check: ["REQUEST"], profiles: [id("1")] }],
      otel: [
        { url: "https://otel.example/v1/traces", content_type: "json", secret: sealer.seal('{"x":"y"}', `gateway-otel:${ACCOUNT}/full`) },
      ],
      spend_rules: [
        { id: "1", limit: 5, window_seconds: 60, technique: "fixed", metadata: [] },
        {
          ...{ id: "2", limit: 5, window_seconds: 60, technique: "sliding", provider: ["openai"], model: ["gpt"] },
          metadata: [{ name: "team" }, { name: "user", values: ["a"] }],
        },
      ],
    },
  },
  gateway_domain: { "ai.one.example": { account_id: ACCOUNT, gateway_id: "g", zone_id: id("1"), min_tls: "1.2" } },
  provider_key: {
    [id("1")]: {
      account_id: ACCOUNT,
      gateway_id: "g",
      provider: "openai",
      alias: "main",
      is_default: true,
      secret: sealer.seal("k", `provider-key:${id("1")}`),
    },
    [id("2")]: {
      ...{ account_id: ACCOUNT, gateway_id: "g", provider: "groq", alias: "b", is_default: false, secret: "does not open" },
      rate_limit: { limit: 5, interval_seconds: 30 },
    },
  },
  custom_provider: {
    [id("3")]: {
      ...{ account_id: ACCOUNT, slug: "own", base_url: "https://models.example", headers: sealer.seal("{}", `custom-provider:${id("3")}`) },
      costs: [
        { model: "m-1", rule: "equals", input: 1, output: 2, cache_read: 0.5, cache_write: 0.7, reasoning: 3 },
        { model: "m", rule: "starts-with", input: 0.25, output: 0.5 },
      ],
    },
  },
  gateway_route: {
    [id("4")]: {
      account_id: ACCOUNT,
      gateway_id: "g",
      name: "r",
      elements: [{ id: "a", type: "start", outputs: { next: { elementId: "b" } } }],
    },
  },
  dlp_profile: {
    [id("5")]: {
      account_id: ACCOUNT,
      patterns: [{ ...{ id: "e1", name: "code", pattern: "ABC-\\d+", context: [], validator: "luhn" }, tags: [], enabled: true }],
      words: [{ id: "e2", name: "names", words: ["falcon"] }],
    },
  },
  tunnel: {
    "11111111-1111-4111-8111-111111111111": {
      ...{ account_id: ACCOUNT, name: "office", config_src: "cloudflare", secret: "sealed" },
      config: { version: 3, rules: { ingress: [{ service: "http://127.0.0.1:8080" }] } },
      ended: [{ at: "2026-01-01T00:00:00.000000Z" }],
    },
  },
  token: {
    [id("1")]: { hash: "1".repeat(64), accounts: [ACCOUNT], not_before: null, expires_on: null, addresses: { allow: [], deny: [] } },
    [id("2")]: {
      ...{
        hash: "2".repeat(64),
        accounts: [ACCOUNT, OTHER_ACCOUNT],
        not_before: "2026-01-01T00:00:00Z",
        expires_on: "2036-01-01T00:00:00Z",
      },
      addresses: { allow: ["192.0.2.0/24"], deny: ["192.0.2.7/32"] },
    },
  },
};

before(async () => {
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  const certificates = ENTRIES.certificate;
  const add = async (digit: string, hosts: readonly string[], more: { zone_id?: string; rank?: number } = {}, given = id(digit)) => {
    const { chain, privateKey, notAfter } = await ca.issue([...hosts]);
    const private_key = sealer.seal(privateKey, `certificate:${given}`);
    certificates[given] = { zone_id: id("1"), hosts, chain, private_key, not_after: notAfter, ...more };
  };
  await add("1", ["one.example", "*.one.example"]);
  await add("2", ["shop.elsewhere.example"]);
  await add("3", ["one.example"], { rank: 1_000_005 });
  await add("4", ["www.one.example"], { rank: 2_000_000 });
  await add("5", ["a.deep.one.example"], { rank: 0 });
  await add("", NAME_SERVERS, { zone_id: "" }, "service");
});

let directory: string;
let store: Store;
before(async () => {
  directory = mkdtempSync(join(tmpdir(), "selvedge-recovery-"));
  store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
});
after(async () => {
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});

test("all data of the planes is restored unchanged in a later history of the installation, and the API continues with it", async () => {
  const snapshot = createSnapshotState();
  const ops = (Object.keys(ENTRIES) as EntryKind[]).flatMap((kind) =>
    Object.entries(ENTRIES[kind]).map(([entryId, value]) => ({ kind, id: entryId, value }) as Op),
  );
  snapshot.replace(77, ops);
  const deps = { store, clock: systemClock, sealer, snapshot, nameServers: NAME_SERVERS };
  const kinds = await recoverDatabase(deps, { email: "owner@example.com" }, { history: HISTORY, rev: 77 });
  for (const { kind, held, recovered } of kinds) {
    assert.equal(held, Object.keys(ENTRIES[kind]).length, kind);
    assert.equal(recovered, held, kind);
  }
  const wanted = (Object.keys(ENTRIES) as EntryKind[]).filter((kind) => Object.keys(ENTRIES[kind]).length > 0);
  assert.deepEqual(new Set(kinds.map(({ kind }) => kind)), new Set(wanted));

  const { history, rev } = await store.position();
  assert.ok(isSameInstallation(history, HISTORY));
  assert.notEqual(history, HISTORY);
  assert.ok(rev >= 77);

  const { control, call, account_id } = await controlOver(store, { nameServers: NAME_SERVERS });
  assert.equal(account_id, ACCOUNT);
  const one = await control.zones.get(id("1"), call());
  const ref = { id: one.id, name: one.name, account_id: ACCOUNT, plan: "free" };
  const { items, total_count } = await control.dnsRecords.list(ref, {}, { page: 1, per_page: 50 });
  assert.deepEqual([total_count, new Set(items.map((row) => row.id))], [4, new Set([id("a"), id("b"), id("c"), id("d")])]);
  assert.equal(items.find((row) => row.id === id("c"))?.priority, 10);
  await control.dnsRecords.edit(call(), ref, id("a"), { ttl: 120 });
  await control.dnsRecords.delete(call(), ref, id("b"));
  assert.equal((await control.dnsRecords.list(ref, {}, { page: 1, per_page: 50 })).total_count, 3);
});

test("an entry of the legacy firewall is not restored, and is counted", async () => {
  const path = join(directory, "slot.db");
  const other = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  try {
    const snapshot = createSnapshotState();
    const slot = { ...ENTRIES.ruleset[id("1")]!, slot: "firewall_rules" as const };
    snapshot.replace(5, [
      { kind: "zone", id: id("1"), value: zone("1", "one.example") },
      { kind: "ruleset", id: `${id("1")}/firewall_rules`, value: slot },
    ]);
    const deps = { store: other, clock: systemClock, sealer, snapshot, nameServers: NAME_SERVERS };
    const kinds = await recoverDatabase(deps, { email: "owner@example.com" }, { history: HISTORY, rev: 5 });
    assert.deepEqual(
      kinds.map(({ kind, held, recovered }) => [kind, held, recovered]),
      [
        ["zone", 1, 1],
        ["ruleset", 1, 0],
      ],
    );
  } finally {
    await other.close();
  }
});
