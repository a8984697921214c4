import { createSocket } from "node:dgram";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { succeed } from "../support/api.ts";
import { queryFor } from "../support/dns-client.ts";
import type { BenchServer } from "./bench-server.ts";
import type { Place } from "./pump.ts";

/** A message over TCP has at most 65,535 bytes, its header and first question included (RFC 1035 §4.2.2). */
const MESSAGE_BYTES = 65_000;
const TIMEOUT_MS = 10_000;
const ZONE = "pumped.example";
const SECONDARY = "fetched.example";
const TYPE = { A: 1, SOA: 6, AXFR: 252 };
const OPCODE = { query: 0, notify: 4, update: 5 };

const bytes = (...values: number[]): string => String.fromCharCode(...values);
/** A record whose name points at the question's: RFC 1035 §4.1.3. */
const record = (type: number, data: string): string =>
  bytes(0xc0, 12, type >> 8, type & 255, 0, 1, 0, 0, 1, 44, data.length >> 8, data.length & 255) + data;
const option = (code: number, data: string): string => bytes(code >> 8, code & 255, data.length >> 8, data.length & 255) + data;

const NAMES = [bytes(0), bytes(0xff), bytes(0xc0, 12), bytes(1, 0x61), bytes(1, 0x61, 0xc0, 12), bytes(63) + "a".repeat(63), bytes(1, 0)];
const QUESTIONS = [...NAMES, bytes(0, 0, 1, 0, 1), bytes(0xc0, 12, 0, 1, 0, 1), bytes(1, 0x61, 0xc0, 12, 0, 255, 0, 255)];
const RECORDS = [
  ...NAMES,
  record(TYPE.A, bytes(127, 0, 0, 1)),
  record(2, bytes(1, 0x61, 0xc0, 12)),
  record(5, bytes(0xc0, 12)),
  record(16, bytes(255) + "t".repeat(255)),
  record(16, bytes(0).repeat(200)),
  record(47, bytes(0xc0, 12) + bytes(0, 1, 64)),
  record(50, bytes(1, 0, 255, 255, 8) + "saltsalt" + bytes(1, 0)),
  record(64, bytes(0, 1, 0, 0, 1, 0, 2, 1, 0x61)),
  record(250, bytes(0) + "x".repeat(20)),
  record(65_280, ""),
  bytes(0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0),
];
const OPTIONS = [
  option(10, "cookie88"),
  option(10, "c"),
  option(8, bytes(0, 1, 32, 0, 127, 0, 0, 1)),
  option(8, ""),
  option(12, ""),
  option(11, ""),
  option(3, ""),
  option(14, bytes(0, 1)),
  option(65_001, ""),
  bytes(0),
  bytes(0xff),
];

const header = (opcode: number, counts: readonly [number, number, number, number]): Buffer => {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(7, 0);
  head.writeUInt16BE(opcode << 11, 2);
  for (const [i, count] of counts.entries()) head.writeUInt16BE(count, 4 + 2 * i);
  return head;
};
const question = (name: string, type: number): Buffer => queryFor(name, type, 7).subarray(12);
const many = 65_535;

/** Messages of clients and primaries. `status` is 200 for NOERROR, and 400 plus the RCODE otherwise. */
export async function dnsPlaces(bench: BenchServer): Promise<{ readonly places: readonly Place[]; close(): Promise<void> }> {
  const { call, selvedge } = bench;
  const port = Number(selvedge.ready.dns.split(":").at(-1));
  const zone = await bench.createZone(ZONE);
  await succeed(call("POST", `/zones/${zone}/dns_records`, { type: "A", name: "www", content: "192.0.2.1", ttl: 300 }));
  const ask = (message: Buffer): Promise<number> => answerOver(port, message);
  const after = (opcode: number, counts: readonly [number, number, number, number], type: number) => (text: string) =>
    ask(Buffer.concat([header(opcode, counts), question(`www.${ZONE}`, type), Buffer.from(text, "latin1")]));
  const primary = await startPrimary(bench);
  const place = (name: string, pieces: readonly string[], send: Place["send"]): Place => ({ name, bytes: MESSAGE_BYTES, pieces, send });
  return {
    places: [
      place("dns_questions", QUESTIONS, (text) => ask(Buffer.concat([header(OPCODE.query, [many, 0, 0, 0]), Buffer.from(text, "latin1")]))),
      place("dns_answers", RECORDS, after(OPCODE.query, [1, many, 0, 0], TYPE.A)),
      place("dns_additional", RECORDS, after(OPCODE.query, [1, 0, 0, many], TYPE.A)),
      place("dns_behind", RECORDS, after(OPCODE.query, [1, 0, 0, 0], TYPE.A)),
      place("dns_notify", RECORDS, after(OPCODE.notify, [1, many, 0, 0], TYPE.SOA)),
      place("dns_update", RECORDS, after(OPCODE.update, [1, many, many, many], TYPE.SOA)),
      place("dns_options", OPTIONS, (text) => {
        const size = Buffer.alloc(2);
        size.writeUInt16BE(text.length);
        return after(OPCODE.query, [1, 0, 0, 1], TYPE.A)(bytes(0, 0, 41, 4, 208, 0, 0, 0, 0) + size.toString("latin1") + text);
      }),
      place("dns_pointers", [bytes(0xc0, 12)], () => ask(pointerChain())),
      place("dns_transfer", RECORDS, primary.fetch),
    ],
    close: primary.close,
  };
}

