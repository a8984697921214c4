import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Page } from "./server.ts";

/** A running server on one day, with an account, a zone, and a proxied name in front of an origin. */
export interface World {
  readonly account: string;
  readonly zone: string;
  readonly zoneName: string;
  /** A number that is used once. */
  unique(): number;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  visit(path: string, headers?: Readonly<Record<string, string>>): Promise<Page>;
  /** Raw bytes to the edge's port for HTTP or HTTPS. */
  sends(port: "http" | "https", bytes: Buffer): Promise<Buffer>;
}

type Look = (world: World) => Promise<void>;

/** A row of SPEC 9: the older behaviour on the day before, and the newer one on the day. */
export interface Row {
  readonly date: string;
  readonly title: string;
  readonly before: Look;
  readonly on: Look;
}

const BROWSER = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0" };
const PHONE = { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1" };

async function done(answer: Promise<Answer>): Promise<any> {
  const { status, body } = await answer;
  assert.ok(status >= 200 && status < 300, `${status}: ${JSON.stringify(body.errors)}`);
  return body.result;
}

async function refused(answer: Promise<Answer>, status: number, code: number): Promise<void> {
  const { status: got, body } = await answer;
  assert.deepEqual([got, body.errors?.[0]?.code], [status, code]);
}

const gone = (answer: Promise<Answer>): Promise<void> => refused(answer, 410, 10410);

/** Looks until the condition holds: counts are written a moment later. */
async function until<T>(look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const seen = await look();
    if (holds(seen) || tries === 100) return seen;
    await delay(200);
  }
}

const record = (world: World, more: object = {}): Promise<Answer> =>
  world.call("POST", `/zones/${world.zone}/dns_records`, { type: "A", name: `r${world.unique()}`, content: "192.0.2.1", ttl: 60, ...more });

/** A setting of zones that ends: `acts` sees its effect at the edge. */
const setting = (date: string, name: string, value: unknown, off: unknown, acts: Look): Row => ({
  date,
  title: `setting ${name}`,
  before: async (world) => {
    const path = `/zones/${world.zone}/settings/${name}`;
    await done(world.call("PATCH", path, { value }));
    assert.deepEqual((await done(world.call("GET", path))).value, value);
    await acts(world);
    await done(world.call("PATCH", path, { value: off }));
  },
  on: async (world) => {
    const path = `/zones/${world.zone}/settings/${name}`;
    await gone(world.call("GET", path));
    await gone(world.call("PATCH", path, { value }));
    const all = await done(world.call("GET", `/zones/${world.zone}/settings`));
    assert.ok(!all.some(({ id }: { id: string }) => id === name), "the list of settings still has it");
  },
});

/** A setting of DNS with another name. */
const alias = (date: string, path: string, field: string, value: unknown, meant: unknown, off: unknown): Row => ({
  date,
  title: path.slice(1),
  before: async (world) => {
    const zone = `/zones/${world.zone}`;
    await done(world.call("PATCH", zone + path, { value }));
    assert.equal((await done(world.call("GET", `${zone}/dns_settings`)))[field], meant);
    assert.equal((await done(world.call("GET", zone + path))).value, value);
    await done(world.call("PATCH", zone + path, { value: off }));
  },
  on: async (world) => {
    const zone = `/zones/${world.zone}`;
    await gone(world.call("GET", zone + path));
    await gone(world.call("PATCH", zone + path, { value }));
    assert.equal((await done(world.call("PATCH", `${zone}/dns_settings`, { [field]: meant })))[field], meant);
    await done(world.call("PATCH", `${zone}/dns_settings`, { [field]: !meant }));
  },
});

const blocks = async (world: World, path: string): Promise<void> => assert.equal((await world.visit(path, BROWSER)).status, 403, path);
const entrypoint = (world: World, phase: string): string => `/zones/${world.zone}/rulesets/phases/${phase}/entrypoint`;
const emails = ({ mechanisms }: any): unknown => mechanisms.email.map(({ id }: { id: string }) => id);
const policy = (more: object): object => ({ name: "zone moved", enabled: true, alert_type: "zone_moved", ...more });

