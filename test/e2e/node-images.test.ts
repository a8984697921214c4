import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import sharp from "sharp";
import { accountHash } from "#kernel/net/image-urls.ts";
import { succeed } from "../support/api.ts";
import { startFleet } from "../support/fleet.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nats-server") || toolOrSkip("postgres");
const HOST = "www.pictures.test";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

test("an edge on a node delivers and receives images, and control decides at each request", { skip }, async (t) => {
  const world = await startFleet(t);
  const { call, account } = world;
  const visitors: string[] = [];
  const counted = createServer((asked, answer) => {
    // Control, as nodes on other machines reach it: through a server that shows what crosses.
    visitors.push(`${asked.method} ${JSON.stringify(asked.headers)}`);
    const passed = request(new URL(asked.url ?? "", world.origin), {
      method: asked.method,
      headers: { ...asked.headers, host: "127.0.0.1" },
    });
    passed.on("response", (found) => found.pipe(answer.writeHead(found.statusCode ?? 0, found.headers)));
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(counted, "listening");
  t.after(() => {
    counted.closeAllConnections();
    counted.close();
  });
  const { port } = counted.address() as AddressInfo;
  const node = await world.start(await world.join("fra-1", "edge"), { SELVEDGE_IMAGES_CONTROL: `http://127.0.0.1:${port}` });

  const ask = async (path: string, headers: Record<string, string> = {}, method = "GET", body?: Buffer): Promise<Reply> => {
    const asked = request(new URL(path, node.ready.http), { method, headers: { host: HOST, ...headers }, agent: false });
    asked.end(body);
    const [answer] = await once(asked, "response");
    const pieces: Buffer[] = [];
    for await (const piece of answer) pieces.push(piece as Buffer);
    return { status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(pieces) };
  };
  const { id: zone } = await succeed(call("POST", "/zones", { name: "pictures.test", account: { id: account } }));
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  const images = `/accounts/${account}/images`;
  const form = async (path: string, fields: Record<string, string | Blob>): Promise<any> => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const sent = await fetch(`${world.origin}/client/v4${path}`, {
      ...{ method: "POST", headers: { authorization: `Bearer ${world.token}` }, body },
    });
    return ((await sent.json()) as { result: unknown }).result;
  };
  const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: "red" } })
    .png()
    .toBuffer();

  // A visitor uploads at the node's edge.
  const { uploadURL } = await form(`${images}/v2/direct_upload`, { id: "one" });
  const upload = new FormData();
  upload.set("file", new Blob([new Uint8Array(picture)]), "one.png");
  const written = new Response(upload);
  const type = { "content-type": written.headers.get("content-type") ?? "" };
  const bytes = Buffer.from(await written.arrayBuffer());
  const uploadPath = new URL(uploadURL as string).pathname;
  assert.equal((await ask(uploadPath, type, "POST", bytes)).status, 200);
  assert.equal((await ask(uploadPath, type, "POST", bytes)).status, 410);

  const [address] = (await succeed(call("GET", `${images}/v1/one`))).variants as string[];
  const path = new URL(address ?? "").pathname;
  const first = await ask(path, { accept: "image/webp", cookie: "session=secret", authorization: "Bearer secret" });
  assert.deepEqual([first.status, first.headers["content-type"]], [200, "image/webp"]);
  assert.equal((await sharp(first.bytes).metadata()).width, 40);
  const again = await ask(path, { accept: "image/webp", "if-none-match": String(first.headers["etag"]) });
  assert.equal(again.status, 304);
  assert.ok(!visitors.join().includes("secret"), "credentials of visitors stay on the node");

  // Signatures.
  await succeed(call("PATCH", `${images}/v1/one`, { requireSignedURLs: true }));
  assert.equal((await ask(path)).status, 403, "a change counts at once");
  const { keys } = await succeed(call("PUT", `${images}/v1/keys/main`));
  const query = `exp=${Math.floor(Date.now() / 1000) + 600}`;
  const signature = createHmac("sha256", keys[0].value).update(`${path}?${query}`).digest("hex");
  assert.equal((await ask(`${path}?${query}&sig=${signature}`)).status, 200);
  assert.equal((await ask(`${path}?${query}0&sig=${signature}`)).status, 403);

  // Others' accounts, other paths.
  const foreign = await ask(path.replace(accountHash(account), accountHash("f".repeat(32))));
  assert.ok(foreign.status > 520, "paths of other accounts are the origin's, and nothing listens there");
  await succeed(call("DELETE", `${images}/v1/one`));
  assert.equal((await ask(path)).status, 404);

  counted.closeAllConnections();
  counted.close();
  const away = await ask(path);
  assert.deepEqual([away.status, JSON.parse(away.bytes.toString()).errors[0].code], [503, 5502]);
});
