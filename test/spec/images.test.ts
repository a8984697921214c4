import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createImageHandler } from "#api/images/image-handler.ts";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { putVariant } from "#store/images/image-variants.ts";
import { deleteDraft } from "#store/images/images.ts";
import { type ApiServer, ask, IMAGES_URL, startApi } from "../support/api-server.ts";
import { eventually } from "../support/eventually.ts";
import { TINY_GIF } from "../support/planted-images.ts";

const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const clock = fixedClock(systemClock.nowMs());

let server: ApiServer;
let address: string;
let close: () => void;
let images: string;

before(async () => {
  server = await startApi({ clock });
  images = `/accounts/${server.account_id}/images`;
  const handler = createImageHandler({ control: server.control, failed: (error) => assert.fail(String(error)) });
  const delivery = createServer((request, response) => void handler(request, response)).listen(0, "127.0.0.1");
  await new Promise((resolve) => delivery.once("listening", resolve));
  address = `http://127.0.0.1:${(delivery.address() as AddressInfo).port}`;
  close = () => {
    delivery.closeAllConnections();
    delivery.close();
  };
});
after(async () => {
  close();
  await server.close();
});

const file = (bytes: Buffer = TINY_GIF, name = "a.gif"): File => new File([new Uint8Array(bytes)], name);
const upload = (form: Record<string, string | File>, token?: string) =>
  ask(server, "POST", `${images}/v1`, { form: { file: file(), ...form }, ...(token === undefined ? {} : { token }) });
const made = async (form: Record<string, string | File> = {}): Promise<any> => {
  const answer = await upload(form);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.result;
};
const here = (url: string): string => url.replace(IMAGES_URL, address);
const show = (url: string, headers: Record<string, string> = {}): Promise<Response> => fetch(here(url), { headers });
const code = async (response: Response): Promise<[number, number]> => {
  const { errors } = (await response.json()) as { errors: { code: number }[] };
  return [response.status, errors[0]?.code ?? 0];
};
const refusal = ({ status, body }: { status: number; body: any }): [number, number, string | undefined] => [
  status,
  body.errors[0].code,
  body.errors[0].source?.pointer,
];
const sent = (url: string, bytes: Buffer = TINY_GIF): Promise<Response> => {
  const body = new FormData();
  body.set("file", file(bytes));
  return fetch(here(url), { method: "POST", body });
};
const filesOnDisk = (): number =>
  readdirSync(join(dirname(server.eventsPath), "images"), { recursive: true, withFileTypes: true }).filter((one) => one.isFile()).length;

