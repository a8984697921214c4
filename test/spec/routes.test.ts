import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fc } from "../support/property.ts";
import { Compile } from "typebox/compile";
import type { Route } from "#api/route.ts";
import { ROUTES } from "#api/routes/table.ts";
import { PERMISSION_GROUPS } from "#model/access/permission-groups.ts";
import { type Answer, type ApiServer, ask, startApi } from "../support/api-server.ts";
import { type Planted, plant } from "../support/planted.ts";
import { routeFixtures } from "./route-fixtures.ts";

/** Every row of the route table, through a listening server and a real database. */
describe("the route table", () => {
  let server: ApiServer;
  let planted: Planted;
  before(async () => {
    server = await startApi();
    planted = await plant(server);
  });
  after(() => server.close());

  /** The path of the planted thing; a parameter that nothing was planted for fails. */
  const pathOf = (route: Route): string =>
    route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
      const value = planted.params(route.path)[name];
      assert.ok(value, `test/support/planted.ts plants nothing for :${name} of ${route.path}`);
      return value;
    });
  const bodyOf = (route: Route): { body?: object; form?: Readonly<Record<string, string | File>> } => {
    const { body, form } = routeFixtures(server.account_id)[route.id] ?? {};
    return form ? { form } : body ? { body } : {};
  };
  const call = (route: Route, asking: Parameters<typeof ask>[3]): Promise<Answer> => ask(server, route.method, pathOf(route), asking);
  const alive = async (): Promise<void> => assert.equal((await ask(server, "GET", "/user/tokens/verify")).status, 200);
  /** Data of the first account in the store. */
  const state = async (): Promise<unknown> => {
    const db = server.store.read;
    return Promise.all([
      db.selectFrom("zones").selectAll().execute(),
      db.selectFrom("dns_records").selectAll().execute(),
      db.selectFrom("rulesets").selectAll().execute(),
      db.selectFrom("rule_lists").selectAll().execute(),
      db.selectFrom("rule_list_items").selectAll().execute(),
      db.selectFrom("gateways").selectAll().execute(),
      db.selectFrom("gateway_objects").selectAll().execute(),
      db.selectFrom("gateway_domains").selectAll().execute(),
      db.selectFrom("access_apps").selectAll().execute(),
      db.selectFrom("tunnels").selectAll().execute(),
      db.selectFrom("custom_certificates").selectAll().execute(),
      db.selectFrom("tokens").selectAll().execute(),
      db.selectFrom("memberships").selectAll().execute(),
      db.selectFrom("zone_dnssec").selectAll().execute(),
      db.selectFrom("transfer_objects").selectAll().execute(),
      db.selectFrom("zone_transfers").selectAll().execute(),
      db.selectFrom("custom_name_servers").selectAll().execute(),
    ]);
  };

  test("every route has a fixture, and every fixture a route", () => {
    assert.deepEqual(Object.keys(routeFixtures("")).sort(), ROUTES.map(({ id }) => id).sort());
  });

  test("ids and paths are unique", () => {
    assert.equal(new Set(ROUTES.map(({ id }) => id)).size, ROUTES.length);
    assert.equal(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)).size, ROUTES.length);
  });

  test("routes with a Read permission group do not write", () => {
    const open = ROUTES.filter(({ method, permissions }) => method !== "GET" && permissions.some((group) => group.endsWith(" Read")));
    // These answer a question that is too long for an address.
    assert.deepEqual(
      open.map(({ id }) => id),
      [
        "deprecation-rehearsals-create",
        "dns-query",
        "zone-rulesets-trace",
        "zone-rulesets-expressions-check",
        "zone-rulesets-expressions-matches",
        "account-rulesets-trace",
        "account-rulesets-expressions-check",
        "zone-rulesets-exceptions-from-event",
        "sensitive-data-scan",
      ],
    );
  });

  for (const route of ROUTES) {
    const name = `${route.method} ${route.path}`;

    test(`${name}: without credentials it gives 400 and 9106`, async () => {
      const answer = await call(route, { token: null, ...bodyOf(route) });
      assert.deepEqual([answer.status, answer.body.errors[0].code], [400, 9106]);
    });

    if (route.permissions.length > 0) {
      test(`${name}: with a token that lacks the permission it gives 403 and 10000, and names what suffices`, async () => {
        const names = PERMISSION_GROUPS.map((group) => group.name).filter((group) => !route.permissions.includes(group));
        const answer = await call(route, { token: await planted.tokenHolding(names), ...bodyOf(route) });
        const [{ code, message }] = answer.body.errors;
        assert.deepEqual([answer.status, code], [403, 10000]);
        assert.equal(message, `Authentication error: the credential needs ${route.permissions.join(" or ")}.`);
      });
    }

    test(`${name}: another tenant reads nothing and changes nothing`, async () => {
      const earlier = await state();
      const answer = await call(route, { token: planted.strangerToken, ...bodyOf(route) });
      // Objects not named in the path are the stranger's own: an empty list, or an own object.
      const own = !route.path.includes(":");
      if (own) assert.ok([200, 400, 403, 404, 409, 410].includes(answer.status), answer.text);
      else assert.ok([403, 404].includes(answer.status), answer.text);
      const absent = answer.text.replaceAll(pathOf(route), "");
      for (const secret of planted.secrets) assert.ok(!absent.includes(secret), `${secret} in ${answer.text}`);
      if (route.id !== "user-edit" && route.id !== "accounts-create") assert.deepEqual(await state(), earlier);
    });

    if (route.path.includes(":zone_id") || route.path.includes(":account_id")) {
      test(`${name}: another tenant's object gives the same error as one that does not exist`, async () => {
        const foreign = await call(route, { token: planted.strangerToken, ...bodyOf(route) });
        const scope = route.path.includes(":zone_id") ? "zone_id" : "account_id";
        const nowhere = pathOf(route).replace(planted.params(route.path)[scope] ?? "", "0".repeat(32));
        const absent = await ask(server, route.method, nowhere, { token: planted.strangerToken, ...bodyOf(route) });
        assert.deepEqual([foreign.status, foreign.body], [absent.status, absent.body]);
      });
    }

    if (route.method !== "GET") {
      test(`${name}: a body that is not JSON gives 400`, async () => {
        for (const raw of ['{"name":', "\u0000", "{'a':1}", "[1,]", "nonsense"]) {
          const answer = await call(route, { raw });
          // Removed routes answer before the body is read.
          const gone = routeFixtures("")[route.id]?.status === 410;
          // So do those that take no token.
          const isForTokens = route.credentials?.includes("token") !== false;
          const expected = gone ? [410, 10410] : isForTokens ? [400, 6007] : [403, 10440];
          assert.deepEqual([answer.status, answer.body.errors[0].code], expected, raw);
        }
        await alive();
      });
    }

    if (route.body) {
      test(`${name}: a body of the wrong type gives a 4xx`, async () => {
        const other = "type" in (route.body ?? {}) && (route.body as { type?: unknown }).type === "array" ? "{}" : "[]";
        for (const raw of [other, "null", '"text"', "1", "true"]) {
          const answer = await call(route, { raw });
          assert.ok(answer.status >= 400 && answer.status < 500, `${raw}: ${answer.text}`);
          assert.ok(answer.body.errors[0].message.length > 0);
        }
      });
    }
  }
});

