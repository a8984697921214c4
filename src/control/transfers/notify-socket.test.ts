import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { FLAG, OPCODE, opcodeOf, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";
import { createAnswerSigner, createTsigKey, type TsigKey, verifyRequest } from "#wire/dns/tsig.ts";
import { readTsig, TSIG_ERROR } from "#wire/dns/tsig-record.ts";
import { createNotifySocket, type NotifyPeer } from "./notify-socket.ts";
import { LOOPBACKS } from "../../../test/support/ipv6.ts";

const clock = fixedClock("2026-11-20T14:00:00Z");
const ZONE = parseAbsoluteName("example.com");
const NOW = clock.nowMs() / 1000;

/** A peer that answers with what `answer` makes of a notification. */
async function peerThat(t: TestContext, host: string, answer: (packet: Buffer) => readonly Buffer[]): Promise<number> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  socket.on("message", (packet, { port, address }) => answer(packet).forEach((reply) => socket.send(reply, port, address)));
  socket.bind(0, host);
  await once(socket, "listening");
  t.after(() => socket.close());
  return socket.address().port;
}

function notifying(t: TestContext) {
  const socket = createNotifySocket({ hosts: ["127.0.0.1"], clock });
  t.after(() => socket.close());
  return (address: string, port: number, key?: TsigKey, timeoutMs = 2_000): Promise<number | null> =>
    socket.notify(ZONE, { address, port, key } satisfies NotifyPeer, timeoutMs);
}

/** The message without its signature, as an answer. */
const acknowledged = (packet: Buffer, rcode = 0): Buffer => {
  const reply = Buffer.from(packet.subarray(0, readTsig(packet)?.start ?? packet.length));
  reply.writeUInt16BE(packet.readUInt16BE(2) | FLAG.QR | rcode, 2);
  reply.writeUInt16BE(0, 10);
  return reply;
};

test("a NOTIFY names the zone, and the response code is returned", async (t) => {
  const notify = notifying(t);
  for (const host of LOOPBACKS) {
    let seen: Buffer | undefined;
    const port = await peerThat(t, host, (packet) => [acknowledged((seen = packet), 5)]);
    assert.equal(await notify(host, port), 5);
    const { flags, questions, answers, additionals } = decodeMessage(seen as Buffer);
    assert.deepEqual([opcodeOf(flags), flags & FLAG.AA], [OPCODE.NOTIFY, FLAG.AA]);
    assert.deepEqual([questions.length, questions[0]?.type, formatName(questions[0]?.name as Buffer)], [1, TYPE.SOA, "example.com"]);
    assert.deepEqual([answers, additionals], [[], []]);
  }
});

test("invalid answers are ignored", async (t) => {
  const notify = notifying(t);
  const port = await peerThat(t, "127.0.0.1", (packet) => {
    const other = Buffer.from(acknowledged(packet));
    other.writeUInt16BE((packet.readUInt16BE(0) + 1) & 0xffff, 0);
    const otherZone = acknowledged(packet);
    otherZone[13]! ^= 1;
    return [packet, other, otherZone, Buffer.alloc(1), packet.subarray(0, 5), acknowledged(packet, 4)];
  });
  assert.equal(await notify("127.0.0.1", port), 4);
  const silent = await peerThat(t, "127.0.0.1", (packet) => [packet]);
  assert.equal(await notify("127.0.0.1", silent, undefined, 50), null);
});

test("a foreign source address is an error each time, and leaves nothing open", async () => {
  const socket = createNotifySocket({ hosts: ["192.0.2.1"], clock });
  for (let i = 0; i < 2; i++)
    await assert.rejects(socket.notify(ZONE, { address: "127.0.0.1", port: 9, key: undefined }, 100), { code: "EADDRNOTAVAIL" });
  socket.close();
});

test("with a key both sides sign", async (t) => {
  const notify = notifying(t);
  const key = createTsigKey("k.example", "hmac-sha256", Buffer.alloc(32, 7));
  const verdicts: number[] = [];
  const port = await peerThat(t, "127.0.0.1", (packet) => {
    const record = readTsig(packet);
    assert.ok(record);
    verdicts.push(verifyRequest(packet, record, [key], NOW).error);
    const unsigned = acknowledged(packet, 2);
    const forged = createAnswerSigner({ ...key, secret: Buffer.alloc(32, 8) }, record.mac, () => NOW)(acknowledged(packet, 3));
    return [unsigned, forged, createAnswerSigner(key, record.mac, () => NOW)(acknowledged(packet))];
  });
  assert.equal(await notify("127.0.0.1", port, key), 0);
  assert.deepEqual(verdicts, [TSIG_ERROR.NONE]);
});
