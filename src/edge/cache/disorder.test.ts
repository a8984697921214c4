import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { test } from "node:test";
import { httpOrigin, rawClient, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";

/** Pseudo-random numbers below `n`, the same ones for the same seed. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

type Pick = <T>(...values: readonly [T, ...T[]]) => T;

/** Answers with one letter repeated, by length or in chunks; or breaks off, fails, or confirms with 304. */
function answer(pick: Pick, req: IncomingMessage, res: ServerResponse): void {
  const control = pick(
    "max-age=600",
    "max-age=600",
    "max-age=60, stale-while-revalidate=600",
    "max-age=60, stale-if-error=600",
    "no-cache",
    "private",
  );
  const fields: Record<string, string> = { "Cache-Control": control, ETag: '"x"', ...pick({}, {}, { Age: "100" }, { Vary: "X-V" }) };
  if (req.headers["if-none-match"] !== undefined && pick(true, false)) return void res.writeHead(304, fields).end();
  const body = pick("a", "b", "c", "d").repeat(pick(0, 10, 5_000, 70_000, 300_000, 900_000));
  const how = pick("length", "length", "length", "chunks", "chunks", "half", "reset", "500");
  if (how === "reset") return void req.socket.destroy();
  if (how === "500") return void res.writeHead(500).end("an error");
  res.writeHead(200, how === "length" ? { ...fields, "Content-Length": String(body.length) } : fields);
  if (how !== "half") return void setTimeout(() => res.end(body), pick(0, 1, 5));
  res.write(body.slice(0, body.length >> 1));
  setTimeout(() => (pick(true, false) ? res.destroy() : res.end(body.slice(body.length >> 1))), 3);
}

/** A visitor who may request parts, stop reading, leave, or change a resource. */
async function visit(edge: TestEdge, pick: Pick): Promise<void> {
  const client = rawClient(edge.http);
  if (pick(true, false, false, false)) client.socket.pause();
  const method = pick("GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", pick("GET", "GET", "GET", "PUT"));
  const fields = pick("X-V: 1\r\n", "X-V: 2\r\n", "", 'If-None-Match: "x"\r\n', `Range: bytes=${pick(0, 7, 999)}-${pick(8, 4_000)}\r\n`);
  const path = `/${pick(1, 2, 3, 4, 5, 6, 7, 8, 9)}.zip`;
  client.send(`${method} ${path} HTTP/1.1\r\nHost: www.example.com\r\n${fields}Connection: close\r\n\r\n`);
  await sleep(pick(0, 1, 4));
  if (pick(true, false, false, false, false)) return void client.socket.destroy();
  client.socket.resume();
  const text = await client.closed();
  const end = text.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)\r?$/im.exec(text.slice(0, end))?.[1];
  if (length === undefined || method !== "GET" || !/^HTTP\/1\.1 20[06]/.test(text)) return;
  const body = text.slice(end + 4);
  // A shorter body is visibly broken; no body mixes two responses.
  assert.ok(body.length <= Number(length), `${body.length} bytes of ${length}`);
  assert.match(body, /^(.?)\1*$/);
}

for (const seed of [1, 2, 12]) {
  test(`under concurrent clients, origin changes and purges, every client gets an unmixed body and the edge releases everything (seed ${seed})`, async (t) => {
    const next = numbers(seed);
    const pick: Pick = (...values) => values[next(values.length)]!;
    const directory = mkdtempSync(join(tmpdir(), "selvedge-cache-"));
    const origin = await httpOrigin((req, res) => answer(pick, req, res));
    const cacheDisk = { directory, bytesMax: 6_000_000 };
    const edge = await startEdge(siteOps(origin.port), { cacheMemoryBytesMax: 2_000_000, cacheDisk }, { cacheWaitMs: 300 });
    t.after(() => {
      origin.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const visits = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) await visit(edge, pick);
    };
    await Promise.all(Array.from({ length: 12 }, () => visits(20)));
    edge.replica.apply([{ kind: "purge", id: "zone", value: { count: 1, recent: [{ by: "hosts", values: ["www.example.com"] }] } }]);
    await Promise.all(Array.from({ length: 12 }, () => visits(10)));
    edge.replica.apply([{ kind: "purge", id: "zone", value: { count: 2, recent: [] } }]);
    await edge.close();
    assert.deepEqual(edge.errors, []);
    assert.deepEqual(
      readdirSync(directory).filter((name) => name !== "purges"),
      [],
    );
  });
}
