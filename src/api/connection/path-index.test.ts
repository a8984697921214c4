import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { test } from "node:test";
import Fastify from "fastify";
import { fc } from "../../../test/support/property.ts";
import { createPathIndex } from "./path-index.ts";

const PATHS = [
  "/zones",
  "/zones/:zone_id",
  "/zones/subscriptions",
  "/zones/:zone_id/settings",
  "/zones/:zone_id/settings/:setting",
  "/zones/:zone_id/settings/ssl/recommendation",
  "/zones/ended/:name/list",
  "/accounts/:account_id/:kind/:id",
  "/accounts/:account_id/gateways/:id/logs",
];
const rows = PATHS.flatMap((path) => ["GET", "POST"].map((method) => ({ method, path })));
const find = createPathIndex("/v4", rows);

const PART = fc.oneof(
  fc.constantFrom("zones", "accounts", "settings", "ssl", "recommendation", "subscriptions", "ended", "gateways", "logs", "list", "v4"),
  fc.constantFrom(
    "",
    "%73ettings",
    "a%2Fb",
    "a%20b",
    "%C3%A9",
    "%25",
    "%2573sl",
    ":zone_id",
    "a;b",
    "a+b",
    ".",
    "x".repeat(256),
    "x".repeat(257),
  ),
  fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom(..."ab%2Fe:*-") }),
);
const VALUE = fc.oneof(PART, fc.constantFrom("one", "two"));
/** A path of the table with values in it, or any other. */
const KNOWN = fc.tuple(fc.constantFrom(...PATHS), fc.array(VALUE, { minLength: 3, maxLength: 3 })).map(([path, values]) =>
  path
    .slice(1)
    .split("/")
    .map((part, at) => (part.startsWith(":") ? (values[at % 3] ?? "") : part)),
);
const TARGET = fc
  .record({
    parts: fc.oneof(KNOWN, fc.array(PART, { maxLength: 6 })),
    end: fc.constantFrom("", "", "/", "//"),
    query: fc.constantFrom("", "?a=/b", "?", "#x", "?a#b"),
    origin: fc.constantFrom("", "", "", "http://example.com"),
  })
  .map(({ parts, end, query, origin }) => `${origin}/v4/${parts.join("/")}${end}${origin === "" ? query : ""}`);

test("a request reaches the row that the framework's own router finds", async (t) => {
  const app = Fastify({
    frameworkErrors: (_error, _request, reply) => void reply.hijack().raw.writeHead(404).end(),
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 256 },
  });
  for (const { method, path } of rows)
    app.route({ method, url: `/v4${path}`, handler: async ({ params }) => JSON.stringify({ row: `${method} ${path}`, params }) });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  t.after(() => {
    agent.destroy();
    return app.close();
  });
  const answer = (method: string, path: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      request({ port, agent, method, path }, (response) => {
        if (response.statusCode === 200) return resolve(json(response));
        response.resume();
        resolve(null);
      })
        .on("error", reject)
        .end();
    });
  let found = 0;
  await fc.assert(
    fc.asyncProperty(TARGET, fc.constantFrom("GET", "POST", "HEAD", "PUT"), async (target, method) => {
      const own = find(method, target);
      // The answer to HEAD has no body.
      const theirs = await answer(method === "HEAD" ? "GET" : method, target);
      if (theirs !== null) found++;
      assert.deepEqual(own === null ? null : { row: `${own.row.method} ${own.row.path}`, params: own.params }, theirs, target);
    }),
    { numRuns: 400 },
  );
  assert.ok(found > 50, `${found} were found`);
});
