import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Route } from "#api/route.ts";
import { ROUTES } from "#api/routes/table.ts";
import { ROLES } from "#model/access/membership.ts";
import { PLANS } from "#model/zones/plan.ts";
import { PROFILES } from "#rules/detectors/catalog/profiles.ts";
import { type Answer, type ApiServer, ask, startApi } from "../support/api-server.ts";
import { PLAIN_GATEWAY } from "../support/plain-gateway.ts";
import { type Planted, plant } from "../support/planted.ts";
import { routeFixtures } from "./route-fixtures.ts";

/**
 * A tenant sends, to its own zone, account and gateway, the identifiers of another tenant's things: in each field of each body and each query
 * of the route table that is named like a reference. Every answer is the same as for identifiers of nothing, and the other tenant's
 * rows stay as they were. Paths, streams, and some places that need more around them, are in tenants.test.ts.
 */

let server: ApiServer;
let planted: Planted;
let zone = "";
before(async () => {
  server = await startApi();
  planted = await plant(server);
  const account = { id: planted.strangerAccountId };
  zone = (await asked("POST", "/zones", { body: { name: "stranger.example", account } })).body.result.id;
  const gateways = `/accounts/${account.id}/ai-gateway/gateways`;
  const { gateway_id } = planted.params("/accounts/");
  await asked("POST", gateways, { body: { id: gateway_id, ...PLAIN_GATEWAY } });
});
after(() => server.close());

const asked = (method: string, path: string, asking: Parameters<typeof ask>[3] = {}): Promise<Answer> =>
  ask(server, method, path, { token: planted.strangerToken, ...asking });

/** Parameters that the stranger has things for. */
const OWN = new Set(["zone_id", "account_id", "gateway_id", "phase", "setting_id", "dataset_name", "zone_name", "plan_id"]);
const parametersOf = ({ path }: Route): readonly string[] => Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name);
const pathOf = ({ path }: Route): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) =>
    name === "zone_id" ? zone : name === "account_id" ? planted.strangerAccountId : (planted.params(path)[name] ?? ""),
  );

/** Names of fields that refer to something. */
const REFERENCE = /(?:^|_)(?:ids?|tags?|zones?|accounts?|peers|acl|tsig|webhooks|datasets?|policy|profiles?|rules?|lists?|resources)$/i;

type Path = readonly (string | number)[];
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

const DEPTH_MAX = 8;

/** Paths of the fields that can hold a text and are named like a reference. */
function references(schema: Schema, path: Path = []): readonly Path[] {
  if (path.length > DEPTH_MAX) return [];
  const isReference = REFERENCE.test(String(path.findLast((part) => typeof part === "string") ?? ""));
  return [
    ...(schema.type === "string" && isReference ? [path] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => references(inner, [...path, name])),
    ...(schema.items === undefined ? [] : references(schema.items, [...path, 0])),
    ...[...(schema.anyOf ?? []), ...(schema.allOf ?? [])].flatMap((inner) => references(inner, path)),
  ];
}

/** A copy of the body with the value at the path. */
function withValue(body: unknown, [first, ...rest]: Path, value: string): unknown {
  if (first === undefined) return value;
  if (typeof first === "number") return [withValue(Array.isArray(body) ? body[0] : undefined, rest, value)];
  const object = typeof body === "object" && body !== null && !Array.isArray(body) ? body : {};
  return { ...object, [first]: withValue((object as Readonly<Record<string, unknown>>)[first], rest, value) };
}

/** Identifiers that are the same for all tenants. */
const OF_ALL: ReadonlySet<string> = new Set([...PROFILES, ...ROLES, ...Object.values(PLANS)].map(({ id }) => id).concat("0".repeat(32)));

