import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const NAME_SERVER = "ns1.selvedge.internal";

test("DNS over TLS works with the nameserver's name, with a zone's name and without SNI", { skip: toolOrSkip("kdig") }, async (t) => {
  const selvedge = await startSelvedge();
  t.after(() => selvedge.stop());
  const call = apiCaller(selvedge.ready);
  const zone = await succeed(call("POST", "/zones", { name: "dot.test", account: { id: selvedge.ready.account_id } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "192.0.2.85", ttl: 120 }));
  const [host = "", port = ""] = selvedge.ready.dot.split(":");
  const caPath = join(selvedge.dataDir, "ca.pem");

  const kdig = (serverName: string): Promise<string> =>
    runClient("kdig", [
      `@${host}`,
      "-p",
      port,
      `+tls-ca=${caPath}`,
      `+tls-hostname=${serverName}`,
      "+padding",
      ...["+retry=0", "+timeout=60"],
      "www.dot.test",
      "A",
    ]);
  for (const serverName of [NAME_SERVER, "ns.dot.test"]) {
    const printed = await kdig(serverName);
    assert.match(printed, /TLS session \(TLS1\.3\)/);
    assert.match(printed, /^www\.dot\.test\.\s+120\s+IN\s+A\s+192\.0\.2\.85$/m);
    // RFC 8467 §4.1: answers to those who pad are padded to a multiple of 468 bytes.
    assert.match(printed, /Received 468 B/);
  }
  await assert.rejects(kdig("elsewhere.example"), "no certificate is for this name");

  const ca = readFileSync(caPath);
  const socket = connect({ host, port: Number(port), ca, ALPNProtocols: ["dot"], checkServerIdentity: () => undefined });
  t.after(() => socket.destroy());
  await once(socket, "secureConnect");
  assert.equal(socket.alpnProtocol, "dot");
  assert.equal(socket.getPeerCertificate().subjectaltname, `DNS:${NAME_SERVER}, DNS:ns2.selvedge.internal`);
  for (const id of [1, 2, 3]) socket.write(framed(query(id)));
  assert.deepEqual(await answeredIds(socket, 3), [1, 2, 3], "many questions a connection");
});

const query = (id: number): Buffer =>
  encodeMessage({
    id,
    flags: FLAG.RD,
    questions: [{ name: parseAbsoluteName("www.dot.test"), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  })!;

function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

async function answeredIds(socket: TLSSocket, count: number): Promise<readonly number[]> {
  const ids: number[] = [];
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
      const end = 2 + bytes.readUInt16BE(0);
      ids.push(decodeMessage(bytes.subarray(2, end)).id);
      bytes = bytes.subarray(end);
    }
    if (ids.length === count) break;
  }
  return ids;
}
