import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { createMessageTurns } from "#kernel/process/message-turns.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { join } from "./joined-sockets.ts";
import { SESSION_UNITS_PER_TICK } from "./realtime.ts";
import { SessionUsage } from "./session-usage.ts";

/** Two ends of a connection. */
async function connection(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [near, far]) socket.on("error", () => undefined);
  t.after(() => [near, far].forEach((socket) => socket.destroy()));
  return [near, far];
}

/** Sends the bytes again and again. */
function flood(socket: Socket, bytes: Buffer): void {
  const send = (): void => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", send);
  send();
}

const PIECE_BYTES = 8 * 1024;
const ANSWER = Buffer.from('{"type":"response.done","response":{"usage":{"input_tokens":1}}}');

const FLOODS = [
  ["large messages", Buffer.concat([Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Buffer.alloc(65_536)]), 2 ** 18, 0],
  [
    "answers",
    Buffer.concat([Buffer.from([0x81, ANSWER.length]), ANSWER]),
    2 ** 15,
    SESSION_UNITS_PER_TICK / 2_048 + PIECE_BYTES / ANSWER.length,
  ],
] as const;

test("twenty sessions at full speed share a number of bytes for each tick, and have equal parts of it", async (t) => {
  for (const [what, message, bytesEach, answersMax] of FLOODS)
    await t.test(what, (one) => flooded(one, { message, bytesEach, answersMax }));
});

interface Flood {
  readonly message: Buffer;
  /** Each session gets at least so many. */
  readonly bytesEach: number;
  readonly answersMax: number;
}

async function flooded(t: TestContext, { message, bytesEach, answersMax }: Flood): Promise<void> {
  const turns = createMessageTurns(SESSION_UNITS_PER_TICK);
  const all = { bytes: 0, answers: 0 };
  const most = { bytes: 0, answers: 0 };
  const sessions = Array.from({ length: 20 }, () => ({ fromClient: 0, fromProvider: 0 }));
  const pairs = await Promise.all(sessions.map(async (bytes) => ({ bytes, ours: await connection(t), theirs: await connection(t) })));
  for (const { bytes, ours, theirs } of pairs) {
    const [[client, socket], [origin, provider]] = [ours, theirs];
    const usage = new SessionUsage(() => (all.answers += 1));
    const push = usage.push.bind(usage);
    usage.push = (piece) => {
      all.bytes += piece.length;
      return push(piece);
    };
    join({ socket, provider, usage, bytes, mask: undefined, turns }, () => undefined);
    client.resume();
    flood(origin, Buffer.concat(Array.from({ length: Math.ceil(65_536 / message.length) }, () => message)));
  }
  let before = { ...all };
  const look = (): void => {
    most.bytes = Math.max(most.bytes, all.bytes - before.bytes);
    most.answers = Math.max(most.answers, all.answers - before.answers);
    before = { ...all };
    if (!t.signal.aborted) setImmediate(look);
  };
  look();
  await eventually(() => sessions.every(({ fromProvider }) => fromProvider > bytesEach));
  // A tick that this test sees may have parts of two.
  assert.ok(most.bytes <= 2 * (SESSION_UNITS_PER_TICK + PIECE_BYTES), `${most.bytes} bytes in a tick`);
  assert.ok(most.answers <= 2 * answersMax, `${most.answers} answers in a tick`);
  const parts = sessions.map(({ fromProvider }) => fromProvider);
  assert.ok(Math.max(...parts) < 3 * Math.min(...parts), `parts ${parts.join()}`);
}

test("bytes of both sides pass whole while turns are short, and an end reaches the other side", async (t) => {
  const [[client, socket], [origin, provider]] = [await connection(t), await connection(t)];
  const bytes = { fromClient: 0, fromProvider: 0 };
  const ended = Promise.withResolvers<void>();
  join({ socket, provider, usage: new SessionUsage(), bytes, mask: undefined, turns: createMessageTurns(1_024) }, ended.resolve);
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i * 7));
  const heard = [client, origin].map(async (side) => {
    const chunks: Buffer[] = [];
    for await (const chunk of side) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  });
  client.write(sent);
  origin.write(sent);
  await eventually(() => bytes.fromClient === sent.length && bytes.fromProvider === sent.length);
  client.end();
  origin.end();
  for (const side of heard) assert.ok((await side).equals(sent));
  await ended.promise;
});
