import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";
import { isoDate, systemClock } from "#kernel/clock.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";

const DAY_MS = 86_400_000;

/** A call of one of the row's routes on the day before; parameters come from `ids`. */
interface Step {
  readonly route: string;
  readonly body?: unknown;
  /** Keeps identifiers of the result under these names, for later steps. */
  readonly keeps?: (result: any) => Readonly<Record<string, string>>;
  /** A GET route of another row, or of none, that shows what the write changes. */
  readonly shownBy?: string;
}

interface Scene {
  readonly server: ApiServer;
  readonly ids: Record<string, string>;
}

/** Something of another interface that the row's GET routes show. */
type Change = (scene: Scene) => Promise<void>;

const READ_ONLY_ROLE = "4e7c48cd86c3ef2b6eb6de0a3e2a0b1b";

/** For each row whose endpoints end: calls of all its routes, in an order in which each of them works. */
const STORIES: Readonly<Record<string, readonly (Step | Change)[]>> = {
  "firewall-rules": firewallRules(),
  "previous-waf": previousWaf(),
  "rate-limits": [
    { route: "GET /zones/:zone_id/rate_limits" },
    { route: "POST /zones/:zone_id/rate_limits", body: rateLimit(60), keeps: ({ id }) => ({ rate_limit_id: id }) },
    { route: "GET /zones/:zone_id/rate_limits/:rate_limit_id" },
    { route: "PUT /zones/:zone_id/rate_limits/:rate_limit_id", body: rateLimit(120) },
    { route: "DELETE /zones/:zone_id/rate_limits/:rate_limit_id" },
  ],
  "custom-ns-availability": [
    { route: "GET /accounts/:account_id/custom_ns/availability" },
    async ({ server }) => void (await createZone(server, "another.example")),
    { route: "GET /accounts/:account_id/custom_ns/availability" },
  ],
  "zone-setting-brotli": setting("brotli", "off"),
  "zone-setting-mobile-redirect": setting("mobile_redirect", { status: "on", mobile_subdomain: "m", strip_uri: false }),
  "zone-setting-minify": setting("minify", { css: "on", html: "on", js: "on" }),
  "zone-setting-server-side-exclude": setting("server_side_exclude", "on"),
  "zone-setting-privacy-pass": [
    ...setting("privacy_pass", "on"),
    { route: "POST /zones/:zone_id/settings/privacy_pass", body: { value: "off" } },
  ],
  "access-bookmarks": [
    { route: "GET /accounts/:account_id/access/bookmarks" },
    { route: "POST /accounts/:account_id/access/bookmarks/:bookmark_id", body: { name: "a", domain: "a.example.com" } },
    { route: "GET /accounts/:account_id/access/bookmarks/:bookmark_id" },
    { route: "PUT /accounts/:account_id/access/bookmarks/:bookmark_id", body: { name: "b", domain: "b.example.com" } },
    { route: "DELETE /accounts/:account_id/access/bookmarks/:bookmark_id" },
  ],
  tunnels: [
    { route: "POST /accounts/:account_id/tunnels", body: { name: "office" }, keeps: ({ id }) => ({ tunnel_id: id }) },
    { route: "GET /accounts/:account_id/tunnels" },
    { route: "GET /accounts/:account_id/tunnels/:tunnel_id" },
    { route: "DELETE /accounts/:account_id/tunnels/:tunnel_id" },
  ],
  "zone-analytics": [
    { route: "GET /zones/:zone_id/analytics/dashboard" },
    { route: "GET /zones/:zone_id/analytics/colos" },
    async ({ server, ids }) => addRequest(server, ids["zone_id"] ?? ""),
  ],
  "page-shield-script-monitor": [
    { route: "GET /zones/:zone_id/script_monitor" },
    { route: "PUT /zones/:zone_id/script_monitor", body: { enabled: true } },
    (scene) => seesScript(scene, "https://example.com/"),
    { route: "GET /zones/:zone_id/script_monitor/scripts", keeps: ([{ id }]) => ({ script_id: id }) },
    { route: "GET /zones/:zone_id/script_monitor/scripts/:script_id" },
    (scene) => seesScript(scene, "https://example.com/other"),
    ...["connection", "cookie"].flatMap((kind): readonly Step[] => [
      { route: `GET /zones/:zone_id/script_monitor/${kind}s`, keeps: ([{ id }]) => ({ [`${kind}_id`]: id }) },
      { route: `GET /zones/:zone_id/script_monitor/${kind}s/:${kind}_id` },
    ]),
    (scene) => seesScript(scene, "https://example.com/third?secure"),
    ...pagePolicies("/zones/:zone_id/script_monitor/policies"),
  ],
  "images-direct-upload-v1": [
    {
      route: "POST /accounts/:account_id/images/v1/direct_upload",
      body: { expiry: new Date(systemClock.nowMs() + 3_600_000).toISOString() },
      keeps: ({ id }) => ({ image_id: id }),
      shownBy: "GET /accounts/:account_id/images/v1/stats",
    },
  ],
  organizations: [
    { route: "GET /organizations/:account_id" },
    { route: "PATCH /organizations/:account_id", body: { name: "renamed" } },
    { route: "GET /organizations/:account_id/audit_logs" },
    { route: "GET /organizations/:account_id/members", keeps: ([{ id, roles }]) => ({ member_id: id, role_id: roles[0].id }) },
    { route: "GET /organizations/:account_id/members/:member_id" },
    {
      route: "POST /organizations/:account_id/invites",
      body: { invited_member_email: "invited@example.com", roles: [":role_id"] },
      keeps: ({ id }) => ({ invite_id: id }),
    },
    { route: "GET /organizations/:account_id/invites" },
    { route: "GET /organizations/:account_id/invites/:invite_id" },
    { route: "PATCH /organizations/:account_id/invites/:invite_id", body: { roles: [READ_ONLY_ROLE] } },
    { route: "DELETE /organizations/:account_id/invites/:invite_id" },
    {
      route: "POST /organizations/:account_id/invites",
      body: { invited_member_email: "invited@example.com", roles: [READ_ONLY_ROLE] },
      keeps: ({ id }) => ({ member_id: id }),
    },
    { route: "PATCH /organizations/:account_id/members/:member_id", body: { roles: [":role_id"] } },
    { route: "DELETE /organizations/:account_id/members/:member_id" },
    { route: "GET /organizations/:account_id/accelerators" },
    { route: "POST /organizations/:account_id/accelerators", body: { name: "a" }, keeps: ({ id }) => ({ accelerator_id: id }) },
    { route: "GET /organizations/:account_id/accelerators/:accelerator_id" },
    { route: "GET /organizations/:account_id/accelerators/:accelerator_id/zones" },
    { route: "PATCH /organizations/:account_id/accelerators/:accelerator_id", body: { enabled: true } },
    { route: "GET /organizations/:account_id/accelerators/:accelerator_id/zones" },
    { route: "DELETE /organizations/:account_id/accelerators/:accelerator_id" },
    { route: "GET /organizations/:account_id/roles" },
    { route: "GET /organizations/:account_id/roles/:role_id" },
    async ({ server }) => void (await ask(server, "PATCH", "/user", { body: { first_name: "Ada" } })),
  ],
};

