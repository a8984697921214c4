import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { buffer } from "node:stream/consumers";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";
import { readUntil } from "../support/eventually.ts";

const NAME_SERVER = "ns1.selvedge.internal";
const MEDIA_TYPE = "application/dns-message";

interface Asked {
  readonly res: IncomingMessage;
  readonly body: Buffer;
}

test("the edge answers DNS over HTTPS under the names of the nameservers, and under no other name", async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "doh.test", account: { id: selvedge.ready.account_id } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "192.0.2.80", ttl: 120 }));
  const ca = readFileSync(join(selvedge.dataDir, "ca.pem"));
  const ask = async (
    path: string,
    options: { readonly host?: string; readonly method?: string; readonly body?: Buffer; readonly type?: string } = {},
  ): Promise<Asked> => {
    const { host = NAME_SERVER, method = "GET", body, type = MEDIA_TYPE } = options;
    const headers = { host, accept: MEDIA_TYPE, ...(body ? { "content-type": type, "content-length": body.length } : {}) };
    const req = request({
      host: "127.0.0.1",
      port: new URL(selvedge.ready.https).port,
      servername: host,
      ca,
      path,
      method,
      headers,
      agent: false,
    });
    req.end(body);
    const [res] = (await once(req, "response")) as [IncomingMessage];
    return { res, body: await buffer(res) };
  };
  const question = query("www.doh.test");
  const assertAnswer = ({ res, body }: Asked): void => {
    assert.equal(res.statusCode, 200);
    assert.equal(res.headers["content-type"], MEDIA_TYPE);
    assert.equal(res.headers["cache-control"], "max-age=120");
    const { id, answers } = decodeMessage(body);
    assert.deepEqual([id, answers.map(({ rdata }) => [...rdata])], [0, [[192, 0, 2, 80]]]);
  };

  assertAnswer(await ask(`/dns-query?dns=${question.toString("base64url")}`));
  assertAnswer(await ask("/dns-query", { method: "POST", body: question }));
  const negative = await ask("/dns-query", { method: "POST", body: query("missing.doh.test") });
  assert.equal(negative.res.headers["cache-control"], "max-age=1800", "the negative TTL");
  const large = Buffer.alloc(70_000);
  const refused: readonly (readonly [Promise<Asked>, number])[] = [
    [ask("/dns-query"), 400],
    [ask("/dns-query?dns=%2B%2B"), 400],
    [ask(`/dns-query?dns=${Buffer.from("short").toString("base64url")}`), 400],
    [ask("/dns-query", { method: "POST", body: question, type: "text/plain" }), 415],
    [ask("/dns-query", { method: "POST", body: large }), 413],
    [ask("/dns-query", { method: "DELETE" }), 405],
  ];
  for (const [asked, status] of refused) assert.equal((await asked).res.statusCode, status);
  // A customer's name is none of the nameservers', and its own path stays its own.
  assert.equal((await ask(`/dns-query?dns=${question.toString("base64url")}`, { host: "www.doh.test" })).res.statusCode, 530);
  assert.equal((await ask("/elsewhere")).res.statusCode, 530);
});

test("kdig and curl query over HTTP/2, and the HTTPS record of a proxied name announces it", { skip: toolOrSkip("kdig") }, async (t) => {
  const port = String(await freePort());
  const selvedge = await startSelvedge({ args: ["--https-port", port] });
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "doh2.test", account: { id: selvedge.ready.account_id } }));
  const records = `/zones/${zone.id}/dns_records`;
  await succeed(call("POST", records, { type: "A", name: "www", content: "192.0.2.80", ttl: 120 }));
  await succeed(call("POST", records, { type: "A", name: "api", content: "127.0.0.1", ttl: 120 }));
  await succeed(call("POST", records, { type: "A", name: "shop", content: "192.0.2.81", proxied: true, ttl: 1 }));
  const [dnsHost = "", dnsPort = ""] = selvedge.ready.dns.split(":");
  const ca = join(selvedge.dataDir, "ca.pem");
  const secured = ["+https", `+tls-ca=${ca}`, `+tls-hostname=${NAME_SERVER}`, "+retry=0", "+timeout=60"];
  const printed = await runClient("kdig", ["@127.0.0.1", "-p", port, ...secured, "www.doh2.test", "A"]);
  assert.match(printed, /HTTP session \(HTTP\/2-(?:POST|GET)\)/);
  assert.match(printed, /^www\.doh2\.test\.\s+120\s+IN\s+A\s+192\.0\.2\.80$/m);

  const doh = ["--doh-url", `https://${NAME_SERVER}:${port}/dns-query`, "--resolve", `${NAME_SERVER}:${port}:127.0.0.1`];
  const api = `http://api.doh2.test:${new URL(selvedge.ready.api).port}/client/v4/user/tokens/verify`;
  const status = await runClient("curl", [
    "-sS",
    "--max-time",
    "120",
    "--cacert",
    ca,
    ...doh,
    "-o",
    "/dev/null",
    "-w",
    "%{http_code}",
    api,
  ]);
  assert.equal(status, "421", "the name was found and its address answered, though not under that name");

  const hints = (): Promise<string> => runClient("dig", [`@${dnsHost}`, "-p", dnsPort, "+short", "shop.doh2.test", "HTTPS"]);
  const becomes = async (pattern: RegExp): Promise<void> => {
    await readUntil(hints, (text) => pattern.test(text));
  };
  // Once the zone has its certificate.
  await becomes(new RegExp(`^1 \\. alpn="h2" port=${port} ipv4hint=127\\.0\\.0\\.1\\s*$`));
  await succeed(call("PATCH", `/zones/${zone.id}/settings/http2`, { value: "off" }));
  await becomes(/^\s*$/);
});

/** RFC 8484 §4.1: id 0, so that caches see equal questions as equal. */
const query = (name: string): Buffer =>
  encodeMessage({
    id: 0,
    flags: FLAG.RD,
    questions: [{ name: parseAbsoluteName(name), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  })!;