describe("images of an account", () => {
  test("an upload is shown, listed, counted, downloaded, changed and deleted with its file", async () => {
    const image = await made({ id: "my-image.1", metadata: '{"a":{"b":1}}', creator: "u1", file: file(PNG, "folder/x.png") });
    assert.deepEqual(
      { ...image, uploaded: "" },
      {
        ...{ id: "my-image.1", filename: "x.png", meta: { a: { b: 1 } }, creator: "u1", uploaded: "", requireSignedURLs: false },
        variants: [`${IMAGES_URL}/cdn-cgi/imagedelivery/${Buffer.from(server.account_id, "hex").toString("base64url")}/my-image.1/public`],
      },
    );
    const blob = await fetch(`${server.url}${images}/v1/my-image.1/blob`, { headers: { authorization: `Bearer ${server.token}` } });
    assert.equal(blob.headers.get("content-type"), "image/png");
    assert.equal(Buffer.compare(Buffer.from(await blob.arrayBuffer()), PNG), 0);
    const edited = await ask(server, "PATCH", `${images}/v1/my-image.1`, { body: { metadata: { c: 2 }, requireSignedURLs: true } });
    assert.deepEqual([edited.body.result.meta, edited.body.result.creator, edited.body.result.requireSignedURLs], [{ c: 2 }, "u1", true]);
    assert.equal((await ask(server, "GET", `${images}/v1?creator=u1`)).body.result.images[0].id, "my-image.1");
    const count = (await ask(server, "GET", `${images}/v1/stats`)).body.result.count;
    assert.equal(count.allowed, 100);
    const files = filesOnDisk();
    assert.deepEqual((await ask(server, "DELETE", `${images}/v1/my-image.1`)).body.result, {});
    assert.equal(filesOnDisk(), files - 1);
    assert.equal((await ask(server, "GET", `${images}/v1/stats`)).body.result.count.current, count.current - 1);
    assert.deepEqual(refusal(await ask(server, "GET", `${images}/v1/my-image.1`)), [404, 5404, undefined]);
    assert.deepEqual(await code(await show(image.variants[0])), [404, 5404]);
  });

  test("names, properties and files that cannot be are refused, and leave no file", async () => {
    await made({ id: "taken" });
    const files = filesOnDisk();
    for (const [form, ...expected] of [
      [{ id: "taken" }, 409, 5409, "/id"],
      [{ id: "keys" }, 400, 5400, "/id"],
      [{ id: "a".repeat(256) }, 400, 10400, "/id"],
      [{ id: ".." }, 400, 5400, "/id"],
      [{ id: "a/b" }, 400, 5400, "/id"],
      [{ metadata: "[1]" }, 400, 5400, "/metadata"],
      [{ metadata: "{" }, 400, 5400, "/metadata"],
      [{ metadata: JSON.stringify({ a: "x".repeat(1024) }) }, 400, 5400, "/metadata"],
      [{ requireSignedURLs: "perhaps" }, 400, 10400, "/requireSignedURLs"],
      [{ file: file(Buffer.alloc(0)) }, 400, 5400, "/file"],
      [{ file: "text" }, 415, 5415, undefined],
      [{ url: "https://example.com/a.png" }, 400, 5400, "/url"],
      [{ file: file(Buffer.alloc(10 * 1024 * 1024 + 1, TINY_GIF)) }, 413, 10413, undefined],
    ] as const)
      assert.deepEqual(refusal(await upload(form)), expected, JSON.stringify(form).slice(0, 80));
    assert.equal(filesOnDisk(), files);
  });

  test("lists continue where they ended, in both orders, although images come and go", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) {
      clock.advance(1);
      ids.push((await made({ creator: "pages" })).id);
    }
    for (const order of ["asc", "desc"] as const) {
      const page = async (token?: string) =>
        (
          await ask(
            server,
            "GET",
            `${images}/v2?creator=pages&per_page=10&sort_order=${order}${token === undefined ? "" : `&continuation_token=${token}`}`,
          )
        ).body.result;
      const first = await page();
      const second = await page(first.continuation_token);
      const all = [...first.images, ...second.images].map(({ id }: { id: string }) => id);
      assert.deepEqual(all, order === "asc" ? ids : ids.toReversed());
      assert.equal(second.continuation_token, null);
    }
    const second = (await ask(server, "GET", `${images}/v1?creator=pages&per_page=10&page=2`)).body.result.images;
    assert.deepEqual(
      second.map(({ id }: { id: string }) => id),
      [ids[1], ids[0]],
    );
    assert.deepEqual(refusal(await ask(server, "GET", `${images}/v2?continuation_token=abc`)), [400, 5400, "/continuation_token"]);
  });

  test("a URL is fetched without redirects, and only the content of its answer counts", async (t) => {
    const source = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/logo%20a.gif" }).end();
      else if (request.url === "/page") response.writeHead(200, { "content-type": "image/gif" }).end("<html>");
      else if (request.url === "/endless") {
        const piece = Buffer.alloc(1 << 20);
        const go = (): void => void (response.destroyed || response.write(piece, go));
        go();
      } else response.end(TINY_GIF);
    }).listen(0, "127.0.0.1");
    t.after(() => {
      source.closeAllConnections();
      source.close();
    });
    await new Promise((resolve) => source.once("listening", resolve));
    const base = `http://127.0.0.1:${(source.address() as AddressInfo).port}`;
    const from = (url: string) => ask(server, "POST", `${images}/v1`, { form: { url } });
    assert.equal((await from(`${base}/logo%20a.gif`)).body.result.filename, "logo a.gif");
    assert.deepEqual(refusal(await from(`${base}/moved`)), [400, 5424, "/url"]);
    assert.deepEqual(refusal(await from(`${base}/endless`)), [400, 5424, "/url"]);
    assert.deepEqual(refusal(await from(`${base}/page`)), [415, 5415, undefined]);
    assert.deepEqual(refusal(await from("http://example.com/a.gif")), [400, 5400, "/url"]);
    assert.deepEqual(refusal(await from("file:///etc/passwd")), [400, 5400, "/url"]);
  });

  test("a server that does not answer takes some of the places for fetches, not all", async (t) => {
    const silent = createServer().listen(0, "127.0.0.1");
    t.after(() => silent.close());
    await new Promise((resolve) => silent.once("listening", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const statuses: number[] = [];
    const asked = Array.from({ length: 10 }, async () =>
      statuses.push((await ask(server, "POST", `${images}/v1`, { form: { url } })).status),
    );
    await eventually(() => statuses.length === 2);
    silent.closeAllConnections();
    await Promise.all(asked);
    assert.deepEqual(statuses, [429, 429, ...Array.from({ length: 8 }, () => 400)]);
  });
});