/** GET routes whose answer is the same for everybody, with the reason. */
const SAME_FOR_ALL: Readonly<Record<string, string>> = {
  "GET /zones/:zone_id/firewall/waf/packages": "the packages of an installation",
  "GET /organizations/:account_id/roles": "the roles of an installation",
  "GET /organizations/:account_id/roles/:role_id": "the roles of an installation",
};

function pagePolicies(path: string): readonly Step[] {
  const policy = { description: "a", action: "log", expression: "true", enabled: true, value: "script-src 'self'" };
  return [
    { route: `POST ${path}`, body: policy, keeps: ({ id }) => ({ policy_id: id }) },
    { route: `GET ${path}` },
    { route: `GET ${path}/:policy_id` },
    { route: `PUT ${path}/:policy_id`, body: { action: "allow" } },
    { route: `DELETE ${path}/:policy_id` },
  ];
}

function setting(id: string, value: unknown): readonly Step[] {
  return [{ route: `GET /zones/:zone_id/settings/${id}` }, { route: `PATCH /zones/:zone_id/settings/${id}`, body: { value } }];
}

function rateLimit(threshold: number): object {
  return {
    match: { request: { url: "*.example.com/login" } },
    threshold,
    period: 60,
    action: { mode: "ban", timeout: 60 },
  };
}

