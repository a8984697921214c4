import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, Agent as HttpAgent } from "node:http";
import { get as getSecurely, Agent as HttpsAgent } from "node:https";
import { connect } from "node:net";
import { test, type TestContext } from "node:test";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { loadSocketCalls, type SocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { TeeMessage } from "./detection/scan-plan.ts";
import { BufferUser } from "./detection/shared-buffers.ts";
import { createRingReader } from "./detection/ring.ts";
import { createBodyTee } from "./detection/body-tee.ts";
import { httpOrigin, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";

const calls = await loadSocketCalls();
const LARGE = randomBytes(900_000);
const REQUEST = "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n";

interface Site {
  readonly http: number;
  readonly edge: TestEdge;
  /** The bytes of each body that the detector has received. */
  readonly bodies: Buffer[];
  readonly ended: Set<number>;
  lent(): number;
  free(): number;
}

/** An edge in front of this origin, and a reader that reads like a detector. */
async function site(t: TestContext, socketCalls: SocketCalls | null, answer: Parameters<typeof httpOrigin>[0]): Promise<Site> {
  const origin = await httpOrigin(answer);
  const { port1, port2 } = new MessageChannel();
  const tap = createBodyTee({ port: port1, metrics: createMetrics(), placeIn: calls?.placeIn });
  const { message } = receiveMessageOnPort(port2) as { readonly message: Extract<TeeMessage, { readonly ring: SharedArrayBuffer }> };
  const { ring, lent: memory } = message;
  const bodies: Buffer[] = [];
  const ended = new Set<number>();
  let lent = 0;
  const borrower = memory === null ? null : new BufferUser(memory);
  const counted =
    borrower === null
      ? null
      : Object.assign(Object.create(borrower) as BufferUser, {
          giveBack: (place: number, length: number) => {
            lent++;
            borrower.giveBack(place, length);
          },
        });
  const reader = createRingReader(ring, counted);
  const polling = setInterval(() => {
    reader.read(Number.POSITIVE_INFINITY, ({ job, bytes, isEnd }) => {
      if (job === 0) return;
      bodies[job] = Buffer.concat([bodies[job] ?? Buffer.alloc(0), bytes]);
      if (isEnd) ended.add(job);
    });
  }, 1);
  const scan = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
  const ops = [...siteOps(origin.port), rulesetOp("scan", "zone", "zone", "http_response_firewall_managed", [scan])];
  const edge = await startEdge(ops, { socketCalls, tap });
  t.after(async () => {
    clearInterval(polling);
    await edge.close();
    tap.close();
    port2.close();
    origin.close();
  });
  const free = (): number =>
    memory === null ? 0 : ((new Int32Array(memory, memory.byteLength - 4, 1)[0] as number) >>> 0).toString(2).replaceAll("0", "").length;
  return { http: edge.http, edge, bodies, ended, lent: () => lent, free };
}

const asHtml = { "content-type": "text/html" };

for (const socketCalls of [calls, null]) {
  const way = socketCalls === null ? "Node.js" : "our own loop";

  test(`connections of ${way}: client and detector get what the origin sent, also under concurrent requests`, async (t) => {
    const all = await site(t, socketCalls, (request, response) => {
      if (request.headers["x-chunked"] === undefined) {
        response.writeHead(200, { ...asHtml, "content-length": LARGE.length }).end(LARGE);
        return;
      }
      response.writeHead(200, asHtml);
      for (let at = 0; at < LARGE.length; at += 25_000) response.write(LARGE.subarray(at, at + 25_000));
      response.end();
    });
    for (let round = 0; round < 3; round++) {
      const headers = round === 1 ? { "x-chunked": "1" } : undefined;
      const answers = await Promise.all(Array.from({ length: 4 }, () => getBytes(all.http, headers)));
      for (const answer of answers) assert.ok(LARGE.equals(answer), "what the visitor got");
      await eventually(() => all.ended.size === (round + 1) * 4);
    }
    for (const body of all.bodies.slice(1)) assert.ok(LARGE.equals(body), "what the detector got");
    if (socketCalls === null) return assert.equal(all.lent(), 0);
    assert.ok(all.lent() > 0, "some of it without a copy");
    assert.ok(all.free() >= 31, "every place came back");
  });

  test(`connections of ${way}: if clients disconnect during a body, the detector scans its received part and every slot is returned`, async (t) => {
    const all = await site(t, socketCalls, (_, response) => {
      response.writeHead(200, { ...asHtml, "content-length": LARGE.length * 4 });
      for (let i = 0; i < 3; i++) response.write(LARGE);
    });
    for (let i = 1; i <= 4; i++) {
      const visitor = connect({ port: all.http, host: "127.0.0.1" });
      visitor.write(REQUEST);
      await once(visitor, "data");
      visitor.destroy();
      await eventually(() => all.ended.size === i);
    }
    for (const body of all.bodies.slice(1)) assert.ok(Buffer.concat([LARGE, LARGE]).subarray(0, body.length).equals(body));
    if (socketCalls !== null) assert.ok(all.free() >= 31);
  });
}

test("responses of a plain origin to TLS clients use shared buffers as well", { skip: (calls?.secure ?? null) === null }, async (t) => {
  const all = await site(t, calls, (_, response) => {
    response.writeHead(200, { ...asHtml, "content-length": LARGE.length }).end(LARGE);
  });
  await secure(all);
  for (let visits = 1; visits <= 3; visits++) {
    assert.ok(LARGE.equals(await getBytes(all.edge.https, {}, getSecurely)), "what the visitor got");
    await eventually(() => all.ended.size === visits);
  }
  for (const body of all.bodies.slice(1)) assert.ok(LARGE.equals(body), "what the detector got");
  assert.ok(all.lent() >= 3, "some of each without a copy");
});

test(
  "client and detector get bursts of bodies of many lengths as they were sent",
  { skip: (calls?.secure ?? null) === null },
  async (t) => {
    const [ROUNDS, BURST] = [12, 48];
    // Each byte tells its body and its position.
    const bodyOf = (index: number): Buffer => {
      const length = (index % 4 === 3 ? 90_000 : index % 4 === 2 ? 16_384 : 900) + ((index * 7919) % 5000);
      return Buffer.from(`${index} `.repeat(length).slice(0, length));
    };
    const all = await site(t, calls, (request, response) => {
      const body = bodyOf(Number(request.headers["x-body"]));
      response.writeHead(200, request.headers["x-chunked"] === undefined ? { ...asHtml, "content-length": body.length } : asHtml);
      response.write(body.subarray(0, body.length >> 1));
      response.end(body.subarray(body.length >> 1));
    });
    await secure(all);
    const agents = [new HttpAgent({ keepAlive: true }), new HttpsAgent({ keepAlive: true })] as const;
    t.after(() => agents.forEach((agent) => agent.destroy()));
    for (let round = 0; round < ROUNDS; round++) {
      const burst = Array.from({ length: BURST }, (_, n) => round * BURST + n);
      const answers = burst.map((index) => {
        const headers = { "x-body": `${index}`, ...(index % 5 === 0 && { "x-chunked": "1" }) };
        return index % 3 === 0 ? getBytes(all.edge.https, headers, getSecurely, agents[1]) : getBytes(all.http, headers, get, agents[0]);
      });
      for (const [n, answer] of (await Promise.all(answers)).entries())
        assert.ok(bodyOf(burst[n] as number).equals(answer), "what the visitor got");
    }
    await eventually(() => all.ended.size === ROUNDS * BURST);
    const got = all.bodies.slice(1).toSorted((a, b) => Number.parseInt(a.toString(), 10) - Number.parseInt(b.toString(), 10));
    for (const [index, body] of got.entries()) assert.ok(bodyOf(index).equals(body), `what the detector got of ${index}`);
  },
);

/** Serves the site over TLS as well. */
async function secure({ edge }: Site): Promise<void> {
  const hosts = ["www.example.com"];
  const { chain, privateKey, notAfter } = await createLocalCa({ root: await createRoot(systemClock), clock: systemClock }).issue(hosts);
  const private_key = edge.sealer.seal(privateKey, "certificate:c1");
  edge.replica.apply([{ kind: "certificate", id: "c1", value: { zone_id: "zone", hosts, chain, private_key, not_after: notAfter } }]);
}

function getBytes(
  port: number,
  headers: Record<string, string> = {},
  from: typeof getSecurely = get,
  agent: HttpAgent | false = false,
): Promise<Buffer> {
  const tls = { servername: "www.example.com", rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    from({ port, host: "127.0.0.1", agent, headers: { host: "www.example.com", ...headers }, ...tls }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => void pieces.push(piece));
      response.on("end", () => resolve(Buffer.concat(pieces)));
      response.on("error", reject);
    }).on("error", reject);
  });
}
