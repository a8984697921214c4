import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { openListener } from "./listener.ts";

test("a connection that never shakes hands is closed in time, and counted", async (t) => {
  let failed = 0;
  const listener = await openListener({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    tls: { handshakeTimeout: 200 },
    onConnection: () => assert.fail("it never shook hands"),
    onHandshakeFailed: () => failed++,
  });
  t.after(() => listener.close());
  const socket = connect(listener.port, "127.0.0.1");
  t.after(() => socket.destroy());
  await once(socket, "connect");
  const limit = setTimeout(() => socket.destroy(new Error("the connection is still open")), 5000);
  await once(socket.resume(), "close");
  clearTimeout(limit);
  assert.equal(failed, 1);
});