function firewallRules(): readonly Step[] {
  const [rules, rule] = ["/zones/:zone_id/firewall/rules", "/zones/:zone_id/firewall/rules/:rule_id"];
  const [filters, filter] = ["/zones/:zone_id/filters", "/zones/:zone_id/filters/:filter_id"];
  const expression = (path: string): string => `http.request.uri.path eq "/${path}"`;
  const withId = (name: string, body: object): object => ({ id: `:${name}`, ...body });
  return [
    { route: `GET ${filters}` },
    { route: `GET ${rules}` },
    { route: `POST ${filters}`, body: [{ expression: expression("a") }], keeps: ([{ id }]) => ({ filter_id: id }) },
    { route: `GET ${filter}` },
    { route: `PUT ${filter}`, body: withId("filter_id", { expression: expression("b") }) },
    { route: `PUT ${filters}`, body: [withId("filter_id", { expression: expression("c") })] },
    { route: `POST ${rules}`, body: [{ action: "block", filter: { id: ":filter_id" } }], keeps: ([{ id }]) => ({ rule_id: id }) },
    { route: `GET ${rule}` },
    { route: `PUT ${rule}`, body: withId("rule_id", { action: "log", filter: { id: ":filter_id" } }) },
    { route: `PATCH ${rule}`, body: { action: "block" } },
    { route: `PUT ${rules}`, body: [withId("rule_id", { action: "log", filter: { id: ":filter_id" } })] },
    { route: `PATCH ${rules}`, body: [withId("rule_id", { priority: 7 })] },
    { route: `DELETE ${rule}` },
    { route: `DELETE ${filter}` },
    {
      route: `POST ${rules}`,
      body: [{ action: "block", filter: { expression: expression("d") } }],
      keeps: ([one]) => ({ rule_id: one.id, filter_id: one.filter.id }),
    },
    { route: `DELETE ${rules}?id=:rule_id` },
    { route: `DELETE ${filters}?id=:filter_id` },
  ];
}

function previousWaf(): readonly Step[] {
  const waf = "/zones/:zone_id/firewall/waf";
  const pack = `${waf}/packages/:package_id`;
  return [
    { route: `GET ${waf}/packages`, keeps: (packs) => ({ package_id: packs.find((one: any) => one.detection_mode === "anomaly").id }) },
    { route: `GET ${pack}` },
    { route: `PATCH ${pack}`, body: { sensitivity: "low", action_mode: "simulate" } },
    { route: `GET ${waf}/packages`, keeps: (packs) => ({ package_id: packs.find((one: any) => one.detection_mode !== "anomaly").id }) },
    { route: `GET ${pack}/groups`, keeps: ([{ id }]) => ({ group_id: id }) },
    { route: `GET ${pack}/groups/:group_id` },
    { route: `PATCH ${pack}/groups/:group_id`, body: { mode: "off" } },
    { route: `PATCH ${pack}/groups/:group_id`, body: { mode: "on" } },
    { route: `GET ${pack}/rules`, keeps: ([{ id }]) => ({ rule_id: id }) },
    { route: `GET ${pack}/rules/:rule_id` },
    { route: `PATCH ${pack}/rules/:rule_id`, body: { mode: "disable" } },
    { route: `GET ${waf}/overrides` },
    {
      route: `POST ${waf}/overrides`,
      body: { urls: ["a.example.com/*"], rewrite_action: { block: "simulate" } },
      keeps: ({ id }) => ({ override_id: id }),
    },
    { route: `GET ${waf}/overrides/:override_id` },
    {
      route: `PUT ${waf}/overrides/:override_id`,
      body: { id: ":override_id", urls: ["b.example.com/*"], rules: {}, groups: {}, rewrite_action: { block: "simulate" } },
    },
    { route: `DELETE ${waf}/overrides/:override_id` },
  ];
}