describe("direct uploads", () => {
  const create = async (form: Record<string, string> = {}): Promise<{ id: string; uploadURL: string }> => {
    const answer = await ask(server, "POST", `${images}/v2/direct_upload`, { form: { creator: "", ...form } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body.result;
  };

  test("SPEC 9, 2022-07-01: a URL takes one image, with the properties that it was created with", async () => {
    const { id, uploadURL } = await create({ id: "direct", metadata: '{"k":"v"}', requireSignedURLs: "true", creator: "u2" });
    assert.equal((await ask(server, "GET", `${images}/v1/${id}`)).body.result.draft, true);
    const answer = await sent(uploadURL);
    assert.equal(answer.status, 200);
    const shown = (await ask(server, "GET", `${images}/v1/${id}`)).body.result;
    assert.deepEqual([shown.meta, shown.requireSignedURLs, shown.creator, shown.draft], [{ k: "v" }, true, "u2", undefined]);
    assert.deepEqual(((await answer.json()) as { result: unknown }).result, shown);
    assert.deepEqual(await code(await sent(uploadURL)), [410, 5410], "a second time");
    const asked = { origin: "https://shop.example", "access-control-request-method": "POST", "access-control-request-headers": "x-name" };
    const preflight = await fetch(here(uploadURL), { method: "OPTIONS", headers: asked });
    assert.equal(preflight.status, 204);
    for (const [name, value] of [
      ["origin", "*"],
      ["methods", "POST"],
      ["headers", "*"],
    ])
      assert.equal(preflight.headers.get(`access-control-allow-${name}`), value);
  });

  test("of several uploads at once to one URL, one is stored", async () => {
    const { uploadURL } = await create();
    const files = filesOnDisk();
    const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await sent(uploadURL)).status));
    assert.deepEqual(statuses.toSorted(), [200, 410, 410, 410, 410]);
    assert.equal(filesOnDisk(), files + 1);
  });

  test("slow uploads of an account leave places for the others", async () => {
    const { uploadURL } = await create();
    const headers = { "content-type": "multipart/form-data; boundary=x", "content-length": "100" };
    const slow = Array.from({ length: 6 }, () => request(here(uploadURL), { method: "POST", headers }).on("error", () => undefined));
    for (const one of slow) one.flushHeaders();
    const emptyForm = (): Promise<Response> => fetch(here(uploadURL), { method: "POST", body: new FormData() });
    await eventually(async () => (await emptyForm()).status === 429);
    for (const one of slow) one.destroy();
    await eventually(async () => (await emptyForm()).status === 400);
    assert.equal((await sent(uploadURL)).status, 200);
  });

  test("a URL ends at its time, after a refused file it still works, and of another account or forged it never does", async () => {
    const short = await create({ expiry: new Date(clock.nowMs() + 121_000).toISOString() });
    const { uploadURL } = await create();
    assert.deepEqual(await code(await sent(uploadURL, Buffer.from("GIF89a, but no more"))), [400, 5422]);
    assert.deepEqual(await code(await sent(`${uploadURL}x`)), [410, 5410]);
    const other = uploadURL.replace(/imageupload\/[^/]+/, `imageupload/${Buffer.alloc(16, 1).toString("base64url")}`);
    assert.deepEqual(await code(await sent(other)), [410, 5410]);
    assert.equal((await sent(uploadURL)).status, 200);
    clock.advance(121_000);
    assert.deepEqual(await code(await sent(short.uploadURL)), [410, 5410]);
  });

  test("a draft ends with its URL: it is not shown or counted, its identifier is free, and the sweep deletes it", async () => {
    const counted = async (): Promise<number> => (await ask(server, "GET", `${images}/v1/stats`)).body.result.count.current;
    const id = "ending";
    const before = await counted();
    const expiry = (): string => new Date(clock.nowMs() + 121_000).toISOString();
    await create({ id, expiry: expiry() });
    assert.equal(await counted(), before + 1);
    clock.advance(121_000);
    assert.equal(await counted(), before);
    for (const method of ["GET", "PATCH", "DELETE"])
      assert.deepEqual(refusal(await ask(server, method, `${images}/v1/${id}`, method === "PATCH" ? { body: {} } : {})), [
        404,
        5404,
        undefined,
      ]);
    const { uploadURL } = await create({ id, expiry: expiry() });
    assert.equal((await sent(uploadURL)).status, 200, "the identifier was free");
    await create({ id: "ends-too", expiry: expiry() });
    clock.advance(121_000);
    await server.control.imageSweep.forget();
    const rows = await server.store.read.selectFrom("images").select("id").where("id", "like", "end%").execute();
    assert.deepEqual(
      rows.map((row) => row.id),
      [id],
    );
    await server.store.write(({ db }) => deleteDraft(db, { account_id: server.account_id, id }));
    assert.equal((await ask(server, "GET", `${images}/v1/${id}`)).status, 200, "only a row without a file is deleted");
  });

  test("an expiry outside of two minutes to six hours is refused", async () => {
    for (const ms of [60_000, 6 * 3_600_000 + 60_000, -1]) {
      const form = { expiry: new Date(clock.nowMs() + ms).toISOString() };
      assert.deepEqual(refusal(await ask(server, "POST", `${images}/v2/direct_upload`, { form })), [400, 5400, "/expiry"]);
    }
  });
});

