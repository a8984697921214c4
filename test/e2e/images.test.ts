import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import sharp from "sharp";
import { makeBackup } from "#app/backup/make-backup.ts";
import { restoreBackup } from "#app/backup/restore-backup.ts";
import { systemClock } from "#kernel/clock.ts";
import { api, type Selvedge, startSelvedge } from "../support/selvedge.ts";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
}

/** One request to the edge for a name of the zone. */
const ask = (selvedge: Selvedge, method: string, path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(selvedge.ready.http);
    const sent = request({ port, host: "127.0.0.1", method, path, headers: { host: "www.pictures.test", ...headers } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => void pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(pieces) }));
    });
    sent.on("error", reject);
    sent.end(body);
  });

async function formOf(bytes: Buffer): Promise<{ type: string; body: Buffer }> {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(bytes)], "a.jpg"));
  const made = new Response(form);
  return { type: made.headers.get("content-type") ?? "", body: Buffer.from(await made.arrayBuffer()) };
}

const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

test(
  "images are delivered and received by the edge at names of the account's zones, and survive kill -9",
  { timeout: 300_000 },
  async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), "selvedge-images-"));
    t.after(() => rm(dataDir, { recursive: true, force: true }));
    const origin = createServer((_request, response) => response.writeHead(404).end("the origin")).listen(0, "127.0.0.1");
    await new Promise((resolve) => origin.once("listening", resolve));
    t.after(() => {
      origin.closeAllConnections();
      origin.close();
    });
    const args = ["--edge-origin-port", String((origin.address() as AddressInfo).port), "--images-url", "https://www.pictures.test"];
    let selvedge = await startSelvedge({ dataDir, args });
    t.after(() => selvedge.kill());
    const { token = "", account_id: account } = selvedge.ready;
    const call = async (method: string, path: string, body?: object): Promise<any> => {
      const answer = await api(selvedge, token, method, path, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body.result;
    };
    const zone = await call("POST", "/zones", { account: { id: account }, name: "pictures.test", type: "full" });
    await call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", ttl: 1, proxied: true });
    const images = `/accounts/${account}/images`;

    const photo = await sharp({
      create: { width: 200, height: 100, channels: 3, background: "#c30", noise: { type: "gaussian", mean: 90, sigma: 30 } },
    })
      .jpeg()
      .toBuffer();
    const upload = async (): Promise<any> => {
      const { type, body } = await formOf(photo);
      const headers = { authorization: `Bearer ${token}`, "content-type": type };
      const answer = await fetch(`${selvedge.ready.api}${images}/v1`, { method: "POST", headers, body: new Uint8Array(body) });
      assert.equal(answer.status, 200, await answer.clone().text());
      return ((await answer.json()) as { result: any }).result;
    };
    const pathOf = (url: string): string => new URL(url).pathname;
    await call("POST", `${images}/v1/variants`, { id: "thumb", options: { fit: "cover", width: 40, height: 40, metadata: "none" } });

    await t.test("a variant comes from the cache as long as it is the same, whole, as a head and in parts", async () => {
      const image = await upload();
      const path = pathOf(image.variants.find((url: string) => url.endsWith("/thumb")));
      const headers = { accept: "image/webp" };
      const first = await ask(selvedge, "GET", path, headers);
      assert.deepEqual([first.status, first.headers["content-type"], first.headers["svc-cache-status"]], [200, "image/webp", "MISS"]);
      const expected = await sharp(photo).resize({ width: 40, height: 40, fit: "cover" }).webp({ quality: 85 }).toBuffer();
      assert.equal(digestOf(first.bytes), digestOf(expected), "the library's own output");
      const second = await ask(selvedge, "GET", path, headers);
      assert.deepEqual([digestOf(second.bytes), second.headers["svc-cache-status"]], [digestOf(expected), "REVALIDATED"]);
      const head = await ask(selvedge, "HEAD", path, headers);
      assert.deepEqual([head.status, head.bytes.length, head.headers["content-length"]], [200, 0, String(expected.length)]);
      const part = await ask(selvedge, "GET", path, { ...headers, range: "bytes=0-3" });
      assert.deepEqual([part.status, part.bytes.toString("latin1")], [206, "RIFF"]);
      const same = await ask(selvedge, "GET", path, { ...headers, "if-none-match": String(first.headers["etag"]) });
      assert.deepEqual([same.status, same.bytes.length], [304, 0]);
      const other = await ask(selvedge, "GET", path, { accept: "image/png" });
      assert.equal(other.headers["content-type"], "image/jpeg", "the cache keeps formats apart");
      await call("PATCH", `${images}/v1/variants/thumb`, { options: { width: 30, height: 30 } });
      assert.equal((await sharp((await ask(selvedge, "GET", path, headers)).bytes).metadata()).width, 30);
      await call("PATCH", `${images}/v1/${image.id}`, { requireSignedURLs: true });
      assert.equal((await ask(selvedge, "GET", path, headers)).status, 403, "it needs a signature at once");
      await call("DELETE", `${images}/v1/${image.id}`);
      assert.equal((await ask(selvedge, "GET", path, headers)).status, 404, "deleted images end at once");
    });

    await t.test("an upload URL works at the edge, after the zone's rules", async () => {
      const { type, body } = await formOf(photo);
      const headers = { "content-type": type, "content-length": String(body.length) };
      const form = new FormData();
      form.set("id", "from-the-edge");
      const made = await fetch(`${selvedge.ready.api}${images}/v2/direct_upload`, {
        ...{ method: "POST", headers: { authorization: `Bearer ${token}` }, body: form },
      });
      const { uploadURL } = ((await made.json()) as { result: any }).result;
      const rules = `/zones/${zone.id}/rulesets/phases/http_request_firewall_custom/entrypoint`;
      await call("PUT", rules, { rules: [{ action: "block", expression: 'http.request.method eq "POST"' }] });
      assert.equal((await ask(selvedge, "POST", pathOf(uploadURL), headers, body)).status, 403);
      await call("PUT", rules, { rules: [] });
      const taken = await ask(selvedge, "POST", pathOf(uploadURL), headers, body);
      assert.deepEqual([taken.status, JSON.parse(taken.bytes.toString()).result?.id], [200, "from-the-edge"]);
      assert.equal((await ask(selvedge, "POST", pathOf(uploadURL), headers, body)).status, 410);
    });

    await t.test("a zone has the images of its own account only", async () => {
      const foreign = `/cdn-cgi/imagedelivery/${Buffer.alloc(16, 7).toString("base64url")}/a/public`;
      assert.equal((await ask(selvedge, "GET", foreign)).bytes.toString(), "the origin");
    });

    await t.test("the API's own address has them without a zone", async () => {
      const image = await upload();
      const answer = await fetch(`${new URL(selvedge.ready.api).origin}${pathOf(image.variants[0])}`);
      assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "image/jpeg"]);
      await answer.arrayBuffer();
    });

    await t.test("kill -9 after the answer: the image and its file are there", async () => {
      const ids = await Promise.all(Array.from({ length: 4 }, async () => (await upload()).id as string));
      await selvedge.kill();
      selvedge = await startSelvedge({ dataDir, args });
      for (const id of ids) {
        const answer = await fetch(`${selvedge.ready.api}${images}/v1/${id}/blob`, { headers: { authorization: `Bearer ${token}` } });
        assert.equal(digestOf(Buffer.from(await answer.arrayBuffer())), digestOf(photo));
      }
    });
    await t.test("a backup has the files, and a restored directory delivers them", async () => {
      const image = await upload();
      const folder = await mkdtemp(join(tmpdir(), "selvedge-images-backup-"));
      t.after(() => rm(folder, { recursive: true, force: true }));
      const [archive, restored] = [join(folder, "backup.tar.gz"), join(folder, "restored")];
      const common = { controlPath: join(dataDir, "control.db"), lock: null, version: "0", clock: systemClock };
      await makeBackup({ ...common, dataDir, file: archive });
      await selvedge.stop();
      await restoreBackup({ file: archive, dataDir: restored, key: null, clock: systemClock });
      selvedge = await startSelvedge({ dataDir: restored, args });
      const shown = await ask(selvedge, "GET", pathOf(image.variants[0]));
      assert.deepEqual([shown.status, shown.headers["content-type"]], [200, "image/jpeg"]);
    });
    await selvedge.stop();
  },
);