const createZone = async (server: ApiServer, name: string): Promise<string> =>
  (await ask(server, "POST", "/zones", { body: { name, account: { id: server.account_id } } })).body.result.id;

async function seesScript({ server, ids }: Scene, page_url: string): Promise<void> {
  const seen = { zone_id: ids["zone_id"] ?? "", host: "cdn.example", page_url, at_ms: systemClock.nowMs() };
  const { searchParams } = new URL(page_url);
  await server.control.pageShield.note([
    { ...seen, kind: "script", url: "https://cdn.example/a.js" },
    { ...seen, kind: "connection", url: "https://cdn.example/" },
    { ...seen, kind: "cookie", name: "a", attributes: { secure: searchParams.has("secure"), http_only: true } },
  ]);
}

function addRequest(server: ApiServer, zone_id: string): void {
  const database = openEventDatabase(server.eventsPath);
  const row = { account_id: server.account_id, zone_id, at_ms: systemClock.nowMs() - 60_000, status: 200, bytes_out: 100 };
  database.insert([packed("requests", [testRequestRow(row)])]);
  database.close();
}

const filled = (text: string, ids: Readonly<Record<string, string>>): string =>
  text.replaceAll(/:(\w+_id)/g, (whole, name: string) => ids[name] ?? whole);

const dayBefore = (row: Deprecation): string => isoDate(Date.parse(`${row.date}T00:00:00Z`) - DAY_MS);

/** Runs the row's story on the day before, and says what is wrong with it. */
async function run(scene: Scene, row: Deprecation, story: readonly (Step | Change)[]): Promise<readonly string[]> {
  const { server, ids } = scene;
  const wrong: string[] = [];
  const headers = { "api-version": dayBefore(row) };
  const call = (route: string, body?: unknown) => {
    const [method = "", path = ""] = filled(route, ids).split(" ");
    return ask(server, method, path, { headers, ...(body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body), ids)) }) });
  };
  const shown = new Map<string, Set<string>>();
  const look = async (besides?: string): Promise<string> => {
    const all = besides === undefined ? [] : [(await call(besides)).text];
    for (const route of row.routes.filter((one) => one.startsWith("GET ") && !/:\w+_id/.test(filled(one.slice(4), ids)))) {
      const { text } = await call(route);
      shown.set(route, (shown.get(route) ?? new Set()).add(text));
      all.push(text);
    }
    return all.join("\n");
  };
  for (const step of story) {
    const before = await look(typeof step === "function" ? undefined : step.shownBy);
    if (typeof step === "function") {
      await step(scene);
      await look();
      continue;
    }
    const answer = await call(step.route, step.body);
    if (answer.status < 200 || answer.status > 299) wrong.push(`${step.route} answers ${answer.status}: ${answer.text.slice(0, 200)}`);
    else Object.assign(ids, step.keeps?.(answer.body.result));
    if (!step.route.startsWith("GET ") && (await look(step.shownBy)) === before)
      wrong.push(`${step.route} changes nothing that can be seen`);
  }
  for (const [route, answers] of shown) if (answers.size === 1 && !(route in SAME_FOR_ALL)) wrong.push(`${route} is a constant`);
  const told = new Set(story.flatMap((step) => (typeof step === "function" ? [] : [step.route.split("?")[0]])));
  for (const route of row.routes) if (!told.has(route)) wrong.push(`no step calls ${route}`);
  return wrong;
}

