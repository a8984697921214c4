import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Ajv, type ErrorObject } from "ajv";
import { ROUTES } from "#api/routes/table.ts";
import { type ApiServer, ask, startApi } from "../support/api-server.ts";
import { type Planted, plant } from "../support/planted.ts";
import { RECORDS_OF_ALL_SHAPES } from "../support/shaped-records.ts";
import { routeFixtures } from "./route-fixtures.ts";

/** Of the vendor's OpenAPI document, made by tools/vendor-shapes.ts: the shape of each answer by our route. */
const { answers, $defs } = JSON.parse(readFileSync(new URL("../golden/vendor-shapes.json", import.meta.url), "utf8"));

interface Exception {
  /** Field of an answer, `*` for each item of a list. */
  readonly field: RegExp;
  readonly is: (value: unknown, parent: Readonly<Record<string, unknown>>) => boolean;
  readonly why: string;
  /** The value that the document requires; without it the field is removed before the response is compared. */
  readonly instead?: unknown;
}

const isNull = (value: unknown): boolean => value === null;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Types whose fields the document requires although the vendor answers without them. */
const PLAIN_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "OPENPGPKEY", "PTR", "TXT"];

const EXCEPTIONS: readonly Exception[] = [
  { field: /\/comment$/, is: isNull, why: "SPEC 2.2: null when absent", instead: "" },
  {
    field: /\/data$/,
    is: (value, { type }) => value === undefined && PLAIN_TYPES.includes(String(type)),
    why: "SPEC 2.2: data belongs to types with several values; the document wants it of a batch's records of any type",
    instead: {},
  },
  { field: /\/owner\/(?:id|email)$/, is: isNull, why: "the vendor answers null for an owner that is a user" },
  { field: /\/tenant(?:_unit)?\/(?:id|name)$/, is: isNull, why: "the vendor answers null without a tenant" },
  {
    field: /\/include_subdomains$/,
    is: (value) => typeof value === "boolean",
    why: "the document has it once as a text, once as a boolean",
  },
  { field: /\/scope\/type$/, is: (value) => value === "zone", why: "the scope of a zone's access rules, which the document leaves out" },
  { field: /\/certificate_authority$/, is: (value) => value === "", why: "SPEC 2.7: an empty text is the default authority" },
  { field: /\/certificate_authority$/, is: (value) => value === "local", why: "the installation's own authority" },
  {
    field: /^(?:\/result(?:\/\*)?)?\/id$/,
    is: (value) => UUID.test(String(value)),
    why: "ids that the vendor's guides show as UUIDs",
    instead: "0",
  },
  { field: /^\/result\/\*$/, is: (value) => isOwnSetting(value), why: "settings that the document does not know" },
];

/** The zone settings that the document lists. */
const SETTINGS = new Set(valuesOfIds(answers["zone-settings-list"]));

function valuesOfIds(shape: any): readonly string[] {
  if (typeof shape !== "object" || shape === null) return [];
  if (typeof shape.$ref === "string") return valuesOfIds($defs[shape.$ref.slice("#/$defs/".length)]);
  return Object.entries<any>(shape).flatMap(([name, inner]) => (name === "id" ? (inner.enum ?? []) : valuesOfIds(inner)));
}

function isOwnSetting(value: unknown): boolean {
  const setting = value as { readonly id?: string; readonly editable?: boolean; readonly value?: unknown };
  return setting.editable !== undefined && setting.value !== undefined && setting.id !== undefined && !SETTINGS.has(setting.id);
}

/** The answer with what is excepted taken out or replaced; notes which exceptions were needed. */
function excepted(value: unknown, used: Set<Exception>, at = ""): unknown {
  if (Array.isArray(value))
    return value.filter((item) => take(`${at}/*`, item, {}, used) === undefined).map((item) => excepted(item, used, `${at}/*`));
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const result: Record<string, unknown> = {};
  for (const [name, field] of Object.entries("type" in fields && "content" in fields ? { data: undefined, ...fields } : fields)) {
    const exception = take(`${at}/${name}`, field, fields, used);
    const kept = exception === undefined ? excepted(field, used, `${at}/${name}`) : exception.instead;
    if (kept !== undefined) result[name] = kept;
  }
  return result;
}

function take(at: string, value: unknown, parent: Readonly<Record<string, unknown>>, used: Set<Exception>): Exception | undefined {
  const found = EXCEPTIONS.find(({ field, is }) => field.test(at) && is(value, parent));
  if (found) used.add(found);
  return found;
}

const said = ({ instancePath, message, params }: ErrorObject): string => `${instancePath} ${message} ${JSON.stringify(params)}`;

/** Each answer as the vendor's document describes it, apart from the exceptions. */
describe("responses have the shapes of the vendor's document", () => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  const used = new Set<Exception>();
  let asked = 0;
  let server: ApiServer;
  let planted: Planted;
  before(async () => {
    server = await startApi();
    planted = await plant(server);
    const zone = planted.params("/zones/")["zone_id"] ?? "";
    const made = await ask(server, "POST", `/zones/${zone}/dns_records/batch`, { body: { posts: RECORDS_OF_ALL_SHAPES } });
    assert.equal(made.status, 200, made.text);
    const ssl = { method: "txt", type: "dv" };
    const hostname = await ask(server, "POST", `/zones/${zone}/custom_hostnames`, { body: { hostname: "third.planted.example", ssl } });
    assert.equal(hostname.status, 200, hostname.text);
  });
  after(() => server.close());

  const deletions = ROUTES.filter(({ method }) => method === "DELETE");
  for (const route of [...ROUTES.filter(({ method }) => method !== "DELETE"), ...deletions.toReversed()]) {
    if (!(route.id in answers)) continue;
    test(`${route.method} ${route.path} (${route.id})`, async () => {
      const known = planted.params("/accounts/");
      const ruleIds = { zone: planted.params("/zones/")["rule_id"] ?? "", account: known["rule_id"] ?? "" };
      const objects = { webhook: known["webhook_in_use"] ?? "", policy: known["policy_id"] ?? "", silence: known["silence_id"] ?? "" };
      const fixture = routeFixtures(server.account_id, ruleIds, known["dataset_id"], objects)[route.id];
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => planted.params(route.path)[name] ?? "");
      const answer = await ask(server, route.method, path + (fixture?.query ?? ""), {
        token: fixture?.asAccount ? planted.accountToken : server.token,
        ...(fixture?.body ? { body: fixture.body } : {}),
        ...(fixture?.form ? { form: fixture.form } : {}),
      });
      // Refusals are compared by the test of the route table.
      if (answer.status >= 300) return;
      asked++;
      const validate = ajv.compile({ ...answers[route.id], $defs });
      validate(excepted(answer.body, used));
      assert.deepEqual((validate.errors ?? []).map(said), [], answer.text);
    });
  }

  test("each exception is needed, and most operations are compared", () => {
    assert.deepEqual(
      EXCEPTIONS.filter((exception) => !used.has(exception)).map(({ field, why }) => `${field.source}: ${why}`),
      [],
    );
    assert.ok(asked > 180, String(asked));
  });
});
