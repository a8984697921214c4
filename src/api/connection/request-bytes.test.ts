import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { requestBytes } from "./request-bytes.ts";

test("a body whose client left before it was asked for fails, and keeps nobody waiting", async (t) => {
  const outcome = Promise.withResolvers<string>();
  const server = createServer((request) => {
    request.once("close", () => void requestBytes(request, "100", 1000).then(String, String).then(outcome.resolve));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 100\r\n\r\nhalf");
  await once(server, "request");
  socket.destroy();
  const late = new Promise<string>((resolve) => setTimeout(resolve, 2_000, "waits").unref());
  assert.match(await Promise.race([outcome.promise, late]), /aborted/);
});