const ENDED = DEPRECATIONS.filter(({ effect }) => effect.kind === "endpoint_gone");

describe("SPEC 9: an endpoint still works, with an effect, on the day before its end", () => {
  for (const row of ENDED)
    test(row.id, async () => {
      const server = await startApi({ date: { asOf: null, negotiate: true } });
      try {
        const zone_id = await createZone(server, "example.com");
        const ids = { zone_id, account_id: server.account_id, bookmark_id: randomUUID() };
        const wrong = await run({ server, ids }, row, STORIES[row.id] ?? []);
        if (row.hollow === undefined) assert.deepEqual(wrong, []);
        else assert.notDeepEqual(wrong, [], "the row says that there is nothing behind it, and there is: remove `hollow`");
      } finally {
        await server.close();
      }
    });
});

test("an ended endpoint answers 410 for identifiers of any form, to those who may call it", async () => {
  const server = await startApi({ date: { asOf: null, negotiate: true } });
  try {
    const zone_id = await createZone(server, "example.com");
    const answers = async (route: string, ids: Readonly<Record<string, string>>, token?: string) => {
      const [method = "", path = ""] = route.split(" ");
      const { status, body } = await ask(server, method, filled(path, ids), token === undefined ? {} : { token });
      return [status, body.errors[0].code];
    };
    const own = { zone_id, account_id: server.account_id };
    for (const row of ENDED)
      for (const route of row.routes) {
        const [, path = ""] = route.split(" ");
        const others = [...path.matchAll(/:(\w+_id)/g)].map(([, name = ""]) => [name, "an-older-form.of_1"]);
        assert.deepEqual(await answers(route, { ...Object.fromEntries(others), ...own }), [410, 10410], route);
      }
    const tunnel = "DELETE /accounts/:account_id/tunnels/:tunnel_id";
    assert.deepEqual(await answers(tunnel, { account_id: "not-an-id", tunnel_id: "1" }), [404, 7003]);
    assert.deepEqual(await answers(tunnel, { account_id: "0".repeat(32), tunnel_id: "1" }), [403, 9109]);
    assert.deepEqual(await answers(tunnel, { ...own, tunnel_id: "1" }, "Z".repeat(40)), [403, 9109]);
    assert.deepEqual(await answers("GET /accounts/:account_id/cfd_tunnel/:tunnel_id", { ...own, tunnel_id: "1" }), [404, 7003]);
  } finally {
    await server.close();
  }
});

/** A row whose older side no generated test can find an effect of: it shows what never changes, or refuses all the same. */
const isEmptyByNature = ({ effect }: Deprecation): boolean =>
  effect.kind === "protocol_rule" ||
  (effect.kind === "omit_response_fields" && effect.fields.every(({ value }) => "constant" in value)) ||
  (effect.kind === "legacy_alias" && effect.fields.length === 0);

test("SPEC 9: a row whose older behaviour is a constant or a refusal says why", () => {
  for (const row of DEPRECATIONS) if (isEmptyByNature(row)) assert.ok((row.hollow ?? "").length > 20, `${row.id} needs \`hollow\``);
  const other = DEPRECATIONS.filter((row) => row.hollow !== undefined && !isEmptyByNature(row));
  // The stories above show that there is nothing behind these.
  for (const { id, effect } of other) assert.equal(effect.kind, "endpoint_gone", id);
});

test("the list of rows without an implementation is fixed and only gets shorter", () => {
  assert.deepEqual(
    DEPRECATIONS.flatMap(({ id, hollow }) => (hollow === undefined ? [] : [id])),
    ["dns-record-locked", "tls-chacha20-drafts", "http-two-lengths", "billing"],
  );
});
