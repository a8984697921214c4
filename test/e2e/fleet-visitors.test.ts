import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");
const HOST = "www.visited.example";

interface Visit {
  readonly page: string;
  readonly isResumed: boolean;
  /** The ticket that the edge gave, for the next visit. */
  readonly session: Buffer;
}

/** One request over TLS, which may present the session of an earlier visit. */
async function visit({ ready }: Selvedge, ca: string, path: string, fields = "", session?: Buffer): Promise<Visit> {
  const socket: TLSSocket = connect({
    ...{ host: "127.0.0.1", port: Number(new URL(ready.https).port), servername: HOST, ca },
    ...(session === undefined ? {} : { session }),
  });
  const given = once(socket, "session");
  await once(socket, "secureConnect");
  const isResumed = socket.isSessionReused();
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${HOST}\r\nUser-Agent: test\r\nConnection: close\r\n${fields}\r\n`);
  const page = text(socket);
  const [made] = (await given) as [Buffer];
  return { page: await page, isResumed, session: made };
}

function solve(task: string): number {
  for (let answer = 0; ; answer++) if (createHash("sha256").update(`${task}:${answer}`).digest().readUInt16BE() === 0) return answer;
}

test(
  "a visitor goes from one edge to another with its TLS session and clearance, and a removed node's keys count nowhere",
  { skip },
  async (t) => {
    const origin = createServer((_, res) => void res.end("the site")).listen(0, "127.0.0.1");
    await once(origin, "listening");
    t.after(() => origin.close());
    const world = await startFleet(t);
    const ca = readFileSync(join(world.controlDir, "ca.pem"), "utf8");
    const zone = await succeed(world.call("POST", "/zones", { name: "visited.example", account: { id: world.account } }));
    await succeed(world.call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
    const rule = (action: string, expression: string, more = {}) => ({ action, expression, ...more });
    await succeed(
      world.call("PUT", `/zones/${zone.id}/rulesets/phases/http_request_origin/entrypoint`, {
        rules: [rule("route", "true", { action_parameters: { origin: { port: (origin.address() as AddressInfo).port } } })],
      }),
    );
    await succeed(
      world.call("PUT", `/zones/${zone.id}/rulesets/phases/http_request_firewall_custom/entrypoint`, {
        rules: [rule("managed_challenge", "true")],
      }),
    );
    const [fra, ams] = await Promise.all(["fra-1", "ams-1"].map(async (name) => world.start(await world.join(name, "edge"))));
    assert.ok(fra !== undefined && ams !== undefined);
    const challenged = /svc-mitigated: challenge|mitigated: challenge/;
    await eventually(async () => challenged.test((await visit(ams, ca, "/")).page));

    const first = await visit(fra, ca, "/");
    assert.equal(first.isResumed, false);
    const task = /\}\)\("([^"]+)",16,/.exec(first.page)?.[1] ?? "";
    const solved = await visit(fra, ca, `/cdn-cgi/challenge?to=%2F&task=${encodeURIComponent(task)}&answer=${solve(task)}`);
    const cookie = /Set-Cookie: ([^;]+);/.exec(solved.page)?.[1];
    assert.ok(cookie, solved.page);
    const moved = await visit(ams, ca, "/", `Cookie: ${cookie}\r\n`, first.session);
    assert.match(moved.page, /^HTTP\/1\.1 200 [^]*the site/);
    assert.equal(moved.isResumed, true);

    await fleetCommand(world.env, "node", "remove", "ams-1");
    // Until the keys have changed, within about two seconds.
    await eventually(async () => !(await visit(fra, ca, "/", "", first.session)).isResumed);
    const refused = await visit(fra, ca, "/", `Cookie: ${cookie}\r\n`, moved.session);
    assert.match(refused.page, challenged);
    assert.equal(refused.isResumed, false);
  },
);
