import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startObjectServer } from "../support/object-server.ts";
import { TINY_GIF } from "../support/planted-images.ts";
import { startSelvedge } from "../support/selvedge.ts";

test("with images.in_s3, images survive the loss of the data directory's files, and an upload without the bucket fails whole", async (t) => {
  const bucket = await startObjectServer();
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-images-s3-"));
  t.after(async () => {
    bucket.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  const { endpoint, region, bucket: name, access_key_id, secret_access_key } = bucket.config();
  const env = {
    ...{ SELVEDGE_IMAGES_IN_S3: "true", SELVEDGE_S3_ENDPOINT: endpoint, SELVEDGE_S3_REGION: region, SELVEDGE_S3_BUCKET: name },
    ...{ SELVEDGE_S3_ACCESS_KEY_ID: access_key_id, SELVEDGE_S3_SECRET_ACCESS_KEY: secret_access_key, SELVEDGE_S3_PREFIX: "one" },
  };
  let selvedge = await startSelvedge({ dataDir, env });
  t.after(() => selvedge.kill());
  const { token = "", account_id: account } = selvedge.ready;
  const images = (): string => `${selvedge.ready.api}/accounts/${account}/images/v1`;
  const headers = { authorization: `Bearer ${token}` };
  const upload = (id: string): Promise<Response> => {
    const form = new FormData();
    form.set("file", new File([new Uint8Array(TINY_GIF)], "a.gif"));
    form.set("id", id);
    return fetch(images(), { method: "POST", headers, body: form });
  };
  assert.equal((await upload("kept")).status, 200);
  assert.deepEqual(
    [...bucket.objects].map(([key, { bytes }]) => [/^one\/images\/[0-9a-f]{32}$/.test(key), bytes.equals(TINY_GIF)]),
    [[true, true]],
  );
  bucket.fails = 503;
  const refused = await upload("refused");
  const { errors } = (await refused.json()) as { errors: readonly { code: number }[] };
  assert.deepEqual([refused.status, errors[0]?.code], [503, 5502]);
  bucket.fails = 0;
  assert.equal((await fetch(`${images()}/refused`, { headers })).status, 404);
  assert.equal(bucket.objects.size, 1);

  assert.equal((await selvedge.stop()).code, 0);
  await rm(join(dataDir, "images"), { recursive: true });
  selvedge = await startSelvedge({ dataDir, env });
  const blob = await fetch(`${images()}/kept/blob`, { headers });
  assert.deepEqual(Buffer.from(await blob.arrayBuffer()), TINY_GIF);
  assert.equal((await fetch(`${images()}/kept`, { method: "DELETE", headers })).status, 200);
  assert.equal(bucket.objects.size, 0);
  const log = selvedge.log();
  assert.ok(!log.includes(secret_access_key));
});