/** A ClientHello of TLS 1.2 with only the draft suites of ChaCha20-Poly1305. */
function draftHello(host: string): Buffer {
  const u16 = (value: number): number[] => [value >> 8, value & 255];
  const extension = (type: number, data: readonly number[]): number[] => [...u16(type), ...u16(data.length), ...data];
  const name = [...Buffer.from(host)];
  const extensions = [
    ...extension(0, [...u16(name.length + 3), 0, ...u16(name.length), ...name]),
    ...extension(10, [...u16(4), ...u16(29), ...u16(23)]),
    ...extension(11, [1, 0]),
    ...extension(13, [...u16(6), ...u16(0x0403), ...u16(0x0804), ...u16(0x0401)]),
  ];
  const suites = [0xcc13, 0xcc14, 0xcc15].flatMap(u16);
  const hello = [...u16(0x0303), ...Array(32).fill(7), 0, ...u16(suites.length), ...suites, 1, 0, ...u16(extensions.length), ...extensions];
  const message = [1, 0, ...u16(hello.length), ...hello];
  return Buffer.from([22, ...u16(0x0301), ...u16(message.length), ...message]);
}

const DRAFTS: Look = async (world) => {
  const [type, , , , , level, alert] = await world.sends("https", draftHello(`www.${world.zoneName}`));
  assert.deepEqual([type, level, alert], [21, 2, 40], "an alert: handshake failure");
};

