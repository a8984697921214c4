import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { READ_BUFFER, readShared } from "./read-buffer.ts";
import { readUntil } from "../../../../test/support/eventually.ts";

/** Both ends of a connection; the accepted one has not been read from. */
async function pair(t: TestContext): Promise<{ readonly near: Socket; readonly accepted: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  const [accepted] = (await once(server, "connection")) as [Socket];
  t.after(() => {
    near.destroy();
    accepted.destroy();
    server.close();
  });
  return { near, accepted };
}

/** Resolves when the text has arrived. */
const until = (text: () => string, expected: string): Promise<string> => readUntil(text, (received) => received === expected);

test("an accepted socket reads into the shared buffer and reports its end", async (t) => {
  const { near, accepted } = await pair(t);
  let text = "";
  assert.equal(
    readShared(accepted, (length) => {
      text += READ_BUFFER.toString("latin1", 0, length);
      return true;
    }),
    true,
    "this Node.js keeps its sockets as shared-reads.ts expects",
  );
  accepted.on("data", () => assert.fail("read into a buffer of its own"));
  near.write("first");
  await until(() => text, "first");
  near.end(" and last");
  await once(accepted, "end");
  assert.equal(text, "first and last");
});

test("bytes that were unshifted to a socket arrive before bytes that are read", async (t) => {
  const { near, accepted } = await pair(t);
  let text = "";
  near.write("head|first");
  const [piece] = (await once(accepted, "data")) as [Buffer];
  assert.equal(piece.toString(), "head|first");
  accepted.pause();
  accepted.unshift(piece.subarray(5));
  readShared(accepted, (length) => {
    text += READ_BUFFER.toString("latin1", 0, length);
    return true;
  });
  accepted.on("data", (bytes: Buffer) => {
    text += `[${bytes.toString()}]`;
  });
  near.write(" last");
  accepted.resume();
  await until(() => text, "[first] last");
});

test("a paused reader gets no bytes until it resumes", async (t) => {
  const { near, accepted } = await pair(t);
  let text = "";
  let wantsMore = false;
  readShared(accepted, (length) => {
    text += READ_BUFFER.toString("latin1", 0, length);
    if (!wantsMore) accepted.pause();
    return wantsMore;
  });
  accepted.on("data", () => undefined);
  near.write("one");
  await until(() => text, "one");
  near.write(" two");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(text, "one");
  wantsMore = true;
  accepted.resume();
  await until(() => text, "one two");
});

test("a socket without a connection stays unchanged", () => {
  assert.equal(
    readShared(new Socket(), () => true),
    false,
  );
});