/** A separate server, because these calls change it. */
describe("the route table with valid requests", () => {
  let server: ApiServer;
  let planted: Planted;
  before(async () => {
    server = await startApi();
    planted = await plant(server);
  });
  after(() => server.close());

  const deletions = ROUTES.filter(({ method }) => method === "DELETE");
  for (const route of [...ROUTES.filter(({ method }) => method !== "DELETE"), ...deletions.toReversed()]) {
    test(`${route.method} ${route.path} (${route.id}) responds as its schema says`, async () => {
      const ruleIds = { zone: planted.params("/zones/")["rule_id"] ?? "", account: planted.params("/accounts/")["rule_id"] ?? "" };
      const known = planted.params("/accounts/");
      const fixture = routeFixtures(server.account_id, ruleIds, known["dataset_id"], {
        webhook: known["webhook_in_use"] ?? "",
        policy: known["policy_id"] ?? "",
        silence: known["silence_id"] ?? "",
      })[route.id];
      const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => planted.params(route.path)[name] ?? "");
      const answer = await ask(server, route.method, path + (fixture?.query ?? ""), {
        token: fixture?.asAccount ? planted.accountToken : server.token,
        ...(fixture?.body ? { body: fixture.body } : {}),
        ...(fixture?.form ? { form: fixture.form } : {}),
      });
      assert.equal(answer.status, fixture?.status ?? route.status ?? 200, answer.text);
      if (answer.status >= 300) return;
      if (answer.status === 204) return assert.equal(answer.text, "");
      const shape = Compile(route.result);
      if (route.paging === "raw") {
        const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
        assert.ok(type === route.media_type || (route.media_type?.endsWith("/*") && type.startsWith(route.media_type.slice(0, -1))), type);
        return assert.deepEqual(shape.Errors(answer.text), []);
      }
      const items: unknown[] = route.paging === "one" ? [answer.body.result] : answer.body.result;
      for (const item of items) assert.deepEqual(shape.Errors(item), [], JSON.stringify(item));
      assert.equal("result_info" in answer.body, route.paging === "page" || route.paging === "cursor");
    });
  }
});

/** Any input gets a proper answer. */
describe("the route table with random bodies", () => {
  let server: ApiServer;
  let planted: Planted;
  before(async () => {
    server = await startApi();
    planted = await plant(server);
  });
  after(() => server.close());

  const names = [
    "name",
    "type",
    "content",
    "ttl",
    "proxied",
    "data",
    "rules",
    "kind",
    "phase",
    "policies",
    "effect",
    "resources",
    "id",
    "status",
    "paused",
    "action",
    "expression",
    "condition",
    "expires_on",
    "tags",
    "comment",
    "settings",
    "account",
    "plan",
    "position",
    "__proto__",
    "constructor",
  ];
  const values = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom("A", "CNAME", "SRV", "zone", "@", "example.com", "\u0000", "*"),
  );
  const noise = fc.dictionary(
    fc.constantFrom(...names),
    fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        values,
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("any"), { maxKeys: 3 }),
      ),
    })).any,
    { maxKeys: 6 },
  );

  for (const route of ROUTES.filter(({ body }) => body !== undefined)) {
    test(`property: ${route.method} ${route.path} never gives a 5xx`, async () => {
      await fc.assert(
        fc.asyncProperty(noise, async (body) => {
          const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => planted.params(route.path)[name] ?? "");
          const answer = await ask(server, route.method, path, { body });
          assert.ok(answer.status < 500, `${answer.status} ${answer.text}`);
          assert.equal(typeof answer.body.success, "boolean");
        }),
        { numRuns: 15 },
      );
    });
  }
});