const TWO_LENGTHS: Look = async (world) => {
  const head = `POST / HTTP/1.1\r\nHost: www.${world.zoneName}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  assert.match((await world.sends("http", Buffer.from(head))).toString("latin1"), /^HTTP\/1\.1 400 /);
};

/** In the order of SPEC 9. */
export const ROWS: readonly Row[] = [
  {
    date: "2025-11-21",
    title: "self_hosted_domains of Access applications",
    before: async (world) => {
      const uri = `app${world.unique()}.${world.zoneName}`;
      const app = await done(
        world.call("POST", `/accounts/${world.account}/access/apps`, { type: "self_hosted", self_hosted_domains: [uri] }),
      );
      assert.deepEqual([app.destinations, app.self_hosted_domains], [[{ type: "public", uri }], [uri]]);
    },
    on: async (world) => {
      const apps = `/accounts/${world.account}/access/apps`;
      const uri = `app${world.unique()}.${world.zoneName}`;
      await refused(world.call("POST", apps, { type: "self_hosted", self_hosted_domains: [uri] }), 400, 10411);
      const app = await done(world.call("POST", apps, { type: "self_hosted", destinations: [{ type: "public", uri }] }));
      assert.deepEqual([app.destinations, "self_hosted_domains" in app], [[{ type: "public", uri }], false]);
    },
  },
  {
    date: "2025-06-15",
    title: "firewall rules and filters",
    before: async (world) => {
      const path = `/firewall-${world.unique()}`;
      const rules = `/zones/${world.zone}/firewall/rules`;
      const [rule] = await done(
        world.call("POST", rules, [{ action: "block", filter: { expression: `http.request.uri.path eq "${path}"` } }]),
      );
      await blocks(world, path);
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/filters/${rule.filter.id}`))).id, rule.filter.id);
      await done(world.call("DELETE", `${rules}/${rule.id}`));
      assert.equal((await world.visit(path, BROWSER)).status, 200);
    },
    on: async (world) => {
      for (const path of ["firewall/rules", "filters"]) await gone(world.call("GET", `/zones/${world.zone}/${path}`));
      const path = `/custom-${world.unique()}`;
      const rules = [{ action: "block", expression: `http.request.uri.path eq "${path}"` }];
      await done(world.call("PUT", entrypoint(world, "http_request_firewall_custom"), { rules }));
      await blocks(world, path);
    },
  },
  {
    date: "2025-06-15",
    title: "previous WAF",
    before: async (world) => {
      const packages = `/zones/${world.zone}/firewall/waf/packages`;
      const { id } = (await done(world.call("GET", packages))).find((one: any) => one.detection_mode === "anomaly");
      await done(world.call("PATCH", `${packages}/${id}`, { sensitivity: "low" }));
      assert.equal((await done(world.call("GET", `${packages}/${id}`))).sensitivity, "low");
    },
    on: async (world) => {
      await gone(world.call("GET", `/zones/${world.zone}/firewall/waf/packages`));
      await gone(world.call("GET", `/zones/${world.zone}/firewall/waf/overrides`));
    },
  },
  {
    date: "2025-06-15",
    title: "rate limits",
    before: async (world) => {
      const path = `/limited-${world.unique()}`;
      const match = { request: { url: `www.${world.zoneName}${path}` } };
      const limit = { match, threshold: 2, period: 60, action: { mode: "ban", timeout: 60 } };
      const { id } = await done(world.call("POST", `/zones/${world.zone}/rate_limits`, limit));
      await until(
        () => world.visit(path, BROWSER),
        ({ status }) => status === 429,
      );
      assert.equal((await world.visit(path, BROWSER)).status, 429);
      await done(world.call("DELETE", `/zones/${world.zone}/rate_limits/${id}`));
    },
    on: async (world) => {
      await gone(world.call("GET", `/zones/${world.zone}/rate_limits`));
      await gone(world.call("POST", `/zones/${world.zone}/rate_limits`, {}));
    },
  },
  {
    date: "2025-03-23",
    title: "availability of custom name servers",
    before: async (world) =>
      assert.deepEqual(await done(world.call("GET", `/accounts/${world.account}/custom_ns/availability`)), [world.zoneName]),
    on: (world) => gone(world.call("GET", `/accounts/${world.account}/custom_ns/availability`)),
  },
  alias("2025-03-21", "/settings/cname_flattening", "flatten_all_cnames", "on", true, "apex"),
  {
    date: "2025-03-14",
    title: "settings of accounts for name servers",
    before: async (world) => {
      const account = `/accounts/${world.account}`;
      const { name } = await done(world.call("GET", account));
      const type = async (): Promise<string> => (await done(world.call("GET", `${account}/dns_settings`))).zone_defaults.nameservers.type;
      for (const [custom, expected] of [
        [true, "custom.account"],
        [false, "cloudflare.standard"],
      ] as const) {
        await done(world.call("PUT", account, { name, settings: { use_account_custom_ns_by_default: custom } }));
        assert.equal(await type(), expected);
      }
    },
    on: async (world) => {
      const account = `/accounts/${world.account}`;
      const { name, settings } = await done(world.call("GET", account));
      assert.equal("use_account_custom_ns_by_default" in settings, false);
      await refused(world.call("PUT", account, { name, settings: { use_account_custom_ns_by_default: true } }), 400, 10411);
    },
  },
  {
    date: "2025-02-21",
    title: "comparisons in filters of records",
    before: async (world) => {
      const { name } = await done(record(world));
      const found = await done(world.call("GET", `/zones/${world.zone}/dns_records?name=starts_with:${name}&type=contains:A`));
      assert.deepEqual(
        found.map((one: any) => one.name),
        [name],
      );
    },
    on: async (world) => {
      const { name } = await done(record(world));
      for (const query of [`name=starts_with:${name}`, "type=contains:A"])
        assert.equal((await world.call("GET", `/zones/${world.zone}/dns_records?${query}`)).status, 400, query);
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/dns_records?name.startswith=${name}`))).length, 1);
    },
  },
  {
    date: "2025-05-23",
    title: "lists with commas in filters of records",
    before: async (world) => {
      const [a, b] = [await done(record(world)), await done(record(world))];
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/dns_records?name=${a.name},${b.name}`))).length, 2);
    },
    on: async (world) => {
      const [a, b] = [await done(record(world)), await done(record(world))];
      assert.equal((await world.call("GET", `/zones/${world.zone}/dns_records?name=${a.name},${b.name}`)).status, 400);
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/dns_records?match=any&name=${a.name}&name=${b.name}`))).length, 2);
    },
  },
  {
    date: "2024-11-30",
    title: "zone_id and zone_name of records",
    before: async (world) => {
      const { zone_id, zone_name } = await done(record(world));
      assert.deepEqual([zone_id, zone_name], [world.zone, world.zoneName]);
    },
    on: async (world) => {
      const made = await done(record(world, { zone_id: "ignored" }));
      assert.deepEqual(["zone_id" in made, "zone_name" in made], [false, false]);
    },
  },
  {
    date: "2024-10-01",
    title: "error_chain of invalid records",
    before: async (world) => {
      const { status, body } = await record(world, { content: "not an address" });
      assert.deepEqual([status, body.errors[0].code, body.errors[0].error_chain[0].code], [400, 1004, 9005]);
    },
    on: async (world) => {
      const { status, body } = await record(world, { content: "not an address" });
      assert.deepEqual([status, body.errors[0].code, "error_chain" in body.errors[0]], [400, 9005, false]);
    },
  },
  alias("2024-09-13", "/dns_settings/use_apex_ns", "multi_provider", true, true, false),
  alias("2024-09-13", "/dns_settings/secondary_overrides", "secondary_overrides", true, true, false),
  setting("2024-08-15", "brotli", "off", "on", async (world) => {
    const coding = async (): Promise<unknown> =>
      (await world.visit("/a.css", { ...BROWSER, "accept-encoding": "br" })).headers["content-encoding"];
    assert.equal(await coding(), undefined);
    await done(world.call("PATCH", `/zones/${world.zone}/settings/brotli`, { value: "on" }));
    assert.equal(await coding(), "br");
  }),
  setting("2024-08-05", "minify", { css: "on", html: "on", js: "on" }, { css: "off", html: "off", js: "off" }, async (world) => {
    const plain = 24 * 40;
    const { bytes } = await until(
      () => world.visit("/a.css", BROWSER),
      (page) => page.bytes < plain,
    );
    assert.ok(bytes < plain, `${bytes} bytes`);
  }),
  {
    date: "2024-07-14",
    title: "locked of records",
    before: async (world) => assert.equal((await done(record(world))).locked, false),
    on: async (world) => assert.equal("locked" in (await done(record(world, { locked: true }))), false),
  },
  setting(
    "2024-06-30",
    "mobile_redirect",
    { status: "on", mobile_subdomain: "m", strip_uri: false },
    { status: "off", mobile_subdomain: null, strip_uri: false },
    async (world) => {
      const mobile = await done(record(world, { name: "m" }));
      const to = `http://m.${world.zoneName}/here`;
      await until(
        () => world.visit("/here", PHONE),
        (page) => page.headers["location"] === to,
      );
      await done(world.call("DELETE", `/zones/${world.zone}/dns_records/${mobile.id}`));
    },
  ),
  setting("2024-06-14", "server_side_exclude", "on", "off", async (world) => {
    assert.equal((await world.visit("/", { "user-agent": "curl/8" })).text, "<p>For all.</p>");
    assert.notEqual((await world.visit("/", BROWSER)).text, "<p>For all.</p>");
  }),
  {
    date: "2024-05-31",
    title: "parts of names in data of SRV records",
    before: async (world) => {
      const name = `srv${world.unique()}`;
      const data = { service: "_sip", proto: "_tcp", name, priority: 1, weight: 2, port: 5060, target: "sip.example.com" };
      const made = await done(record(world, { type: "SRV", data, name: undefined, content: undefined }));
      assert.deepEqual([made.name, made.data.service, made.data.proto], [`_sip._tcp.${name}.${world.zoneName}`, "_sip", "_tcp"]);
    },
    on: async (world) => {
      const data = { priority: 1, weight: 2, port: 5060, target: "sip.example.com" };
      const name = `_sip._tcp.srv${world.unique()}`;
      const old = { ...data, service: "_sip", proto: "_tcp", name: "x" };
      assert.equal((await record(world, { type: "SRV", data: old, name, content: undefined })).status, 400);
      const made = await done(record(world, { type: "SRV", data, name, content: undefined }));
      assert.deepEqual(["service" in made.data, "proto" in made.data, "name" in made.data], [false, false, false]);
    },
  },
  setting("2024-03-31", "privacy_pass", "on", "off", async (world) => {
    await done(world.call("POST", `/zones/${world.zone}/settings/privacy_pass`, { value: "off" }));
    assert.equal((await done(world.call("GET", `/zones/${world.zone}/settings/privacy_pass`))).value, "off");
  }),
  {
    date: "2024-02-04",
    title: "tunnels",
    before: async (world) => {
      const { id } = await done(world.call("POST", `/accounts/${world.account}/tunnels`, { name: `t${world.unique()}` }));
      assert.equal((await done(world.call("GET", `/accounts/${world.account}/cfd_tunnel/${id}`))).id, id);
      await done(world.call("DELETE", `/accounts/${world.account}/tunnels/${id}`));
    },
    on: async (world) => {
      await gone(world.call("GET", `/accounts/${world.account}/tunnels`));
      assert.ok((await done(world.call("POST", `/accounts/${world.account}/cfd_tunnel`, { name: `t${world.unique()}` }))).id);
    },
  },
  { date: "2023-07-01", title: "draft suites of ChaCha20 (refused on every day, as the row's page says)", before: DRAFTS, on: DRAFTS },
  {
    date: "2023-07-01",
    title: "two lengths of a request (refused on every day, as the row's page says)",
    before: TWO_LENGTHS,
    on: TWO_LENGTHS,
  },
  {
    date: "2023-06-06",
    title: "billing",
    before: async (world) => {
      assert.equal((await done(world.call("GET", "/user/billing/profile"))).balance, "0");
      assert.deepEqual(await done(world.call("GET", "/user/billing/history")), []);
    },
    on: async (world) => {
      for (const path of ["/user/billing/profile", "/user/billing/history", `/accounts/${world.account}/billing/profile`])
        await gone(world.call("GET", path));
    },
  },
  {
    date: "2023-04-03",
    title: "notification_email",
    before: async (world) => {
      const policies = `/accounts/${world.account}/alerting/v3/policies`;
      const { id } = await done(world.call("POST", policies, policy({ notification_email: "a@example.com, b@example.com" })));
      const shown = await done(world.call("GET", `${policies}/${id}`));
      assert.deepEqual([emails(shown), shown.notification_email], [["a@example.com", "b@example.com"], "a@example.com,b@example.com"]);
    },
    on: async (world) => {
      const policies = `/accounts/${world.account}/alerting/v3/policies`;
      await refused(world.call("POST", policies, policy({ notification_email: "a@example.com" })), 400, 10411);
      const { id } = await done(world.call("POST", policies, policy({ mechanisms: { email: [{ id: "a@example.com" }] } })));
      const shown = await done(world.call("GET", `${policies}/${id}`));
      assert.deepEqual([emails(shown), "notification_email" in shown], [["a@example.com"], false]);
    },
  },
  {
    date: "2023-03-19",
    title: "Access bookmarks",
    before: async (world) => {
      const bookmark = `/accounts/${world.account}/access/bookmarks/${randomUUID()}`;
      await done(world.call("POST", bookmark, { name: "wiki", domain: "wiki.example.com" }));
      assert.equal((await done(world.call("GET", bookmark))).domain, "wiki.example.com");
      await done(world.call("DELETE", bookmark));
    },
    on: (world) => gone(world.call("GET", `/accounts/${world.account}/access/bookmarks`)),
  },
  {
    date: "2022-10-11",
    title: "script_monitor",
    before: async (world) => {
      await done(world.call("PUT", `/zones/${world.zone}/script_monitor`, { enabled: true }));
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/page_shield`))).enabled, true);
      assert.match(String((await world.visit("/", BROWSER)).headers["content-security-policy-report-only"]), /report/);
      await done(world.call("PUT", `/zones/${world.zone}/script_monitor`, { enabled: false }));
    },
    on: async (world) => {
      await gone(world.call("GET", `/zones/${world.zone}/script_monitor`));
      assert.equal((await done(world.call("GET", `/zones/${world.zone}/page_shield`))).enabled, false);
    },
  },
  {
    date: "2022-07-01",
    title: "images/v1/direct_upload",
    before: async (world) =>
      assert.match((await done(world.call("POST", `/accounts/${world.account}/images/v1/direct_upload`, {}))).uploadURL, /^https?:/),
    on: async (world) => gone(world.call("POST", `/accounts/${world.account}/images/v1/direct_upload`, {})),
  },
  {
    date: "2021-03-01",
    title: "analytics of zones",
    before: async (world) => {
      await world.visit("/counted", BROWSER);
      const seen = await until(
        async () => (await done(world.call("GET", `/zones/${world.zone}/analytics/dashboard?since=-1440&until=0`))).totals.requests.all,
        (all) => all > 0,
      );
      assert.ok(seen > 0, "no request counts");
    },
    on: async (world) => {
      for (const part of ["dashboard", "colos"]) await gone(world.call("GET", `/zones/${world.zone}/analytics/${part}`));
    },
  },
  {
    date: "2020-04-02",
    title: "organizations",
    before: async (world) => {
      const name = `organization ${world.unique()}`;
      await done(world.call("PATCH", `/organizations/${world.account}`, { name }));
      assert.equal((await done(world.call("GET", `/accounts/${world.account}`))).name, name);
      assert.equal((await done(world.call("GET", `/organizations/${world.account}/members`))).length, 1);
    },
    on: async (world) => {
      for (const path of ["", "/members", "/invites", "/roles", "/audit_logs"])
        await gone(world.call("GET", `/organizations/${world.account}${path}`));
      assert.equal((await done(world.call("GET", `/accounts/${world.account}/members`))).length, 1);
    },
  },
];
