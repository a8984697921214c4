import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import Cloudflare from "cloudflare";
import { type ApiServer, startApi } from "../support/api-server.ts";
import { toolOrSkip } from "../support/tools.ts";

// Import and export of zone files as the vendor's TypeScript client and curl do them: one sends the file as a plain
// field, the other as a file with a name.
let server: ApiServer;
let client: Cloudflare;

before(async () => {
  server = await startApi();
  client = new Cloudflare({ apiToken: server.token, baseURL: server.url, maxRetries: 0 });
});
after(() => server.close());

const newZone = async (name: string): Promise<string> => (await client.zones.create({ account: { id: server.account_id }, name })).id;

const FILE = '$TTL 300\nwww A 192.0.2.1\n\tTXT "two; words" ; a comment\nmail MX 10 www\n';

test("dns.records.import and export: the text of a zone file round-trips", async () => {
  const zone_id = await newZone("files.test");
  assert.deepEqual(await client.dns.records.import({ zone_id, file: FILE, proxied: "true" }), { recs_added: 3, total_records_parsed: 3 });
  const www = (await client.dns.records.list({ zone_id, type: "A" })).result[0];
  assert.deepEqual([www?.name, www?.proxied], ["www.files.test", true]);
  const file = (await client.dns.records.export({ zone_id })) as unknown as string;
  assert.match(file, /^www\.files\.test\.\t1\tIN\tA\t192\.0\.2\.1 ; cf_tags=cf-proxied:true$/m);
  assert.match(file, /^www\.files\.test\.\t300\tIN\tTXT\t"two; words" ; a comment$/m);
  assert.deepEqual(await client.dns.records.import({ zone_id, file }), { recs_added: 0, total_records_parsed: 6 });
  await assert.rejects(client.dns.records.import({ zone_id, file: "$INCLUDE other\n" }), (error) => {
    assert.ok(error instanceof Cloudflare.APIError);
    assert.deepEqual([error.status, error.errors[0]?.message], [400, "Line 1: $INCLUDE directive not allowed."]);
    return true;
  });
});

test("curl --form file=@zone.txt imports a zone file", { skip: toolOrSkip("curl") }, async () => {
  const zone_id = await newZone("curl.test");
  const directory = mkdtempSync(join(tmpdir(), "selvedge-curl-"));
  try {
    const path = join(directory, "zone.txt");
    writeFileSync(path, FILE);
    const url = `${server.url}/zones/${zone_id}/dns_records`;
    const curl = async (...args: readonly string[]): Promise<string> =>
      (await promisify(execFile)("curl", ["-sS", "-H", `Authorization: Bearer ${server.token}`, ...args], { timeout: 60_000 })).stdout;
    const answer = JSON.parse(await curl("--form", `file=@${path}`, "--form", "proxied=false", `${url}/import`));
    assert.deepEqual(answer.result, { recs_added: 3, total_records_parsed: 3 });
    writeFileSync(path, await curl(`${url}/export`));
    assert.equal(JSON.parse(await curl("-F", `file=@${path};type=text/dns`, `${url}/import`)).result.recs_added, 0);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
