import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Op } from "#snapshot/entries.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { exchangeRaw, httpOrigin, rawClient, siteOps, startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { eventually } from "../../../test/support/eventually.ts";

interface Ends {
  after(end: () => unknown): void;
}

interface Site {
  readonly directory: string;
  readonly asked: string[];
  /** Starts an edge on the same directory, after closing the one before. */
  start(options?: { readonly memory?: number; readonly disk?: number; readonly ops?: readonly Op[] }): Promise<TestEdge>;
}

async function site(t: Ends, answer: (req: IncomingMessage, res: ServerResponse) => void): Promise<Site> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-cache-"));
  const asked: string[] = [];
  const origin = await httpOrigin((req, res) => {
    asked.push(req.url ?? "");
    answer(req, res);
  });
  let edge: TestEdge | null = null;
  t.after(async () => {
    await edge?.close();
    origin.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    directory,
    asked,
    start: async ({ memory = 1_000_000, disk = 50_000_000, ops = [] } = {}) => {
      await edge?.close();
      edge = await startEdge([...siteOps(origin.port), ...ops], {
        cacheMemoryBytesMax: memory,
        cacheDisk: { directory, bytesMax: disk },
      });
      return edge;
    },
  };
}

async function get(
  edge: TestEdge,
  path: string,
  fields = "",
): Promise<{ readonly cache: string | undefined; readonly body: string; readonly head: string }> {
  const text = await exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\n${fields}Connection: close\r\n\r\n`);
  const end = text.indexOf("\r\n\r\n");
  return { cache: /svc-cache-status: (\w+)/.exec(text)?.[1], body: text.slice(end + 4), head: text.slice(0, end) };
}

const send = (res: ServerResponse, body: string, fields: Readonly<Record<string, string>> = {}): void =>
  void res.writeHead(200, { "Cache-Control": "max-age=600", "Content-Length": Buffer.byteLength(body), ...fields }).end(body);

const files = (directory: string, ending: string): string[] => readdirSync(directory).filter((name) => name.endsWith(ending));

test("after a restart the cache has the responses that clients requested twice, but not those requested once", async (t) => {
  const { start, asked, directory } = await site(t, (req, res) => send(res, `body of ${req.url}`, { "X-Own": "x", "Cache-Tag": "one" }));
  const first = await start();
  await get(first, "/twice.css");
  await get(first, "/twice.css");
  await get(first, "/once.css");
  const second = await start();
  const twice = await get(second, "/twice.css");
  assert.deepEqual([twice.cache, twice.body], ["HIT", "body of /twice.css"]);
  assert.match(twice.head, /\r\nX-Own: x\r\n/);
  assert.equal((await get(second, "/once.css")).cache, "MISS");
  assert.deepEqual(asked, ["/twice.css", "/once.css", "/once.css"]);
  assert.equal(files(directory, ".json").length, 1);
});

/** Damages to a file, after which its response is fetched again. */
const DAMAGES: readonly (readonly [name: string, damage: (directory: string) => void])[] = [
  ["a description that is cut", (directory) => truncateSync(join(directory, files(directory, ".json")[0]!), 100)],
  ["a description that is empty", (directory) => truncateSync(join(directory, files(directory, ".json")[0]!), 0)],
  ["a description with another byte", (directory) => flip(join(directory, files(directory, ".json")[0]!), 60)],
  ["a body that is cut", (directory) => truncateSync(join(directory, files(directory, ".body")[0]!), 3)],
  ["a body with another byte", (directory) => flip(join(directory, files(directory, ".body")[0]!), 3)],
  ["no body", (directory) => rmSync(join(directory, files(directory, ".body")[0]!))],
  ["a description that was being written", (directory) => writeFileSync(join(directory, `${"0".repeat(24)}.json.new`), "{")],
  ["a body that is a link to another file", (directory) => replaced(directory, ".body", (path) => symlinkSync("/etc/passwd", path))],
  ["a description that is a link to another file", (directory) => replaced(directory, ".json", (path) => symlinkSync("/etc/passwd", path))],
  ["a description that is a directory", (directory) => replaced(directory, ".json", (path) => mkdirSync(path))],
  ["a body without a description", (directory) => writeFileSync(join(directory, `${"0".repeat(24)}.body`), "torn")],
];

function replaced(directory: string, ending: string, make: (path: string) => void): void {
  const path = join(directory, files(directory, ending)[0]!);
  rmSync(path);
  make(path);
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}

for (const [name, damage] of DAMAGES) {
  test(`the edge never serves ${name} from disk, and deletes its files`, async (t) => {
    const { start, directory } = await site(t, (_req, res) => send(res, "the body"));
    const first = await start();
    await get(first, "/a.css");
    await get(first, "/a.css");
    await first.close();
    damage(directory);
    const second = await start();
    assert.equal((await get(second, "/a.css")).body, "the body");
    await second.close();
    assert.ok(files(directory, ".json").length <= 1 && files(directory, ".body").length <= 1 && files(directory, ".new").length === 0);
    for (const ending of [".json", ".body"]) assert.ok(!existsSync(join(directory, `${"0".repeat(24)}${ending}`)));
  });
}

test("a purge by the original URL or by the rewritten URL removes a response, also after a restart", async (t) => {
  const rewrite = rulesetOp("rewrite", "zone", "zone", "http_request_transform", [
    {
      action: "rewrite",
      expression: 'starts_with(http.request.uri.path, "/v")',
      action_parameters: { uri: { path: { value: "/one.css" }, query: { value: "" } } },
    },
  ]);
  const { start, asked } = await site(t, (_req, res) => send(res, "body"));
  let count = 0;
  let ops: readonly Op[] = [rewrite];
  const purge = (path: string): void => {
    const value = { count: ++count, recent: [{ by: "files", values: [`http://www.example.com${path}`] } as const] };
    ops = [rewrite, { kind: "purge", id: "zone", value }];
  };
  for (const [purged, isGone] of [
    ["/v1.css", true],
    ["/v2.css?a=b", true],
    ["/one.css", true],
    ["/v3.css", false],
  ] as const) {
    const edge = await start({ ops });
    for (const path of ["/v1.css", "/v2.css?a=b", "/one.css", "/v1.css"]) assert.equal((await get(edge, path)).body, "body");
    assert.equal((await get(edge, "/v1.css")).cache, "HIT");
    purge(purged);
    edge.replica.apply(ops.slice(1));
    assert.equal((await get(edge, "/v2.css?a=b")).cache, isGone ? "MISS" : "HIT", purged);
  }
  const before = asked.length;
  purge("/v1.css");
  const later = await start({ ops });
  assert.equal((await get(later, "/one.css")).cache, "MISS", "heard of after a restart");
  assert.equal(asked.length, before + 1);
});

