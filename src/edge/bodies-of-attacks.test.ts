import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createHash } from "node:crypto";
import { HONEST_REQUESTS } from "#rules/body/testing/honest-bodies.cases.ts";
import { MANAGED } from "#rules/managed/request-rulesets.ts";
import { BYPASSES } from "#rules/managed/testing/bypasses.cases.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;

const digest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The origin answers with the request that it received. */
before(async () => {
  origin = await httpOrigin((req, res) => {
    const pieces: Buffer[] = [];
    req.on("data", (piece: Buffer) => pieces.push(piece));
    req.on("end", () => res.end(`${digest(Buffer.concat(pieces))} ${req.headers["content-encoding"] ?? ""}`));
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const send = (query: string, headers: Readonly<Record<string, readonly string[]>>, body: string | undefined): Promise<string> => {
  const own = Object.entries(headers).flatMap(([name, values]) => values.map((value) => `${name}: ${value}\r\n`));
  const length = body === undefined ? "" : `Content-Length: ${body.length}\r\n`;
  const target = `/${query === "" ? "" : `?${query}`}`;
  const head = `${body === undefined ? "GET" : "POST"} ${target} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n`;
  return exchangeRaw(edge.http, `${head}User-Agent: Mozilla/5.0\r\nAccept-Encoding: identity\r\n${own.join("")}${length}\r\n${body ?? ""}`);
};

const statusOf = (answer: string): number => Number(answer.slice(9, 12));

async function deployed(work: () => Promise<void>): Promise<void> {
  const parameters = { id: MANAGED.id, version: "latest" };
  const rule = { action: "execute", expression: "true", action_parameters: parameters };
  edge.replica.apply([rulesetOp("z", "zone", "zone", "http_request_firewall_managed", [rule])]);
  try {
    await work();
  } finally {
    edge.replica.apply([{ kind: "ruleset", id: "z", value: null }]);
  }
}

test("the managed rules block each known bypass, whatever its framing, encoding or place", async () => {
  await deployed(async () => {
    const passed: string[] = [];
    for (const [name, { query = "", headers = {}, body }] of BYPASSES) {
      // An attack that the edge itself refuses does not pass either.
      const status = statusOf(await send(query, headers, body));
      if (status < 400) passed.push(`${name}: ${status}`);
    }
    assert.deepEqual(passed, []);
  });
});

test("the managed rules let the requests of common programs through with unchanged bodies, also compressed ones", async () => {
  await deployed(async () => {
    for (const { name, types = [], codings = [], body = "" } of HONEST_REQUESTS) {
      const answer = await send("", { "Content-Type": types, "Content-Encoding": codings }, body);
      assert.equal(statusOf(answer), 200, name);
      assert.ok(answer.includes(`${digest(Buffer.from(body, "latin1"))} ${codings.join()}`), name);
    }
  });
});

test("a rule finds an attack after the first 128 KiB of a body, and an event reports a body that is longer than rules inspect", async () => {
  const attack = `q=${encodeURIComponent("1' union select null,null-- ")}`;
  const type = { "Content-Type": ["application/x-www-form-urlencoded"] };
  await deployed(async () => {
    assert.equal(statusOf(await send("", type, `a=${"x".repeat(1_000_000)}&${attack}`)), 403);
    edge.security.length = 0;
    assert.equal(statusOf(await send("", type, `a=${"x".repeat(1_100_000)}&${attack}`)), 200);
  });
  assert.deepEqual(
    edge.security.map(({ rule_description, action }) => [rule_description, action]),
    [["A body that is longer than the part that rules read", "log"]],
  );
});
