import assert from "node:assert/strict";
import { constants, createDecipheriv, createHash, generateKeyPairSync, type KeyObject, privateDecrypt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";
import type { GatewayLogEntry } from "#events/logs/entry.ts";
import { createLogJournal, type LogJournal } from "#events/logs/journal.ts";
import { createLogBodyStore } from "#events/logs/bodies.ts";
import { openSegmentReader } from "#events/logs/reader.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { testGatewayRow } from "#events/testing/rows.ts";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { LogpushJobCreate } from "#model/events/logpush.ts";
import type { Store } from "#store/database/store.ts";
import { signAws } from "#wire/http/sign-aws.ts";
import { controlOver } from "../../../test/support/control.ts";
import { type StoreFixture, storeTest } from "../../../test/support/store.ts";
import type { EncryptedValue } from "#control/gateways/log-encryption.ts";

const GATEWAY = {
  cache_invalidate_on_update: false,
  cache_ttl: null,
  collect_logs: true,
  rate_limiting_interval: null,
  rate_limiting_limit: null,
};
const NOW = "2026-03-01T10:00:00Z";
const DAY_MS = 86_400_000;

type Record_ = Readonly<Record<string, unknown>>;

interface ReceivedFile {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  readonly path: string;
  readonly body: Buffer;
  readonly records: readonly Record_[];
}

interface Receiver {
  status: number;
  readonly files: ReceivedFile[];
  readonly texts: string[];
  readonly url: string;
}

/** A destination for pushed logs; `status` may be changed. Files that it refused are not in `files`. */
async function receiver(): Promise<Receiver & { close(): Promise<void> }> {
  const state = { status: 200, files: [] as Receiver["files"], texts: [] as string[] };
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const body = Buffer.concat(parts);
      if (state.status === 200 && body[0] === 0x1f) {
        const lines = gunzipSync(body).toString().trimEnd().split("\n");
        state.files.push({
          headers: req.headers,
          method: req.method ?? "",
          path: req.url ?? "",
          body,
          records: lines.map((line) => JSON.parse(line) as Record_),
        });
      } else if (state.status === 200) state.texts.push(body.toString());
      res.writeHead(state.status, { location: "/elsewhere" }).end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/logs`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

const entry = (row: Partial<GatewayLogRow>, value: Partial<GatewayLogEntry> = {}): GatewayLogEntry => ({
  row: testGatewayRow({ at_ms: Date.parse(NOW) + 1000, ...row }),
  keep: { mode: "STOP_INSERTING", rowsMax: null },
  request: Buffer.from(`{"ask":"${row.id ?? ""}"}`),
  response: [Buffer.from("answer "), Buffer.from(row.id ?? "")],
  ...value,
});

async function stage(store: Store, directory: string) {
  const clock = fixedClock(NOW);
  const over = await controlOver(store, { clock, logSegments: directory, webhookAllowed: (address) => address !== "169.254.169.254" });
  const { control, account_id, call } = over;
  const gateway = (id: string, settings: object = { logpush: true }) =>
    control.gateways.create(call(), account_id, { id, ...GATEWAY, ...settings });
  const job = (settings: Partial<LogpushJobCreate> & { destination_conf: string }) =>
    control.logpush.create(call(), account_id, { dataset: "ai_gateway_events", enabled: true, ...settings });
  return { ...over, clock, gateway, job, push: () => control.logpush.pusher.pushDue() };
}

type Stage = Awaited<ReturnType<typeof stage>>;

/** One test on each dialect with its own logs and somebody who takes them. */
const logpushTest = (
  name: string,
  body: (given: Stage & { receiver: Receiver; journal(): LogJournal; directory: string; again(): Promise<Stage> }) => Promise<void>,
): void =>
  storeTest(name, async ({ store }: StoreFixture) => {
    const data = mkdtempSync(join(tmpdir(), "selvedge-logpush-"));
    const directory = join(data, "gateway-logs");
    const taker = await receiver();
    let opened: LogJournal | undefined;
    try {
      await body({
        ...(await stage(store, directory)),
        receiver: taker,
        directory,
        journal: () => (opened ??= createLogJournal({ directory, metrics: createMetrics(), segmentBytesMax: 20_000 })),
        again: () => stage(store, directory),
      });
    } finally {
      opened?.close();
      await taker.close();
      rmSync(data, { recursive: true });
    }
  });

const ids = ({ files }: Receiver): unknown[] => files.slice(1).flatMap(({ records }) => records.map((record) => record["LogID"]));
/** Appended logs are in the file at the end of the turn. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const failing = (code: number, source: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof PlatformError, String(error));
  assert.deepEqual([error.code, error.source], [code, source], error.message);
  assert.match(error.message, message);
  return true;
};

logpushTest("logs of gateways with logpush are delivered in order, with the requested fields and times", async (given) => {
  const { gateway, job, push, account_id, receiver: taker } = given;
  await gateway("on");
  await gateway("off", { logpush: false });
  const { id, destination_conf } = await job({
    destination_conf: `${taker.url}?header_Authorization=Bearer%20s3cret&tag=a`,
    name: "all of it",
    output_options: {
      field_names: ["Timestamp", "LogID", "Gateway", "Metadata", "RequestBody", "ResponseBody", "Cost"],
      timestamp_format: "rfc3339",
    },
  });
  assert.equal(destination_conf, `${taker.url}?header_Authorization=********&tag=********`, "nobody is shown what a parameter says");
  assert.deepEqual(taker.files.shift()?.records, [{ content: "tests" }]);
  taker.files.unshift({ headers: {}, method: "", path: "", body: Buffer.alloc(0), records: [] });
  const log = given.journal();
  log.append(entry({ id: "1", account_id, gateway_id: "on", metadata: '{"user":"ada"}' }));
  log.append(entry({ id: "2", account_id, gateway_id: "off" }));
  log.append(entry({ id: "3", account_id: "other", gateway_id: "on" }));
  log.append(entry({ id: "4", account_id, gateway_id: "on" }, { keep: { mode: "none", rowsMax: null }, request: null, response: [] }));
  log.append(entry({ id: "5", account_id, gateway_id: "on", at_ms: Date.parse(NOW) - DAY_MS }));
  log.append(entry({ id: "6", account_id, gateway_id: "on" }, { request: null, response: [] }));
  log.append(entry({ id: "7", account_id, gateway_id: "on" }, { request: Buffer.of(0xff, 0xfe) }));
  await turn();
  assert.deepEqual(await push(), { pushed: 3, failures: [] });
  const [, file] = taker.files;
  assert.deepEqual(
    [file?.path, file?.headers["authorization"], file?.headers["content-type"]],
    ["/logs?tag=a", "Bearer s3cret", "application/x-ndjson"],
  );
  const Timestamp = "2026-03-01T10:00:01Z";
  assert.deepEqual(file?.records, [
    { Timestamp, LogID: "1", Gateway: "on", Metadata: { user: "ada" }, RequestBody: '{"ask":"1"}', ResponseBody: "answer 1", Cost: 0.5 },
    { Timestamp, LogID: "6", Gateway: "on", Metadata: {}, RequestBody: null, ResponseBody: null, Cost: 0.5 },
    {
      Timestamp,
      LogID: "7",
      Gateway: "on",
      Metadata: {},
      RequestBody: { type: "base64", data: "//4=" },
      ResponseBody: "answer 7",
      Cost: 0.5,
    },
  ]);
  const { last_complete, last_error, error_message } = await given.control.logpush.get(account_id, String(id));
  assert.deepEqual([last_complete, last_error, error_message], ["2026-03-01T10:00:00.000000Z", null, null]);
});

logpushTest("only the private key decrypts bodies and metadata of a gateway with a public key", async (given) => {
  const { gateway, job, push, account_id, receiver: taker } = given;
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  await gateway("sealed", { logpush: true, logpush_public_key: publicKey.export({ type: "spki", format: "pem" }).toString() });
  await job({ destination_conf: taker.url });
  const log = given.journal();
  log.append(entry({ id: "1", account_id, gateway_id: "sealed", metadata: '{"user":"ada"}' }));
  log.append(entry({ id: "2", account_id, gateway_id: "sealed" }, { request: Buffer.of(0xff), response: [Buffer.alloc(900_000, "x")] }));
  log.append(entry({ id: "3", account_id, gateway_id: "sealed" }, { request: Buffer.alloc(11_000_00, "y") }));
  await turn();
  await push();
  const records = taker.files[1]?.records ?? [];
  const sealed = (at: number, field: string): EncryptedValue =>
    (records[at] as Readonly<Record<string, EncryptedValue>>)[field] as EncryptedValue;
  assert.doesNotMatch(JSON.stringify(records[0]), /answer 1|ada"|ask\\/);
  const opened = records.map((record) => ["Metadata", "RequestBody", "ResponseBody"].map((field) => decrypted(privateKey, record[field])));
  assert.deepEqual(opened[0], ['{"user":"ada"}', '{"ask":"1"}', "answer 1"]);
  assert.equal(new Set(["Metadata", "RequestBody", "ResponseBody"].map((field) => sealed(0, field).iv)).size, 3);
  assert.deepEqual([opened[1]?.[0], opened[1]?.[2]], ["{}", null], "a record is no longer than a megabyte");
  assert.deepEqual(Buffer.from(sealed(1, "RequestBody").data, "base64").length, 17);
  assert.deepEqual(opened[2]?.slice(1), [null, "answer 3"]);
  assert.deepEqual([records[0]?.["Timestamp"], records[0]?.["StatusCode"]], [(Date.parse(NOW) + 1000) * 1_000_000, 200]);
  for (const key of ["k".repeat(64), privateKey.export({ type: "pkcs8", format: "pem" }).toString().slice(0, 1024), weakKey()])
    await assert.rejects(gateway("wrong", { logpush_public_key: key }), failing(7001, "/logpush_public_key", /RSA public key/));
});

function decrypted(privateKey: KeyObject, value: unknown): string | null {
  if (value === null) return null;
  const { type, key, iv, data } = value as EncryptedValue;
  assert.equal(type, "encrypted");
  const secret = privateDecrypt(
    { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" },
    Buffer.from(key, "base64"),
  );
  const bytes = Buffer.from(data, "base64");
  const decipher = createDecipheriv("aes-256-gcm", secret, Buffer.from(iv, "base64")).setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString();
}

const weakKey = (): string =>
  generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ type: "spki", format: "pem" }).toString();

logpushTest("refused batches are sent again with growing delays, also after restarts, and accepted ones only once", async (given) => {
  const { gateway, job, push, clock, account_id, call, receiver: taker } = given;
  await gateway("on");
  const { id } = await job({ destination_conf: taker.url });
  const shown = () => given.control.logpush.get(account_id, String(id));
  const log = given.journal();
  const append = async (name: string): Promise<void> => {
    log.append(entry({ id: name, account_id, gateway_id: "on" }));
    await turn();
  };
  await append("1");
  taker.status = 503;
  assert.match((await push()).failures.join(), /status 503/);
  assert.deepEqual((await shown()).error_message, "the destination responded with status 503");
  await append("2");
  clock.advance(9_000);
  assert.deepEqual(await push(), { pushed: 0, failures: [] }, "not yet");
  clock.advance(1_000);
  assert.equal((await push()).failures.length, 1);
  taker.status = 200;
  clock.advance(29_000);
  assert.deepEqual(await push(), { pushed: 0, failures: [] }, "the second time it waits longer");
  clock.advance(1_000);
  assert.deepEqual(await push(), { pushed: 2, failures: [] });
  const { last_error, error_message } = await shown();
  assert.deepEqual([last_error, error_message], [null, null]);
  await append("3");
  assert.deepEqual(await push(), { pushed: 0, failures: [] }, "there are 30 seconds between two files");
  const restarted = await given.again();
  assert.deepEqual(await restarted.push(), { pushed: 1, failures: [] });
  assert.deepEqual(ids(taker), ["1", "2", "3"]);

  await given.control.logpush.update(call(), account_id, String(id), { enabled: false });
  await append("while it is off");
  clock.advance(60_000);
  await push();
  await given.control.logpush.update(call(), account_id, String(id), { enabled: true });
  log.append(entry({ id: "4", account_id, gateway_id: "on", at_ms: clock.nowMs() }));
  await turn();
  assert.deepEqual(await push(), { pushed: 1, failures: [] });
  assert.deepEqual(ids(taker), ["1", "2", "3", "4"]);
});

logpushTest("a file has at most the job's number of records, and no deleted logs", async (given) => {
  const { gateway, job, push, account_id, receiver: taker } = given;
  await gateway("on");
  await job({
    destination_conf: taker.url,
    max_upload_records: 1_000,
    max_upload_bytes: 5_000_000,
    output_options: { field_names: ["LogID"] },
  });
  const log = given.journal();
  const names = Array.from({ length: 2_500 }, (_, i) => `log ${i}`);
  for (const id of names) log.append(entry({ id, account_id, gateway_id: "on" }));
  await turn();
  const reader = openSegmentReader(given.directory, 1);
  createLogBodyStore(given.directory).erase([{ segment: 1, at: reader?.read(0).records[0]?.at ?? 0 }]);
  reader?.close();
  assert.deepEqual(await push(), { pushed: 2_499, failures: [] });
  assert.deepEqual(ids(taker), names.slice(1));
  assert.deepEqual(
    taker.files.slice(1).map(({ records }) => records.length),
    [1_000, 1_000, 499],
  );
});

logpushTest("bodies are delivered as stored, even if a read of a segment ends within one", async (given) => {
  const { gateway, job, push, account_id, receiver: taker } = given;
  await gateway("on");
  await job({ destination_conf: taker.url, output_options: { field_names: ["LogID", "RequestBody", "ResponseBody"] } });
  const log = given.journal();
  const bodies = Array.from(
    { length: 9 },
    (_, i) => [`ask ${i} ${"a".repeat(i * 30_000)}`, `answer ${i} ${"b".repeat(i * 40_000)}`] as const,
  );
  for (const [i, [ask, answer]] of bodies.entries())
    log.append(entry({ id: String(i), account_id, gateway_id: "on" }, { request: Buffer.from(ask), response: [Buffer.from(answer)] }));
  await turn();
  const reader = openSegmentReader(given.directory, 1);
  const [first] = reader?.read(0).records ?? [];
  const found = first === undefined ? undefined : reader?.bodiesOf(first);
  reader?.close();
  assert.deepEqual([found?.request.toString(), found?.response.toString()], bodies[0]);
  assert.deepEqual(await push(), { pushed: bodies.length, failures: [] });
  const pushed = taker.files.slice(1).flatMap(({ records }) => records.map(({ RequestBody, ResponseBody }) => [RequestBody, ResponseBody]));
  assert.ok(isDeepStrictEqual(pushed, bodies), "other bodies than were kept");
});

logpushTest("a job with an invalid or failing destination is refused, and so is a fifth enabled job", async (given) => {
  const { job, account_id, call, control, receiver: taker } = given;
  const refused = (destination_conf: string, message: RegExp) =>
    assert.rejects(job({ destination_conf }), failing(10702, "/destination_conf", message));
  await refused("ftp://logs.example/", /must be an https URL/);
  await refused("https://user:pass@logs.example/", /header_Authorization/);
  await refused("http://logs.example/", /https URL, except for/);
  await refused("http://169.254.169.254/latest", /sends no requests/);
  await refused(`${taker.url}?header_Host=a`, /not an allowed header/);
  await refused(`${taker.url}?header_X=a%0d%0ab`, /not an allowed header/);
  taker.status = 403;
  await refused(taker.url, /error validating destination: the destination responded with status 403/);
  assert.deepEqual(await control.logpush.validate(taker.url), { valid: false, message: "the destination responded with status 403" });
  taker.status = 200;
  assert.deepEqual(await control.logpush.list(account_id), []);
  const made = [];
  for (let i = 0; i < 4; i++) made.push(await job({ destination_conf: `${taker.url}/${i}?header_X=kept` }));
  await assert.rejects(job({ destination_conf: taker.url }), failing(10702, "/enabled", /at most 4/));
  const fifth = await job({ destination_conf: taker.url, enabled: false });
  const change = (id: number, body: object) => control.logpush.update(call(), account_id, String(id), body);
  await assert.rejects(change(fifth.id, { enabled: true }), failing(10702, "/enabled", /at most 4/));
  await control.logpush.delete(call(), account_id, String(made[0]?.id));
  assert.equal((await change(fifth.id, { enabled: true, name: "fifth" })).name, "fifth");
  // Sent back hidden, a value stays; for another receiver it does not.
  const [, second] = made;
  assert.equal((await change(second?.id ?? 0, { destination_conf: second?.destination_conf })).destination_conf, second?.destination_conf);
  await assert.rejects(
    change(second?.id ?? 0, { destination_conf: `${taker.url}/other?header_X=********` }),
    failing(10702, "/destination_conf", /no stored value of header_X/),
  );
  assert.deepEqual(await control.logpush.exists(account_id, `${taker.url}/1?header_X=other`), { exists: true });
  assert.deepEqual(await control.logpush.exists(account_id, `${taker.url}/0`), { exists: false });
});

logpushTest("a caller proves ownership of a destination by reading it", async (given) => {
  const { job, account_id, control, receiver: taker } = given;
  const { valid, filename } = await control.logpush.challenge(account_id, `${taker.url}?header_X=1`);
  assert.equal(valid, true);
  assert.match(filename, /\.txt$/);
  const [token = ""] = taker.texts;
  assert.deepEqual(control.logpush.owns(account_id, taker.url, token), { valid: true });
  assert.deepEqual(control.logpush.owns(account_id, `${taker.url}/other`, token), { valid: false });
  assert.deepEqual(control.logpush.owns(account_id, taker.url, ""), { valid: false });
  await job({ destination_conf: taker.url, ownership_challenge: token });
  await assert.rejects(
    job({ destination_conf: taker.url, ownership_challenge: "wrong" }),
    failing(10702, "/ownership_challenge", /does not match/),
  );
  taker.status = 500;
  assert.equal((await control.logpush.challenge(account_id, taker.url)).valid, false);
});

logpushTest("files become signed objects of a bucket, and a repeated upload replaces them", async (given) => {
  const { gateway, job, push, clock, account_id, receiver: taker } = given;
  await gateway("on");
  const { host, origin } = new URL(taker.url);
  const query = `region=eu-north-1&endpoint=${origin}&access-key-id=AKID&secret-access-key=s%2Fcret&sse=AES256`;
  const { destination_conf } = await job({ destination_conf: `s3://logs.example/ai/{DATE}/?${query}` });
  assert.equal(
    destination_conf,
    `s3://logs.example/ai/{DATE}/?region=eu-north-1&endpoint=${origin}&access-key-id=********&secret-access-key=********&sse=AES256`,
  );
  assert.equal(taker.files[0]?.path, "/logs.example/ai/20260301/test.txt.gz");
  given.journal().append(entry({ id: "1", account_id, gateway_id: "on" }));
  await turn();
  taker.status = 500;
  await push();
  taker.status = 200;
  clock.advance(10_000);
  assert.deepEqual(await push(), { pushed: 1, failures: [] });
  const [, file] = taker.files;
  assert.ok(file);
  assert.deepEqual([file.method, file.records.map((record) => record["LogID"])], ["PUT", ["1"]]);
  assert.match(file.path, /^\/logs\.example\/ai\/20260301\/20260301T100001000Z_\d+_start\.log\.gz$/);
  const signedFields = /SignedHeaders=([^,]+)/.exec(file.headers["authorization"] ?? "")?.[1]?.split(";") ?? [];
  assert.deepEqual(signedFields, ["content-type", "host", "x-amz-content-sha256", "x-amz-date", "x-amz-server-side-encryption"]);
  assert.deepEqual(
    [file.headers["host"], file.headers["x-amz-server-side-encryption"], file.headers["content-encoding"]],
    [host, "AES256", undefined],
  );
  assert.equal(file.headers["x-amz-content-sha256"], createHash("sha256").update(file.body).digest("hex"));
  const fields = Object.fromEntries(
    signedFields.filter((name) => name !== "host" && name !== "x-amz-date").map((name) => [name, String(file.headers[name])]),
  );
  const request = {
    method: "PUT",
    host,
    target: file.path,
    headers: fields,
    body: file.body,
    region: "eu-north-1",
    service: "s3",
    atMs: clock.nowMs(),
  };
  assert.equal(file.headers["authorization"], signAws(request, { accessKeyId: "AKID", secretAccessKey: "s/cret" })["authorization"]);

  for (const [wrong, message] of [
    [`s3://B/?${query}`, /must name a bucket/],
    [`s3://bucket/a%20b?${query}`, /must name a bucket/],
    ["s3://bucket/a?access-key-id=a&secret-access-key=b", /region/],
    ["s3://bucket/a?region=eu-north-1", /access-key-id/],
    [`s3://bucket/a?${query}&account-id=1`, /unknown parameter account-id/],
    [`s3://bucket/a?${query}1`, /sse=AES256/],
    ["s3://bucket/a?region=r&access-key-id=a&secret-access-key=b&endpoint=http://169.254.169.254", /sends no requests/],
  ] as const)
    await assert.rejects(job({ destination_conf: wrong }), failing(10702, "/destination_conf", message), wrong);
});

logpushTest("a job that lost its position delivers logs again and skips none", async (given) => {
  const { gateway, job, push, account_id, receiver: taker } = given;
  await gateway("on");
  await job({ destination_conf: taker.url });
  for (const id of ["1", "2"]) given.journal().append(entry({ id, account_id, gateway_id: "on" }));
  await turn();
  assert.equal((await push()).pushed, 2);
  writeFileSync(join(given.directory, "logpush.json"), '{"12');
  assert.deepEqual(await (await given.again()).push(), { pushed: 2, failures: [] });
  assert.deepEqual(ids(taker), ["1", "2", "1", "2"]);
});