test("a purged response stays purged after a restart, whether the purge comes before or after it", async (t) => {
  const { start, directory } = await site(t, (_req, res) => send(res, "body", { "Cache-Tag": "one" }));
  const purge = (count: number): Op => ({ kind: "purge", id: "zone", value: { count, recent: [{ by: "tags", values: ["one"] }] } });
  const warm = async (edge: TestEdge): Promise<void> => {
    await get(edge, "/a.css");
    assert.equal((await get(edge, "/a.css")).cache, "HIT");
  };
  const first = await start();
  await warm(first);
  await first.close();
  const kept = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))] as const);
  const second = await start();
  assert.equal((await get(second, "/a.css")).cache, "HIT");
  second.replica.apply([purge(1)]);
  assert.equal((await get(second, "/a.css")).cache, "MISS");
  await second.close();
  // As if the files had not been removed in time: control does not answer, and the last good copy is older.
  for (const [name, bytes] of kept) if (name !== "purges") writeFileSync(join(directory, name), bytes);
  const third = await start();
  assert.equal((await get(third, "/a.css")).cache, "MISS");
  // Without the purge file, the snapshot tells of the purge.
  await third.close();
  for (const [name, bytes] of kept) writeFileSync(join(directory, name), bytes);
  assert.equal((await get(await start({ ops: [purge(1)] }), "/a.css")).cache, "MISS");
});

test("the cache stores a body that is too large for memory on disk, with a length or in chunks, and sends it block by block", async (t) => {
  const body = Array.from({ length: 40_000 }, (_, i) => `line ${String(i).padStart(8, "0")}\n`).join("");
  const { start, asked, directory } = await site(t, (req, res) => {
    if (req.url === "/length.zip") send(res, body);
    else res.writeHead(200, { "Cache-Control": "max-age=600" }).end(body);
  });
  const edge = await start();
  for (const path of ["/length.zip", "/chunks.zip"]) {
    const first = await get(edge, path);
    assert.equal(first.cache, "MISS");
    await eventually(() => files(directory, ".json").length === (path === "/length.zip" ? 1 : 2));
    const second = await get(edge, path);
    assert.deepEqual([second.cache, second.body === body], ["HIT", true]);
    const part = await get(edge, path, "Range: bytes=200000-200015\r\n");
    assert.deepEqual([part.head.slice(9, 12), part.body], ["206", body.slice(200_000, 200_016)]);
  }
  assert.equal(asked.length, 2);
  const again = await start();
  const third = await get(again, "/chunks.zip");
  assert.deepEqual([third.cache, third.body === body], ["HIT", true]);
  // A block with a wrong checksum ends the response before any of it is sent.
  for (const name of files(directory, ".body")) flip(join(directory, name), 300_000);
  const broken = await get(again, "/chunks.zip");
  assert.ok(broken.body.length < body.length && body.startsWith(broken.body));
  assert.equal((await get(again, "/chunks.zip")).cache, "MISS");
  for (const name of files(directory, ".body")) flip(join(directory, name), 0);
  const anew = await get(again, "/length.zip");
  assert.deepEqual([anew.cache, anew.body.length >= body.length], ["MISS", true]);
});

