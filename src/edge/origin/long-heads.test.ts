import assert from "node:assert/strict";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { exchangeRaw, siteOps, startEdge } from "#edge/testing/edge.ts";
import type { EdgeLimits } from "#edge/config.ts";

/** The visitor's response if the origin's has this head, sent in pieces of `pieceBytes`. */
async function answerTo(
  t: TestContext,
  lines: string,
  limits: Partial<EdgeLimits> = {},
  pieceBytes = 65_536,
  path = "/page",
): Promise<string> {
  const sockets = new Set<Socket>();
  const origin = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      const text = `HTTP/1.1 200 OK\r\n${lines}Content-Length: 4\r\n\r\nbody`;
      for (let at = 0; at < text.length; at += pieceBytes) socket.write(text.slice(at, at + pieceBytes), "latin1");
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => origin.once("listening", resolve));
  const edge = await startEdge(siteOps((origin.address() as AddressInfo).port), {}, limits);
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    origin.close();
    await edge.close();
    assert.deepEqual(edge.errors, []);
  });
  return exchangeRaw(edge.http, `GET ${path} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
}

const long = (bytes: number): string => `X-Long: ${"x".repeat(bytes)}\r\n`;
const many = (count: number): string => Array.from({ length: count }, (_, i) => `X-${i}: ${i}\r\n`).join("");

test("the edge accepts origin response heads of up to 128 KB and 256 fields, and the error page says which limit was exceeded", async (t) => {
  for (const path of ["/page", "/a.css"]) {
    const whole = await answerTo(t, long(130_000), {}, 1_000, path);
    assert.ok(whole.startsWith("HTTP/1.1 200 ") && whole.includes(`${"x".repeat(130_000)}\r\n`) && whole.endsWith("\r\n\r\nbody"));
    const fields = await answerTo(t, many(255), {}, 65_536, path);
    assert.match(fields, /^HTTP\/1\.1 200 [^]*X-254: 254\r\n[^]*\r\n\r\nbody$/);
    assert.match(await answerTo(t, long(131_072), {}, 65_536, path), /^HTTP\/1\.1 520 [^]*edge\.origin_header_bytes_max/);
    assert.match(await answerTo(t, many(256), {}, 65_536, path), /^HTTP\/1\.1 520 [^]*edge\.origin_header_fields_max/);
  }
});

test("the operator can lower the limits of response heads", async (t) => {
  const limits = { originHeadBytesMax: 1_024, originHeadFieldsMax: 16 };
  assert.match(await answerTo(t, long(900), limits), /^HTTP\/1\.1 200 /);
  assert.match(await answerTo(t, long(1_024), limits), /^HTTP\/1\.1 520 [^]*edge\.origin_header_bytes_max/);
  assert.match(await answerTo(t, many(15), limits), /^HTTP\/1\.1 200 /);
  assert.match(await answerTo(t, many(16), limits), /^HTTP\/1\.1 520 [^]*edge\.origin_header_fields_max/);
});

test("the edge still reports a malformed response head as invalid HTTP", async (t) => {
  assert.match(await answerTo(t, "X: a\nY: b\r\n"), /^HTTP\/1\.1 520 [^]*not valid HTTP/);
});