describe("delivery", () => {
  const options = { fit: "pad", width: 8, height: 6, metadata: "none" };
  const deliveryOf = (url: string, variant: string): string => url.replace(/[^/]+$/, variant);

  test("a variant is rendered in the best format that the client accepts by name", async () => {
    assert.equal((await ask(server, "POST", `${images}/v1/variants`, { body: { id: "small", options } })).status, 200);
    const url = deliveryOf((await made()).variants[0], "small");
    const tags = new Set<string>();
    for (const [accept, type] of [
      ["*/*", "image/gif"],
      ["image/avif;q=0, image/*", "image/gif"],
      ["image/webp,*/*", "image/webp"],
      ["image/avif,image/webp,*/*", "image/avif"],
    ] as const) {
      const answer = await show(url, { accept });
      const bytes = Buffer.from(await answer.arrayBuffer());
      assert.deepEqual([answer.status, answer.headers.get("content-type"), answer.headers.get("vary")], [200, type, "Accept"], accept);
      const tag = answer.headers.get("etag") ?? "";
      tags.add(tag);
      const head = await fetch(here(url), { method: "HEAD", headers: { accept } });
      assert.deepEqual([head.headers.get("content-length"), head.headers.get("etag")], [String(bytes.length), tag]);
      assert.equal((await show(url, { accept, "if-none-match": `"x", W/${tag}` })).status, 304);
    }
    assert.equal(tags.size, 3);
  });

  test("a variant of too many pixels is refused, members without a meaning are dropped, and one that was stored is not rendered", async () => {
    const variants = `${images}/v1/variants`;
    for (const fit of ["cover", "pad", "contain", "scale-down", "crop"]) {
      const refused = await ask(server, "POST", variants, {
        body: { id: "huge", options: { ...options, fit, width: 12_000, height: 2_084 } },
      });
      assert.deepEqual(refusal(refused), [400, 5400, "/options"]);
      assert.match(refused.body.errors[0].message, /at most 25,000,000 pixels/);
    }
    const odd = { id: "wide", options: { ...options, width: 12_000, blur: 3 } };
    assert.deepEqual((await ask(server, "POST", variants, { body: odd })).body.result.variant.options, { ...options, width: 12_000 });
    const edit = (height: number) => ask(server, "PATCH", `${variants}/wide`, { body: { options: { height } } });
    assert.deepEqual(refusal(await edit(2_084)), [400, 5400, "/options"]);
    const url = deliveryOf((await made()).variants[0], "wide");
    const huge = { id: "wide", never_signed: 0, fit: "pad", width: 12_000, height: 12_000, metadata: "none" } as const;
    await server.store.write(({ db }) => putVariant(db, { account_id: server.account_id, ...huge }));
    assert.deepEqual(await code(await show(url)), [400, 5414]);
    await ask(server, "DELETE", `${variants}/wide`);
  });

  test("an image that cannot be rendered is not tried again for a minute", async () => {
    const image = await made({ file: file(PNG, "a.png") });
    const stored = server.store.read.selectFrom("images").select("blob_id").where("id", "=", image.id);
    const { blob_id: name } = await stored.executeTakeFirstOrThrow();
    const path = join(dirname(server.eventsPath), "images", name!.slice(0, 2), name!);
    writeFileSync(path, PNG.subarray(0, 40));
    assert.deepEqual(await code(await show(image.variants[0])), [400, 5422]);
    writeFileSync(path, PNG);
    assert.deepEqual(await code(await show(image.variants[0])), [400, 5422], "remembered");
    clock.advance(60_001);
    assert.equal((await show(image.variants[0])).status, 200);
  });

  test("a change of the variant changes the image at once, and a deleted variant ends", async () => {
    await ask(server, "POST", `${images}/v1/variants`, { body: { id: "changing", options } });
    const url = deliveryOf((await made()).variants[0], "changing");
    const first = await show(url);
    await ask(server, "PATCH", `${images}/v1/variants/changing`, { body: { options: { width: 16 } } });
    const second = await show(url, { "if-none-match": first.headers.get("etag") ?? "" });
    assert.equal(second.status, 200);
    assert.equal(Buffer.from(await second.arrayBuffer()).readUInt16LE(6), 16, "the width in the head of a GIF");
    await ask(server, "DELETE", `${images}/v1/variants/changing`);
    assert.deepEqual(await code(await show(url)), [404, 5405]);
    await ask(server, "PATCH", `${images}/v1/variants/public`, { body: { options: { fit: "contain", width: 5, height: 5 } } });
    assert.equal((await ask(server, "GET", `${images}/v1/variants/public/flat`)).body.result.options.width, 5);
    await ask(server, "DELETE", `${images}/v1/variants/public`);
    assert.equal((await ask(server, "GET", `${images}/v1/variants/public`)).body.result.variant.options.width, 1366);
  });

  test("a private image needs a signature of one of the keys, in its time, and for its URL only", async () => {
    const image = await made({ requireSignedURLs: "true" });
    const other = await made({ requireSignedURLs: "true" });
    const keys = (await ask(server, "PUT", `${images}/v1/keys/k1`)).body.result.keys as { name: string; value: string }[];
    const value = keys.find(({ name }) => name === "k1")?.value ?? "";
    const sign = (url: string, query: string, key = value, prefix = ""): string => {
      const path = new URL(url).pathname.slice(prefix.length);
      return `${url}?${query}${query === "" ? "" : "&"}sig=${createHmac("sha256", key).update(`${path}?${query}`).digest("hex")}`;
    };
    const [url, second] = [image.variants[0], other.variants[0]] as [string, string];
    const soon = `exp=${Math.floor(clock.nowMs() / 1000) + 60}`;
    assert.deepEqual(await code(await show(url)), [403, 5403]);
    const good = await show(sign(url, soon));
    assert.deepEqual(
      [good.status, good.headers.get("cache-control"), good.headers.get("cdn-cache-control")],
      [200, "private, max-age=59", "no-store"],
    );
    await good.arrayBuffer();
    assert.equal((await show(sign(url, soon, value, "/cdn-cgi/imagedelivery"))).status, 200, "signed without the first parts of the path");
    assert.equal((await show(sign(url, ""))).status, 200, "without an end");
    const forged = sign(url, soon);
    for (const [what, bad] of [
      ["another key", sign(url, soon, "other")],
      ["another image", sign(url, soon).replace(url, second)],
      ["another variant", sign(url, soon).replace("/public?", "/small?")],
      ["another end", forged.replace(soon, `${soon}0`)],
      ["a past end", sign(url, `exp=${Math.floor(clock.nowMs() / 1000)}`)],
      ["no number as its end", sign(url, "exp=never")],
      ["a changed signature", forged.replace(/.$/, (last) => (last === "0" ? "1" : "0"))],
      ["a shorter signature", forged.slice(0, -2)],
      ["two signatures", `${forged}&sig=${"0".repeat(64)}`],
      ["two ends", `${forged}&exp=99999999999`],
      ["another parameter", `${forged}&a=b`],
    ] as const)
      assert.deepEqual(await code(await show(bad)), [403, 5403], what);
    clock.advance(60_000);
    assert.deepEqual(await code(await show(forged)), [403, 5403], "its time is over");
    const body = { id: "open", options, neverRequireSignedURLs: true };
    assert.equal((await ask(server, "POST", `${images}/v1/variants`, { body })).status, 200);
    assert.equal((await show(deliveryOf(url, "open"))).status, 200, "the variant never needs a signature");
    await ask(server, "DELETE", `${images}/v1/keys/k1`);
    assert.deepEqual(await code(await show(sign(url, ""))), [403, 5403], "the key is gone");
  });
});