test("a 304 gives a large body on disk its new header fields", async (t) => {
  const body = "x".repeat(400_000);
  const { start, asked, directory } = await site(t, (req, res) => {
    if (req.headers["if-none-match"] === '"1"') res.writeHead(304, { "Cache-Control": "max-age=600", "X-New": "yes" }).end();
    else send(res, body, { ETag: '"1"', Age: "1000" });
  });
  const edge = await start();
  await get(edge, "/a.zip");
  await eventually(() => files(directory, ".json").length === 1);
  const second = await get(edge, "/a.zip");
  assert.deepEqual([second.cache, second.body.length], ["REVALIDATED", body.length]);
  const third = await get(edge, "/a.zip");
  assert.deepEqual([third.cache, third.body.length, /X-New: yes/.test(third.head)], ["HIT", body.length, true]);
  const fourth = await get(await start(), "/a.zip");
  assert.deepEqual([fourth.cache, fourth.body.length, /X-New: yes/.test(fourth.head)], ["HIT", body.length, true]);
  assert.equal(asked.length, 2);
});

test("a client that disconnects during a large body leaves no file on disk", async (t) => {
  const { start, directory } = await site(t, (_req, res) => {
    res.writeHead(200, { "Cache-Control": "max-age=600", "Content-Length": 400_000 });
    res.write("x".repeat(200_000));
  });
  const edge = await start();
  const client = rawClient(edge.http);
  client.send("GET /a.zip HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
  await client.until(/xxx/);
  client.socket.destroy();
  await eventually(() => files(directory, ".body").length === 0);
  assert.deepEqual(edge.errors, []);
});

test("the cache directory stays within its size limit", async (t) => {
  const { start, directory } = await site(t, (_req, res) => send(res, "x".repeat(20_000)));
  const edge = await start({ disk: 200_000 });
  for (let i = 0; i < 30; i++) {
    await get(edge, `/${i}.css`);
    await get(edge, `/${i}.css`);
  }
  await edge.close();
  const bytes = readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  assert.ok(bytes <= 200_000 && bytes > 100_000, String(bytes));
  // A smaller limit applies to files from before as well.
  await (await start({ disk: 50_000 })).close();
  assert.ok(files(directory, ".json").length <= 2);
});

test("only the server's own user can read cached responses, also in a directory that others can read", async (t) => {
  const { start, directory } = await site(t, (_req, res) => send(res, "the body"));
  chmodSync(directory, 0o755);
  const edge = await start();
  for (const path of ["/a.css", "/a.css", "/b.css", "/b.css"]) await get(edge, path);
  await edge.close();
  const made = readdirSync(directory);
  assert.ok(made.length >= 3, made.join());
  for (const name of made) assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name);
});

test("if its directory is not usable, the cache works in memory and reports one error", async (t) => {
  const origin = await httpOrigin((_req, res) => send(res, "body"));
  const edge = await startEdge(siteOps(origin.port), { cacheDisk: { directory: import.meta.filename, bytesMax: 1_000_000 } });
  t.after(() => Promise.all([edge.close(), origin.close()]));
  await get(edge, "/a.css");
  assert.equal((await get(edge, "/a.css")).cache, "HIT");
  assert.equal(edge.errors.length, 1);
});

test("a write to the URL or a purge during a large body keeps the body out of the cache", async (t) => {
  const held: ServerResponse[] = [];
  const { start, directory } = await site(t, (req, res) => {
    if (req.method !== "GET") return void res.writeHead(204).end();
    res.writeHead(200, { "Cache-Control": "max-age=600", "Content-Length": 400_000 });
    res.write("x".repeat(200_000));
    held.push(res);
  });
  const edge = await start();
  const overtake = [
    () => exchangeRaw(edge.http, "PUT /a.zip HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    async () => edge.replica.apply([{ kind: "purge", id: "zone", value: { count: 1, recent: [] } }]),
  ];
  for (const act of overtake) {
    const client = rawClient(edge.http);
    client.send("GET /a.zip HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
    await client.until(/xxx/);
    await act();
    held.at(-1)!.end("x".repeat(200_000));
    assert.match(await client.closed(), /svc-cache-status: MISS/);
    await eventually(() => files(directory, ".body").length === 0);
  }
  assert.equal(held.length, 2);
});