const IDENTIFIER = /^(?:[0-9a-f]{32}|[0-9a-f-]{36}|[0-9A-HJKMNP-TV-Z]{26}|\d{6,})$/;
/** Times, and what an answer itself has made. */
const MADE = /\d{4}-\d\d-\d\dT[\d:.]+Z|(?<="(?:id|ref|value)":")[^"]+|(?<="(?:version|total_count|count|priority)":"?)\d+/g;

/** An identifier of the same form, and of nothing. */
const absent = (id: string): string => id.slice(0, -12) + id.slice(-12).replace(/\d/g, (digit) => String((Number(digit) + 1) % 10));
const shown = ({ status, text }: Answer, id: string): string => `${status} ${text.replaceAll(id, "NAME").replaceAll(MADE, "MADE")}`;

/** Rows of the first account and its zone. */
async function rowsOfOther(): Promise<readonly string[]> {
  const { account_id = "", zone_id = "" } = planted.params("/zones/");
  const tables = ["zones", "dns_records", "rulesets", "rule_lists", "rule_list_items", "gateways", "gateway_objects"] as const;
  const more = ["custom_hostnames", "custom_certificates", "transfer_objects", "zone_transfers", "notification_policies"] as const;
  const rows: string[] = [];
  for (const table of [...tables, ...more, "logpush_jobs" as const, "tunnels" as const])
    for (const row of await server.store.read.selectFrom(table).selectAll().execute()) {
      const { account_id: account, zone_id: at, owner_id: owner } = row as Readonly<Record<string, unknown>>;
      if ([account, at, owner].some((id) => id === account_id || id === zone_id)) rows.push(`${table} ${JSON.stringify(row)}`);
    }
  return rows.toSorted();
}

test("no field of a body and no query of the route table leads to another tenant's things, or tells that they are there", async (t) => {
  const named = ["/zones/", "/accounts/", "/custom/"].flatMap((path) => Object.values(planted.params(path)));
  const ids = [...new Set([...planted.secrets, ...named])].filter(
    (id): id is string => id !== undefined && IDENTIFIER.test(id) && absent(id) !== id && !OF_ALL.has(id),
  );
  const before = await rowsOfOther();
  let tried = 0;
  const told: string[] = [];
  /** Answers to identifiers of nothing, by place and form. */
  const nothings = new Map<string, string>();
  const compare = async (what: string, id: string, send: (value: string) => Promise<Answer>): Promise<void> => {
    const nothing = absent(id);
    const form = `${what} ${id.length}`;
    const first = nothings.get(form) ?? shown(await send(nothing), nothing);
    nothings.set(form, first);
    const theirs = await send(id);
    tried++;
    for (const secret of planted.secrets)
      if (secret !== id && secret !== "planted") assert.ok(!theirs.text.includes(secret), `${what} with ${id}: ${theirs.text}`);
    // Something that an earlier request has made may be in the way of this one.
    if (shown(theirs, id) === first || shown(theirs, id) === shown(await send(nothing), nothing)) return;
    told.push(`${what} with ${id}: ${theirs.text} instead of ${first}`);
  };
  const isTried = (route: Route): boolean =>
    route.method !== "DELETE" && parametersOf(route).every((name) => OWN.has(name)) && !route.path.endsWith("/tail");
  for (const route of ROUTES.filter(isTried)) {
    const { body, query = "" } = routeFixtures(planted.strangerAccountId)[route.id] ?? {};
    for (const path of references((route.body ?? {}) as Schema))
      for (const id of ids)
        await compare(`${route.id} ${path.join("/")}`, id, (value) =>
          asked(route.method, pathOf(route) + query, { body: withValue(body, path, value) as object }),
        );
    for (const [name] of references((route.query ?? {}) as Schema))
      for (const id of ids)
        await compare(`${route.id} ?${name}`, id, (value) =>
          asked(route.method, `${pathOf(route)}?${name}=${value}`, body === undefined ? {} : { body }),
        );
  }
  t.diagnostic(`${tried} places and identifiers`);
  assert.deepEqual(told, []);
  assert.deepEqual(await rowsOfOther(), before);
  assert.ok(tried > 1_000, String(tried));
});
