import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import Cloudflare from "cloudflare";
import { type ApiServer, startApi } from "../support/api-server.ts";

// The vendor's own TypeScript client on Logpush jobs, over real HTTP. Its types do not name the dataset of gateways' logs.
const DATASET = "ai_gateway_events" as "http_requests";
const files: { readonly path: string; readonly body: Buffer }[] = [];
const receiver = createServer((req, res) => {
  const parts: Buffer[] = [];
  req.on("data", (part: Buffer) => parts.push(part));
  req.on("end", () => {
    files.push({ path: req.url ?? "", body: Buffer.concat(parts) });
    res.end();
  });
});
let server: ApiServer;
let client: Cloudflare;
let account_id: string;
let destination_conf: string;

before(async () => {
  server = await startApi();
  account_id = server.account_id;
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  destination_conf = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/logs?header_Authorization=Bearer%20s3cret`;
});
after(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await server.close();
});

const failing = (status: number, code: number, pointer?: string) => (error: unknown) => {
  assert.ok(error instanceof Cloudflare.APIError, String(error));
  assert.deepEqual([error.status, error.errors[0]?.code], [status, code], error.message);
  if (pointer !== undefined) assert.match(JSON.stringify(error.error), new RegExp(`"pointer":"${pointer}"`));
  return true;
};

test("logpush: destinations, ownership, fields and jobs", async () => {
  const { logpush } = client;
  assert.deepEqual(await logpush.validate.destination({ account_id, destination_conf }), { valid: true, message: "" });
  assert.deepEqual(await logpush.validate.destinationExists({ account_id, destination_conf }), { exists: false });
  const challenge = await logpush.ownership.create({ account_id, destination_conf });
  assert.equal(challenge?.valid, true);
  const ownership_challenge = files.at(-1)?.body.toString() ?? "";
  assert.deepEqual(await logpush.ownership.validate({ account_id, destination_conf, ownership_challenge }), { valid: true });
  const fields = await logpush.datasets.fields.get(DATASET, { account_id });
  for (const name of ["Cached", "Endpoint", "Gateway", "Metadata", "Model", "Provider", "RequestBody", "ResponseBody", "StatusCode"])
    assert.equal(typeof fields[name], "string", name);

  const made = await logpush.jobs.create({
    account_id,
    dataset: DATASET,
    name: "to the collector",
    destination_conf,
    ownership_challenge,
    enabled: true,
    max_upload_records: 1_000,
    max_upload_bytes: 0,
    output_options: {
      field_names: ["Timestamp", "Model", "RequestBody"],
      timestamp_format: "rfc3339",
      output_type: "ndjson",
      sample_rate: 1,
    },
  });
  assert.ok(made?.id !== undefined);
  assert.doesNotMatch(JSON.stringify(made), /s3cret/);
  assert.deepEqual([made.enabled, made.last_complete, made.error_message, made.max_upload_bytes], [true, null, null, 0]);
  assert.deepEqual(await logpush.validate.destinationExists({ account_id, destination_conf }), { exists: true });
  assert.deepEqual(await logpush.jobs.get(made.id, { account_id }), made);
  assert.deepEqual((await logpush.jobs.list({ account_id })).result, [made]);
  assert.deepEqual((await logpush.datasets.jobs.get(DATASET, { account_id })).result, [made]);
  const updated = await logpush.jobs.update(made.id, { account_id, enabled: false, max_upload_interval_seconds: 60 });
  assert.deepEqual([updated?.enabled, updated?.max_upload_interval_seconds, updated?.name], [false, 60, "to the collector"]);
  assert.deepEqual(await logpush.jobs.delete(made.id, { account_id }), { id: made.id });
  await assert.rejects(logpush.jobs.get(made.id, { account_id }), failing(404, 10701));
});

test("logpush: unknown datasets, fields and jobs are refused, and the error names the wrong value", async () => {
  const { jobs, datasets } = client.logpush;
  for (const [more, pointer] of [
    [{ dataset: "http_requests" }, "/dataset"],
    [{ output_options: { field_names: ["Nothing"] } }, "/output_options/field_names/0"],
    [{ output_options: { output_type: "csv" } }, "/output_options/output_type"],
    [{ output_options: { sample_rate: 0.5 } }, "/output_options/sample_rate"],
    [{ max_upload_records: 10 }, "/max_upload_records"],
    [{ max_upload_interval_seconds: 5 }, "/max_upload_interval_seconds"],
    [{ filter: '{"where":{}}' }, "/filter"],
    [{ kind: "edge" }, "/kind"],
    [{ destination_conf: "gs://bucket/logs" }, "/destination_conf"],
  ] as const)
    await assert.rejects(
      jobs.create({ account_id, dataset: DATASET, destination_conf, ...more } as never),
      failing(400, 10702, pointer),
      JSON.stringify(more),
    );
  await assert.rejects(datasets.fields.get("http_requests", { account_id }), failing(404, 10701));
  assert.deepEqual((await jobs.list({ account_id })).result, []);
});
