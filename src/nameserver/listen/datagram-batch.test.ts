import assert from "node:assert/strict";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { constants } from "node:os";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "#kernel/clock.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createDatagramBatch, type DatagramBatch } from "./datagram-batch.ts";
import { loadSystemSockets, type SystemSockets } from "./system-sockets.ts";
import { LOOPBACKS } from "../../../test/support/ipv6.ts";

const sockets = await loadSystemSockets();
const skip = sockets === undefined ? "the system's calls are not known here" : false;

/** The answers to a client that has sent `count` queries: its number and theirs. All queries wait in the server's socket. */
async function client(t: TestContext, number: number, count: number, host: string, port: number): Promise<readonly string[]> {
  const socket: Socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  t.after(() => socket.close());
  const answers: string[] = [];
  socket.on("message", (bytes) => answers.push(bytes.toString()));
  socket.bind(0, host);
  await once(socket, "listening");
  const send = promisify<string, number, string>(socket.send.bind(socket));
  for (let question = 0; question < count; question++) await send(`${number}/${question}`, port, host);
  return answers;
}

/** Answers what waits with its own text, filled up to a length that `lengthOf` tells, until so many are answered; returns how many were refused. */
async function answerAll(fd: number, batch: DatagramBatch, total: number, lengthOf: (question: number) => number): Promise<number> {
  let answered = 0;
  let failed = 0;
  await eventually(() => {
    const received = batch.receive(fd);
    for (let slot = 0; slot < received; slot++) {
      const { input, start, length, output, outStart } = batch.datagram(slot);
      const text = input.toString("latin1", start, start + length);
      const bytes = lengthOf(Number(text.split("/")[1]));
      batch.answer(slot, output.write(text.padEnd(bytes, "."), outStart, "latin1"));
    }
    failed += batch.send(fd);
    answered += received;
    return answered === total;
  });
  return failed;
}

const expected = (number: number, count: number, lengthOf: (question: number) => number): readonly string[] =>
  Array.from({ length: count }, (_, question) => `${number}/${question}`.padEnd(lengthOf(question), ".")).toSorted();

for (const host of LOOPBACKS) {
  test(`each client gets every answer as a separate datagram, whatever is sent together: ${host}`, { skip }, async (t) => {
    let messages = 0;
    const real = sockets as SystemSockets;
    const counting: SystemSockets = { ...real, send: (fd, headers, count) => ((messages += count), real.send(fd, headers, count)) };
    const address = parseIp(host) ?? assert.fail();
    const fd = real.bindUdp(address, 0, false);
    t.after(() => real.close(fd));
    const batch = createDatagramBatch(counting, address.family, systemClock);
    const lengthOf = (question: number): number => [20, 600, 20][question] as number;
    const clients = await Promise.all(Array.from({ length: 60 }, (_, number) => client(t, number, 3, host, real.portOf(fd))));
    assert.equal(await answerAll(fd, batch, 180, lengthOf), 0);
    await eventually(() => clients.every((answers) => answers.length === 3));
    for (const [i, answers] of clients.entries()) assert.deepEqual(answers.toSorted(), expected(i, 3, lengthOf));
    // More than fits into one message, whatever it is cut into.
    messages = 0;
    const long = await client(t, 60, 64, host, real.portOf(fd));
    assert.equal(await answerAll(fd, batch, 64, () => 1232), 0);
    assert.equal(messages < 64, real.cutsMessages, `${messages} messages for 64 answers`);
    await eventually(() => long.length === 64);
    assert.deepEqual(
      long.toSorted(),
      expected(60, 64, () => 1232),
    );
  });
}

test("if the system rejects a batched send, the answers and all later ones are sent singly", { skip }, async (t) => {
  const real = sockets as SystemSockets;
  const counts: number[] = [];
  const refusing: SystemSockets = {
    ...real,
    send: (fd, headers, count) => (counts.push(count) === 1 ? -constants.errno.EINVAL : real.send(fd, headers, count)),
  };
  const address = parseIp("127.0.0.1") ?? assert.fail();
  const fd = real.bindUdp(address, 0, false);
  t.after(() => real.close(fd));
  const batch = createDatagramBatch(refusing, 4, systemClock);
  const answers = await client(t, 1, 10, "127.0.0.1", real.portOf(fd));
  assert.equal(await answerAll(fd, batch, 10, () => 20), 0);
  await eventually(() => answers.length === 10);
  assert.deepEqual(
    answers.toSorted(),
    expected(1, 10, () => 20),
  );
  const refusedParts = counts.length;
  const more = await client(t, 2, 10, "127.0.0.1", real.portOf(fd));
  assert.equal(await answerAll(fd, batch, 10, () => 20), 0);
  await eventually(() => more.length === 10);
  assert.deepEqual(
    more.toSorted(),
    expected(2, 10, () => 20),
  );
  assert.equal(
    counts.slice(refusedParts).reduce((sum, count) => sum + count, 0),
    10,
    "each is a message of its own",
  );
});
