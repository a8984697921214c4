import assert from "node:assert/strict";
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server as NetServer } from "node:net";
import { type TestContext, test } from "node:test";
import { parseIp } from "#kernel/net/ip.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { queryServer, type Server } from "./query-server.ts";
import { PATIENCE_MS } from "../../../test/support/eventually.ts";

const NAME = parseAbsoluteName("www.elsewhere.example");
const QUESTION = { name: NAME, type: TYPE.A };

const address = (last: number) => ({ name: NAME, type: TYPE.A, class: CLASS.IN, ttl: 60, rdata: Buffer.of(192, 0, 2, last) });
const answerTo = (query: Buffer, change: Partial<Message> = {}): Buffer =>
  encodeMessage({ ...decodeMessage(query), flags: FLAG.QR, answers: [address(1)], ...change }) as Buffer;

interface FakeServer extends Server {
  /** Ports that questions came from. */
  readonly ports: Set<number>;
}

/** A server on UDP and TCP of the loopback address that sends what the functions make of a query. */
async function serve(t: TestContext, udp: (query: Buffer) => readonly Buffer[], tcp: (query: Buffer) => Buffer): Promise<FakeServer> {
  const ports = new Set<number>();
  const server = createServer((connection) => {
    connection.on("error", () => {});
    connection.once("data", (bytes) => {
      const packet = tcp(bytes.subarray(2));
      connection.write(Buffer.of(packet.length >> 8, packet.length & 0xff));
      // In pieces, as networks deliver it.
      setTimeout(() => connection.end(packet), 5);
    });
  });
  t.after(() => server.close());
  const socket = await bindBoth(server);
  t.after(() => socket.close());
  socket.on("message", (query, peer: RemoteInfo) => {
    ports.add(peer.port);
    for (const packet of udp(query)) socket.send(packet, peer.port, peer.address);
  });
  const { port } = socket.address();
  return { ip: parseIp("127.0.0.1") as Server["ip"], port, ports };
}

/** One number for both, as servers have: one that UDP gave may be taken for TCP. */
async function bindBoth(server: NetServer): Promise<Socket> {
  for (let tries = 1; ; tries++) {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    try {
      server.listen(socket.address().port, "127.0.0.1");
      await once(server, "listening");
      return socket;
    } catch (error) {
      socket.close();
      if (tries === 20) throw error;
    }
  }
}

const soon = (): AbortSignal => AbortSignal.timeout(PATIENCE_MS);
const lastBytes = ({ answers }: Message): readonly (number | undefined)[] => answers.map(({ rdata }) => rdata[3]);

test("the client accepts only a message that repeats its identifier and question", async (t) => {
  const server = await serve(
    t,
    (query) => {
      const otherId = answerTo(query, { answers: [address(66)] });
      otherId.writeUInt16BE(query.readUInt16BE(0) ^ 1, 0);
      const otherName = parseAbsoluteName("ww2.elsewhere.example");
      return [
        otherId,
        answerTo(query, { questions: [{ name: otherName, type: TYPE.A, class: CLASS.IN }], answers: [address(67)] }),
        answerTo(query, { questions: [{ name: NAME, type: TYPE.AAAA, class: CLASS.IN }], answers: [address(68)] }),
        answerTo(query, { questions: [], answers: [address(69)] }),
        answerTo(query, { flags: 0, answers: [address(70)] }),
        Buffer.from("nonsense"),
        answerTo(query).subarray(0, -3),
        answerTo(query),
      ];
    },
    answerTo,
  );
  assert.deepEqual(lastBytes(await queryServer(server, QUESTION, soon())), [1]);
});

test("each query has a new identifier and port, and sets RD", async (t) => {
  const ids = new Set<number>();
  const server = await serve(
    t,
    (query) => {
      ids.add(query.readUInt16BE(0));
      assert.equal(query.readUInt16BE(2), FLAG.RD);
      return [answerTo(query)];
    },
    answerTo,
  );
  await Promise.all(Array.from({ length: 20 }, () => queryServer(server, QUESTION, soon())));
  assert.ok(ids.size > 15 && server.ports.size === 20, `${ids.size} identifiers, ${server.ports.size} ports`);
});

test("the client fetches a truncated answer over TCP", async (t) => {
  const many = Array.from({ length: 60 }, (_, i) => address(i));
  const server = await serve(
    t,
    (query) => [answerTo(query, { flags: FLAG.QR | FLAG.TC, answers: [] })],
    (query) => answerTo(query, { answers: many }),
  );
  assert.equal((await queryServer(server, QUESTION, soon())).answers.length, 60);
  const other = await serve(
    t,
    (query) => [answerTo(query, { flags: FLAG.QR | FLAG.TC, answers: [] })],
    (query) => answerTo(query, { questions: [] }),
  );
  await assert.rejects(queryServer(other, QUESTION, soon()), /another query/);
});

test("silence, a closed port and a flood of forged answers end the query", async (t) => {
  const silent = await serve(t, () => [], answerTo);
  await assert.rejects(queryServer(silent, QUESTION, AbortSignal.timeout(50)), { name: "TimeoutError" });
  await assert.rejects(queryServer(silent, QUESTION, AbortSignal.abort(new Error("closed"))), /closed/);
  const forging = await serve(t, () => Array.from({ length: 60 }, () => Buffer.alloc(20)), answerTo);
  await assert.rejects(queryServer(forging, QUESTION, soon()), /too many/);
  const free = createSocket("udp4");
  free.bind(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  free.close();
  await assert.rejects(queryServer({ ip: silent.ip, port }, QUESTION, soon()), { code: "ECONNREFUSED" });
});