/** Questions whose names are each a label and a pointer to the previous name. */
function pointerChain(): Buffer {
  const names: Buffer[] = [Buffer.of(1, 0x61, 0, 0, 1, 0, 1)];
  for (let at = 12, next = 19; next < 0x3fff; at = next, next += 8) names.push(Buffer.of(1, 0x61, 0xc0 | (at >> 8), at & 255, 0, 1, 0, 1));
  return Buffer.concat([header(OPCODE.query, [names.length, 0, 0, 0]), ...names]);
}

const framed = (message: Buffer): Buffer => Buffer.concat([Buffer.of(message.length >> 8, message.length & 255), message]);

/** Sends one message and an ordinary query after it; resolves with the RCODE of the first answer, or 0 if the connection ended. */
function answerOver(port: number, message: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true }, () => socket.write(Buffer.concat([framed(message), framed(last)])));
    const last = queryFor(`www.${ZONE}`, TYPE.A, 8);
    let status = 0;
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 6 && received.length >= 2 + received.readUInt16BE(0)) {
        const rcode = received.readUInt8(5) & 15;
        if (received.readUInt16BE(2) === 8) return void socket.destroy();
        status = rcode === 0 ? 200 : 400 + rcode;
        received = received.subarray(2 + received.readUInt16BE(0));
      }
    });
    socket.setTimeout(TIMEOUT_MS, () => reject(new Error(`no answer to a DNS message within ${TIMEOUT_MS} ms`)));
    socket.on("error", () => socket.destroy());
    socket.on("close", () => resolve(status));
  });
}

interface Primary {
  /**
   * Makes the server fetch a secondary zone with a SOA record and the given content. 200 once all of it was read, 0 if
   * the connection ended before.
   */
  fetch(text: string): Promise<number>;
  close(): Promise<void>;
}

async function startPrimary({ call, selvedge }: BenchServer): Promise<Primary> {
  const account = selvedge.ready.account_id;
  let serial = 1;
  let text = "";
  const soa = (): string => {
    const numbers = Buffer.alloc(20);
    for (const [i, value] of [serial, 7200, 900, 1_209_600, 300].entries()) numbers.writeUInt32BE(value, 4 * i);
    return record(TYPE.SOA, bytes(0xc0, 12, 0xc0, 12) + numbers.toString("latin1"));
  };
  /** The answer to a query, with its ID and name. */
  const answerTo = (query: Buffer, answers: string, count: number): Buffer => {
    const head = header(OPCODE.query, [1, count, 0, 0]);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8400, 2);
    return Buffer.concat([head, query.subarray(12, 12 + question(SECONDARY, TYPE.SOA).length), Buffer.from(answers, "latin1")]);
  };
  let over: ((status: number) => void) | undefined;
  const onQuery = (query: Buffer, socket: Socket): void => {
    const type = query.readUInt16BE(12 + question(SECONDARY, TYPE.SOA).length - 4);
    if (type !== TYPE.AXFR) return void socket.write(framed(answerTo(query, soa(), 1)));
    socket.end(framed(answerTo(query, soa() + text, many)), () => over?.(200));
    socket.on("close", () => over?.(0));
  };
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const query = received.subarray(2, 2 + received.readUInt16BE(0));
        received = received.subarray(2 + query.length);
        onQuery(query, socket);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const udp = createSocket("udp4", (query, { port: to, address }) => udp.send(answerTo(query, soa(), 1), to, address));
  udp.bind(port, "127.0.0.1");
  await once(udp, "listening");
  const peer = await succeed(
    call("POST", `/accounts/${account}/secondary_dns/peers`, { name: "pump", ip: "127.0.0.1", port, ixfr_enable: false }),
  );
  const zone = await succeed(call("POST", "/zones", { name: SECONDARY, account: { id: account }, type: "secondary" }));
  const incoming = { name: `${SECONDARY}.`, peers: [peer.id], auto_refresh_seconds: 86_400 };
  await succeed(call("POST", `/zones/${zone.id}/secondary_dns/incoming`, incoming));
  return {
    fetch: async (next) => {
      [text, serial] = [next, serial + 1];
      const read = new Promise<number>((resolve) => (over = resolve));
      await succeed(call("POST", `/zones/${zone.id}/secondary_dns/force_axfr`));
      const status = await Promise.race([read, delay(TIMEOUT_MS, -1, { ref: false })]);
      if (status === -1) throw new Error(`the secondary did not ask for the zone within ${TIMEOUT_MS} ms`);
      // The work after the last byte: parsing, and the reason for the refusal.
      await delay(50);
      return status;
    },
    close: async () => {
      udp.close();
      server.close();
    },
  };
}
