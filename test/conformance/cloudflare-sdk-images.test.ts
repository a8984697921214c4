import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { TINY_GIF } from "../support/planted-images.ts";

let server: ApiServer;
let client: Cloudflare;
let account_id: string;

before(async () => {
  server = await startApi();
  ({ account_id } = server);
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

const file = (): File => new File([new Uint8Array(TINY_GIF)], "sdk.gif", { type: "image/gif" });

test("the vendor's SDK uploads, lists, shows, changes, downloads and deletes images", async () => {
  const made = await client.images.v1.create({
    account_id,
    file: file(),
    metadata: JSON.stringify({ by: "sdk" }),
    requireSignedURLs: true,
  });
  assert.deepEqual([made.filename, made.meta, made.requireSignedURLs], ["sdk.gif", { by: "sdk" }, true]);
  const id = made.id ?? "";
  assert.equal((await client.images.v1.get(id, { account_id })).id, id);
  assert.equal((await client.images.v1.edit(id, { account_id, requireSignedURLs: false })).requireSignedURLs, false);
  assert.deepEqual(
    (await client.images.v2.list({ account_id, per_page: 10 })).images?.map((image) => image.id),
    [id],
  );
  const page = (await client.images.v1.list({ account_id, per_page: 10 })) as unknown as { result: { images: { id: string }[] } };
  assert.deepEqual(
    page.result.images.map((image) => image.id),
    [id],
  );
  const blob = await client.images.v1.blobs.get(id, { account_id });
  assert.equal(Buffer.compare(Buffer.from(await blob.arrayBuffer()), TINY_GIF), 0);
  assert.equal((await client.images.v1.stats.get({ account_id })).count?.current, 1);
  await client.images.v1.delete(id, { account_id });
  await assert.rejects(client.images.v1.get(id, { account_id }), Cloudflare.NotFoundError);
});

test("metadata that the vendor's SDK sends as an object are kept, each value as a text", async () => {
  const made = await client.images.v1.create({ account_id, file: file(), metadata: { album: "summer", year: 2026 } });
  assert.deepEqual(made.meta, { album: "summer", year: "2026" });
  await client.images.v1.delete(made.id ?? "", { account_id });
});

test("the vendor's SDK creates upload URLs, variants and signing keys", async () => {
  const upload = await client.images.v2.directUploads.create({ account_id, id: "by-sdk", requireSignedURLs: true });
  assert.equal(upload.id, "by-sdk");
  assert.match(upload.uploadURL ?? "", /\/cdn-cgi\/imageupload\//);
  assert.ok((await client.images.v2.directUploads.create({ account_id })).id, "without any field");
  const options = { fit: "scale-down", width: 10, height: 20, metadata: "none" } as const;
  assert.equal((await client.images.v1.variants.create({ account_id, id: "hero", options })).variant?.id, "hero");
  const edited = await client.images.v1.variants.edit("hero", { account_id, options: { ...options, width: 30 } });
  assert.equal(edited.variant?.options.width, 30);
  assert.deepEqual(Object.keys((await client.images.v1.variants.list({ account_id })).variants ?? {}).toSorted(), ["hero", "public"]);
  await client.images.v1.variants.delete("hero", { account_id });
  assert.deepEqual(
    (await client.images.v1.keys.update("sdk", { account_id })).keys?.map(({ name }) => name),
    ["sdk"],
  );
  assert.equal((await client.images.v1.keys.list({ account_id })).keys?.length, 1);
  assert.equal((await client.images.v1.keys.delete("sdk", { account_id })).keys?.length, 0);
});
