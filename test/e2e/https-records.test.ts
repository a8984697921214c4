import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CLASS, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { presentationText } from "#wire/dns/record-types.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { askUdp, queryFor } from "../support/dns-client.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

async function httpsOf({ ready }: Selvedge, name: string): Promise<readonly string[]> {
  const [response] = await askUdp(Number(ready.dns.split(":")[1]), [queryFor(name, TYPE.HTTPS, 1)]);
  const { answers } = decodeMessage(response as Buffer);
  return answers.filter((one) => one.class === CLASS.IN).map(({ rdata }) => presentationText("HTTPS", rdata));
}

test("SPEC 2.3: the HTTPS record of a proxied name has the port of HTTP/2, also if the system chose it", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "https-records-"));
  t.after(() => removeDirectory(dataDir));
  const saying = ({ ready }: Selvedge): readonly string[] => [`1 . alpn="h2" port="${new URL(ready.https).port}" ipv4hint="127.0.0.1"`];

  const first = await startSelvedge({ dataDir });
  t.after(() => first.stop());
  const call = apiCaller(first.ready);
  const zone = await succeed(call("POST", "/zones", { name: "front.test", account: { id: first.ready.account_id } }));
  const records = `/zones/${zone.id}/dns_records`;
  await succeed(call("POST", records, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  await succeed(call("POST", records, { type: "A", name: "plain", content: "192.0.2.1" }));
  assert.deepEqual(await httpsOf(first, "www.front.test"), saying(first));
  assert.deepEqual(await httpsOf(first, "plain.front.test"), []);
  await succeed(call("PATCH", `/zones/${zone.id}/settings/http2`, { value: "off" }));
  assert.deepEqual(await httpsOf(first, "www.front.test"), []);
  await succeed(call("PATCH", `/zones/${zone.id}/settings/http2`, { value: "on" }));
  assert.equal((await first.stop()).code, 0);

  const second = await startSelvedge({ dataDir });
  t.after(() => second.stop());
  assert.deepEqual(await httpsOf(second, "www.front.test"), saying(second));
});
