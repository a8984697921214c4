import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import type { Ruleset } from "#model/rulesets/ruleset.ts";
import { PHASES } from "#rules/phases.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { eventually } from "../support/eventually.ts";

// The vendor's own client writes the rules, visitors over real sockets meet them: each phase and action, account and zone together.
let selvedge: Selvedge;
let client: Cloudflare;
let origin: Server;
let zone: { readonly zone_id: string };
let account: { readonly account_id: string };
const asked: IncomingMessage[] = [];
/** `phase action` of what visitors have met. */
const seen = new Set<string>();

const TEXT = "A line of text that comes again and again.\n".repeat(40);

before(async () => {
  origin = createServer((req, res) => {
    asked.push(req);
    const status = Number(/\/status\/(\d+)/.exec(req.url ?? "")?.[1] ?? 200);
    const body = req.url === "/card" ? "card 4111 1111 1111 1111, expires 12/30" : TEXT;
    res.writeHead(status, { "content-type": "text/html", "cache-control": "max-age=60", "x-from": "origin" }).end(body);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  selvedge = await startSelvedge({ env: { SELVEDGE_EDGE_WORKERS: "1" } });
  client = new Cloudflare({ apiToken: selvedge.ready.token ?? "", baseURL: selvedge.ready.api, maxRetries: 0 });
  account = { account_id: selvedge.ready.account_id };
  zone = { zone_id: (await client.zones.create({ account: { id: account.account_id }, name: "phases.test" })).id };
  await client.dns.records.create({ ...zone, type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
});
after(async () => {
  const stopped = await selvedge?.stop();
  origin?.close();
  assert.equal(stopped?.code, 0);
});

type Owner = typeof zone | typeof account;
type Rule = { readonly action: string; readonly expression: string; readonly [more: string]: unknown };

/** The client types rulesets as unknown. */
const ruleset = async (shown: Promise<unknown>): Promise<Ruleset> => (await shown) as Ruleset;

/** Rules at the zone or the account, until the work is done. */
async function withRules(levels: readonly (readonly [Owner, string, readonly Rule[]])[], work: () => Promise<void>): Promise<void> {
  for (const [owner, phase, rules] of levels) await client.rulesets.phases.update(phase as never, { ...owner, rules } as never);
  await work();
  for (const [owner, phase, rules] of levels) {
    for (const { action } of rules) seen.add(`${phase} ${action}`);
    await client.rulesets.phases.update(phase as never, { ...owner, rules: [] } as never);
  }
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const req = request(new URL(path, selvedge.ready.http), { agent: false, headers: { host: "www.phases.test", ...headers } }, (res) => {
      let body = "";
      res.setEncoding("latin1");
      res.on("data", (text: string) => void (body += text));
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
    });
    req.on("error", reject);
    req.end();
  });
const path = (text: string): string => `http.request.uri.path eq "${text}"`;
const result = async <T>(address: string): Promise<T> => ((await client.get(address)) as { readonly result: T }).result;

test("http_request_origin: route", async () => {
  const { port } = origin.address() as AddressInfo;
  await client.rulesets.phases.update("http_request_origin", {
    ...zone,
    rules: [{ action: "route", expression: "true", action_parameters: { origin: { port }, host_header: "inside.phases.test" } }],
  });
  assert.equal((await get("/")).status, 200);
  assert.equal(asked.at(-1)?.headers.host, "inside.phases.test");
  seen.add("http_request_origin route");
});

test("http_request_dynamic_redirect and http_request_redirect: redirect by rule and by the account's list", async () => {
  const to = { from_value: { target_url: { expression: 'concat("https://new.phases.test", http.request.uri.path)' }, status_code: 308 } };
  const list = await client.rules.lists.create({ ...account, name: "moves", kind: "redirect" });
  await client.rules.lists.items.create(list.id ?? "", {
    ...account,
    body: [{ redirect: { source_url: "www.phases.test/listed", target_url: "https://listed.phases.test/", status_code: 301 } }],
  });
  const byList = {
    action: "redirect",
    expression: "http.request.full_uri in $moves",
    action_parameters: { from_list: { name: "moves", key: "http.request.full_uri" } },
  };
  await withRules(
    [
      [zone, "http_request_dynamic_redirect", [{ action: "redirect", expression: path("/moved"), action_parameters: to }]],
      [account, "http_request_redirect", [byList]],
    ],
    async () => {
      assert.deepEqual([(await get("/moved")).status, (await get("/moved")).headers.location], [308, "https://new.phases.test/moved"]);
      await eventually(async () => (await get("/listed")).headers.location === "https://listed.phases.test/");
      assert.equal((await get("/listed")).status, 301);
      assert.equal((await get("/other")).status, 200);
    },
  );
});

test("transforms: rewrite of URL, request headers and response headers, account before zone", async () => {
  const set = (name: string, value: string) => ({ headers: { [name]: { operation: "set", value } } });
  const rewrite = (parameters: object): Rule => ({ action: "rewrite", expression: "true", action_parameters: parameters });
  await withRules(
    [
      [
        zone,
        "http_request_transform",
        [{ action: "rewrite", expression: path("/Index"), action_parameters: { uri: { path: { value: "/index.html" } } } }],
      ],
      [account, "http_request_late_transform", [rewrite(set("X-Level", "account")), rewrite(set("X-Account", "1"))]],
      [zone, "http_request_late_transform", [rewrite(set("X-Level", "zone"))]],
      [account, "http_response_headers_transform", [rewrite(set("X-Level", "account")), rewrite(set("X-Account", "1"))]],
      [
        zone,
        "http_response_headers_transform",
        [rewrite(set("X-Level", "zone")), rewrite({ headers: { "X-From": { operation: "remove" } } })],
      ],
    ],
    async () => {
      const { headers } = await get("/Index?a=1");
      assert.deepEqual([headers["x-level"], headers["x-account"], headers["x-from"]], ["zone", "1", undefined]);
      const last = asked.at(-1);
      assert.deepEqual([last?.url, last?.headers["x-level"], last?.headers["x-account"]], ["/index.html?a=1", "zone", "1"]);
    },
  );
});

test("http_config_settings and http_request_cache_settings: set_config, set_cache_settings", async () => {
  await withRules(
    [
      [
        zone,
        "http_config_settings",
        [{ action: "set_config", expression: path("/config.css"), action_parameters: { browser_cache_ttl: 86_400 } }],
      ],
      [
        zone,
        "http_request_cache_settings",
        [
          {
            action: "set_cache_settings",
            expression: path("/page"),
            action_parameters: { cache: true, browser_ttl: { mode: "override_origin", default: 30 } },
          },
          { action: "set_cache_settings", expression: path("/never.css"), action_parameters: { cache: false } },
        ],
      ],
    ],
    async () => {
      const status = async (address: string) => (await get(address)).headers["svc-cache-status"];
      assert.deepEqual([await status("/page"), await status("/page"), await status("/never.css")], ["MISS", "HIT", "BYPASS"]);
      assert.equal((await get("/page")).headers["cache-control"], "max-age=30");
      assert.equal((await get("/config.css")).headers["cache-control"], "max-age=86400");
      assert.equal((await get("/plain.css")).headers["cache-control"], "max-age=14400");
    },
  );
});

test("http_request_firewall_custom: block, log, the challenges, skip and execute, account before zone", async () => {
  const phase = "http_request_firewall_custom";
  const custom = await ruleset(
    client.rulesets.create({
      ...account,
      kind: "custom",
      name: "shared",
      phase,
      rules: [{ action: "block", expression: path("/secret") }],
    }),
  );
  const response = { status_code: 451, content: "no", content_type: "text/plain" } as const;
  const of = (action: string, at: string): Rule => ({ action, expression: path(at), description: action });
  await withRules(
    [
      [account, phase, [{ action: "execute", expression: "true", action_parameters: { id: custom.id } }]],
      [
        zone,
        phase,
        [
          { action: "skip", expression: 'http.user_agent eq "friend"', action_parameters: { phase: "current" } },
          of("log", "/logged"),
          { action: "block", expression: path("/blocked"), action_parameters: { response } },
          ...["challenge", "js_challenge", "managed_challenge"].map((action) => of(action, `/${action}`)),
        ],
      ],
    ],
    async () => {
      assert.deepEqual([(await get("/secret")).status, (await get("/secret", { "user-agent": "friend" })).status], [403, 403]);
      const blocked = await get("/blocked");
      assert.deepEqual([blocked.status, blocked.body, blocked.headers["content-type"]], [451, "no", "text/plain"]);
      assert.equal((await get("/blocked", { "user-agent": "friend" })).status, 200);
      assert.equal((await get("/logged")).status, 200);
      for (const action of ["challenge", "js_challenge", "managed_challenge"]) {
        const { status, headers } = await get(`/${action}`);
        assert.deepEqual([status, headers["svc-mitigated"]], [403, "challenge"], action);
      }
      await eventually(async () => {
        const events = await result<readonly { readonly action: string }[]>(`/zones/${zone.zone_id}/security/events`);
        return ["log", "block", "skip", "challenge"].every((action) => events.some((event) => event.action === action));
      });
    },
  );
  await client.rulesets.delete(custom.id, account);
});

test("http_ratelimit: every mitigation", async () => {
  const ratelimit = { characteristics: ["cf.colo.id", "ip.src"], period: 3600, requests_per_period: 1, mitigation_timeout: 3600 };
  const actions = ["block", "js_challenge", "managed_challenge", "challenge", "log"];
  const rules = actions.map((action): Rule => ({ action, expression: path(`/limit/${action}`), ratelimit }));
  await withRules([[zone, "http_ratelimit", rules]], async () => {
    for (const action of actions) {
      const statuses = [(await get(`/limit/${action}`)).status, (await get(`/limit/${action}`)).status];
      assert.deepEqual(statuses, [200, action === "block" ? 429 : action === "log" ? 200 : 403], action);
    }
  });
});

test("http_ratelimit: execute runs the account's limits before those of the zone", async () => {
  const phase = "http_ratelimit";
  const limit = (address: string, requests_per_period: number): Rule => ({
    action: "block",
    expression: path(address),
    ratelimit: { characteristics: ["cf.colo.id", "ip.src"], period: 3600, requests_per_period, mitigation_timeout: 3600 },
  });
  const rules = [limit("/limit/shared", 1), limit("/limit/both", 2)];
  const limits = await ruleset(client.rulesets.create({ ...account, kind: "custom", name: "limits", phase, rules } as never));
  await withRules(
    [
      [account, phase, [{ action: "execute", expression: 'http.host eq "www.phases.test"', action_parameters: { id: limits.id } }]],
      [zone, phase, [limit("/limit/both", 1)]],
    ],
    async () => {
      const twice = async (address: string) => [(await get(address)).status, (await get(address)).status];
      assert.deepEqual(await twice("/limit/shared"), [200, 429]);
      assert.deepEqual(await twice("/limit/both"), [200, 429]);
      assert.deepEqual(await twice("/limit/free"), [200, 200]);
      // The events show which of the two levels it was: the zone's, whose limit was reached first.
      await eventually(async () => {
        const events = await result<readonly { readonly path: string; readonly deployed_by: string }[]>(
          `/zones/${zone.zone_id}/security/events?phase=${phase}`,
        );
        const deployed = (address: string) => events.filter((event) => event.path === address).map((event) => event.deployed_by !== "");
        return deployed("/limit/shared").includes(true) && deployed("/limit/both").includes(false);
      });
    },
  );
  await client.rulesets.delete(limits.id, account);
});

test("managed rulesets: run on requests with an override and on responses, and exceptions skip them", async () => {
  const attack = "/?q=%3Cscript%3Ealert(document.cookie)%3C/script%3E";
  const phase = "http_request_firewall_managed";
  const execute = (more: object = {}): Rule => ({
    action: "execute",
    expression: "true",
    action_parameters: { id: "efb7b8c949ac4650a09736fc376e9aee", ...more },
  });
  const skip: Rule = { action: "skip", expression: 'http.user_agent eq "friend"', action_parameters: { ruleset: "current" } };
  await withRules([[account, phase, [skip, execute()]]], async () => {
    assert.deepEqual([(await get(attack)).status, (await get(attack, { "user-agent": "friend" })).status], [403, 200]);
    assert.equal((await get("/?q=plain")).status, 200);
  });
  await withRules([[zone, phase, [execute({ overrides: { action: "log" } })]]], async () => {
    assert.equal((await get(attack)).status, 200);
  });
  const levels: Parameters<typeof withRules>[0] = [
    [account, phase, [{ ...execute({ overrides: { sensitivity_level: "eoff" } }) }]],
    [zone, phase, [{ ...execute({ overrides: { sensitivity_level: "low" } }), expression: path("/") }]],
  ];
  await withRules(levels, async () => {
    assert.deepEqual([(await get(attack)).status, (await get(`/page${attack}`)).status], [403, 200]);
  });
  const response = "http_response_firewall_managed";
  const detect: Rule = { action: "execute", expression: "true", action_parameters: { id: "e22d83c647c64a3eae91b71b499d988e" } };
  const exceptions: Parameters<typeof withRules>[0] = [
    [account, response, [{ ...skip, expression: path("/other") }]],
    [zone, response, [detect]],
  ];
  await withRules(exceptions, async () => {
    assert.equal((await get("/card")).status, 200);
    await eventually(async () => {
      const events = await result<readonly { readonly phase: string }[]>(`/zones/${zone.zone_id}/security/events`);
      return events.some((event) => event.phase === response);
    });
  });
});

test("http_custom_errors: serve_error of the account wins over serve_error of the zone", async () => {
  const serve = (content: string, expression: string): Rule => ({
    action: "serve_error",
    expression,
    action_parameters: { content, content_type: "text/plain" },
  });
  await withRules(
    [
      [account, "http_custom_errors", [serve("account", "http.response.code eq 503")]],
      [zone, "http_custom_errors", [serve("zone", "http.response.code ge 500")]],
    ],
    async () => {
      assert.deepEqual([(await get("/status/503")).body, (await get("/status/502")).body], ["account", "zone"]);
      assert.equal((await get("/status/404")).body, TEXT);
    },
  );
});

test("http_response_compression: compress_response", async () => {
  const encoding = async (address: string) => (await get(address, { "accept-encoding": "gzip, br, zstd" })).headers["content-encoding"];
  const compress = (address: string, ...names: readonly string[]): Rule => ({
    action: "compress_response",
    expression: path(address),
    action_parameters: { algorithms: names.map((name) => ({ name })) },
  });
  await withRules([[zone, "http_response_compression", [compress("/gzip", "gzip", "brotli"), compress("/none", "none")]]], async () => {
    assert.deepEqual([await encoding("/gzip"), await encoding("/none"), await encoding("/else")], ["gzip", undefined, "zstd"]);
  });
});

test("http_log_custom_fields: log_custom_field", async () => {
  const parameters = { request_fields: [{ name: "x-id" }], cookie_fields: [{ name: "plan" }], response_fields: [{ name: "x-from" }] };
  await withRules(
    [[zone, "http_log_custom_fields", [{ action: "log_custom_field", expression: path("/logs"), action_parameters: parameters }]]],
    async () => {
      const { headers } = await get("/logs", { "x-id": "7", cookie: "plan=gold; sid=secret" });
      let rows: readonly { readonly custom_fields: unknown }[] = [];
      await eventually(async () => {
        rows = await result(`/zones/${zone.zone_id}/logs/requests?ray_id=${String(headers["svc-ray"])}`);
        return rows.length === 1;
      });
      assert.deepEqual(rows[0]?.custom_fields, {
        request_headers: { "x-id": "7" },
        cookies: { plan: "gold" },
        response_headers: { "x-from": "origin" },
      });
    },
  );
});

test("the tests above send a visitor through every phase that runs, with every action that it allows", () => {
  const allowed = PHASES.filter(({ runs }) => runs).flatMap(({ name, actions }) => actions.map((action) => `${name} ${action}`));
  assert.deepEqual(
    allowed.filter((one) => !seen.has(one)),
    [],
  );
});

test("every ruleset route changes what visitors of the zone and of the account see", async () => {
  const phase = "http_request_firewall_custom";
  const block = (address: string, more: object = {}) => ({ action: "block" as const, expression: path(address), ...more });
  const blocked = async (): Promise<string> => {
    const statuses = await Promise.all(["/a", "/b", "/c"].map(async (address) => (await get(address)).status));
    return ["a", "b", "c"].filter((_, i) => statuses[i] === 403).join("");
  };
  for (const owner of [zone, account] as const) {
    // Entry points that rules have left are empty, not gone.
    const empty = await ruleset(client.rulesets.phases.get(phase, owner));
    await client.rulesets.delete(empty.id, owner);
    await assert.rejects(client.rulesets.phases.get(phase, owner), Cloudflare.NotFoundError);
    const kind = owner === zone ? "zone" : "root";
    const { id, rules } = await ruleset(client.rulesets.create({ ...owner, kind, name: "one", phase, rules: [block("/a")] } as never));
    assert.equal(await blocked(), "a");
    await client.rulesets.rules.create(id, { ...owner, ...block("/b"), position: { index: 1 } } as never);
    assert.equal(await blocked(), "ab");
    await client.rulesets.rules.edit(rules[0]?.id ?? "", { ruleset_id: id, ...owner, ...block("/c") } as never);
    assert.equal(await blocked(), "bc");
    // A rule that skips the rest, moved before all others, lets everybody through.
    const skip = { action: "skip" as const, expression: "true", action_parameters: { ruleset: "current" as const } };
    const grown = await ruleset(client.rulesets.rules.create(id, { ...owner, ...skip } as never));
    assert.equal(await blocked(), "bc");
    const last = grown.rules.at(-1)?.id ?? "";
    await client.rulesets.rules.edit(last, { ruleset_id: id, ...owner, position: { before: "" } } as never);
    assert.equal(await blocked(), "");
    await client.rulesets.rules.delete(last, { ruleset_id: id, ...owner });
    assert.equal(await blocked(), "bc");
    const versions: string[] = [];
    for await (const { version } of client.rulesets.versions.list(id, owner)) versions.push(version);
    assert.deepEqual(versions, ["6", "5", "4", "3", "2", "1"]);
    // Back to what it was: an old version's rules, written again.
    const first = await ruleset(client.rulesets.versions.get("1", { ruleset_id: id, ...owner }));
    await client.rulesets.update(id, { ...owner, rules: first.rules } as never);
    assert.equal(await blocked(), "a");
    await client.rulesets.versions.delete("2", { ruleset_id: id, ...owner });
    await client.put(`/${owner === zone ? `zones/${zone.zone_id}` : `accounts/${account.account_id}`}/rulesets/${id}?dry_run=true`, {
      body: { rules: [] },
    });
    assert.equal(await blocked(), "a");
    await client.rulesets.phases.update(phase, { ...owner, rules: [block("/a", { enabled: false })] } as never);
    assert.equal(await blocked(), "");
    await client.rulesets.delete(id, owner);
  }
  // Both at once: the account's rules come first, and what it skips of the phase the zone's do not see.
  await withRules(
    [
      [account, phase, [{ action: "skip", expression: path("/a"), action_parameters: { phase: "current" } }, block("/b")]],
      [zone, phase, [block("/a"), block("/c")]],
    ],
    async () => assert.equal(await blocked(), "bc"),
  );
});