test("quotas of images and bytes are held for each account, drafts included", async () => {
  const small = await startApi({ images: { perAccountMax: 2, accountBytesMax: TINY_GIF.length + 10 } });
  try {
    const path = `/accounts/${small.account_id}/images`;
    const create = () => ask(small, "POST", `${path}/v1`, { form: { file: file() } });
    assert.equal((await create()).status, 200);
    const full = await create();
    assert.deepEqual(refusal(full), [403, 5429, undefined], "bytes");
    assert.equal(full.body.errors[0].message, `The images of an account can have ${TINY_GIF.length + 10} bytes together.`);
    assert.equal((await ask(small, "POST", `${path}/v2/direct_upload`, { form: { creator: "a" } })).status, 200);
    assert.deepEqual(
      refusal(await ask(small, "POST", `${path}/v2/direct_upload`, { form: { creator: "a" } })),
      [403, 5429, undefined],
      "number",
    );
  } finally {
    await small.close();
  }
});

test("files that belong to no image are removed after an hour, and others stay", async () => {
  const kept = await made();
  const folder = join(dirname(server.eventsPath), "images");
  const orphan = createHash("md5").update("orphan").digest("hex");
  const { mkdirSync, utimesSync } = await import("node:fs");
  mkdirSync(join(folder, orphan.slice(0, 2)), { recursive: true });
  const path = join(folder, orphan.slice(0, 2), orphan);
  writeFileSync(path, "");
  const age = (seconds: number): void => {
    const at = clock.nowMs() / 1000 - seconds;
    for (const one of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (one.isFile()) utimesSync(join(one.parentPath, one.name), at, at);
  };
  age(3_000);
  await server.control.imageSweep.removeFiles();
  const files = filesOnDisk();
  age(4_000);
  await server.control.imageSweep.removeFiles();
  assert.equal(existsSync(path), false);
  assert.equal(filesOnDisk(), files - 1);
  assert.equal((await ask(server, "GET", `${images}/v1/${kept.id}/blob`)).status, 200);
});
