import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { CLASS, FLAG, RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { encodeContent, typeCode } from "#wire/dns/record-types.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { createAnswerSigner, type TsigKey, verifyRequest } from "#wire/dns/tsig.ts";
import { readTsig } from "#wire/dns/tsig-record.ts";

/** A zone as it was under one serial. */
export interface ZoneVersion {
  readonly soa: ResourceRecord;
  readonly records: readonly ResourceRecord[];
}

/** A primary that can send wrong data on demand. */
export interface FakePrimary {
  readonly port: number;
  /** Every version it knows, the newest last. */
  versions: readonly ZoneVersion[];
  /** Whether it answers IXFR with differences, as far as it knows the client's version. */
  incremental: boolean;
  key: TsigKey | null;
  /** Records of a message. */
  recordsAtOnce: number;
  /** Changes the messages of each answer before they are signed. */
  distort: (messages: readonly Buffer[], type: number) => readonly Buffer[];
  /** Changes the messages after signing, like an attacker on the path. */
  tamper: (messages: readonly Buffer[], type: number) => readonly Buffer[];
  /** Its received queries: `SOA`, `AXFR`, `IXFR 5`. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Lines of `name ttl type content`, names without the final dot and absolute. */
export function zoneVersion(zone: string, serial: number, lines: readonly string[], timers = "10000 2400 604800 1800"): ZoneVersion {
  const record = (name: string, ttl: number, type: string, content: string): ResourceRecord => ({
    name: parseAbsoluteName(name),
    type: typeCode(type) ?? 0,
    class: CLASS.IN,
    ttl,
    rdata: encodeContent(type, content, { origin: zone, style: "master" }),
  });
  return {
    soa: record(zone, 3600, "SOA", `ns1.${zone}. who.${zone}. ${serial} ${timers}`),
    records: lines.map((line) => {
      const [name = "", ttl = "", type = "", ...content] = line.split(" ");
      return record(name, Number(ttl), type, content.join(" "));
    }),
  };
}

export async function startFakePrimary(versions: readonly ZoneVersion[], host = "127.0.0.1"): Promise<FakePrimary> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    let bytes: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
        const request = bytes.subarray(2, 2 + bytes.readUInt16BE(0));
        bytes = bytes.subarray(2 + request.length);
        for (const message of answer(primary, Buffer.from(request))) socket.write(message);
      }
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  const primary: FakePrimary = {
    port: (server.address() as AddressInfo).port,
    versions,
    incremental: true,
    key: null,
    recordsAtOnce: 3,
    distort: (messages) => messages,
    tamper: (messages) => messages,
    asked: [],
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return primary;
}

function answer(primary: FakePrimary, request: Buffer): readonly Buffer[] {
  const { id, questions, authorities } = decodeMessage(request);
  const [question] = questions;
  if (!question) throw new Error("a request without a question");
  const serial = question.type === TYPE.IXFR && authorities[0] ? soaSerial(authorities[0].rdata) : null;
  primary.asked.push(question.type === TYPE.SOA ? "SOA" : serial === null ? "AXFR" : `IXFR ${serial}`);
  const signature = readTsig(request);
  const verdict = primary.key && signature ? verifyRequest(request, signature, [primary.key], signature.timeSigned) : null;
  const refused = primary.key !== null && verdict?.error !== 0;
  const records = refused ? [] : recordsFor(primary, question.type, serial);
  const plain: Buffer[] = [];
  for (let at = 0; at === 0 || at < records.length; at += primary.recordsAtOnce) {
    const flags = FLAG.QR | FLAG.AA | (refused ? RCODE.REFUSED : 0);
    const answers = records.slice(at, at + primary.recordsAtOnce);
    const encoded = encodeMessage({ id, flags, questions: at === 0 ? questions : [], answers, authorities: [], additionals: [] });
    if (!encoded) throw new Error("a message is too long");
    plain.push(encoded);
  }
  const sign = primary.key && signature && !refused ? createAnswerSigner(primary.key, signature.mac, () => signature.timeSigned) : null;
  const signed = primary.distort(plain, question.type).map((message) => (sign ? sign(message) : message));
  return primary.tamper(signed, question.type).map((bytes) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(bytes.length);
    return Buffer.concat([length, bytes]);
  });
}

function recordsFor({ versions, incremental }: FakePrimary, type: number, serial: number | null): readonly ResourceRecord[] {
  const newest = versions.at(-1);
  if (!newest) return [];
  if (type === TYPE.SOA) return [newest.soa];
  const from = incremental ? versions.findIndex(({ soa }) => soaSerial(soa.rdata) === serial) : -1;
  if (from < 0) return [newest.soa, ...newest.records, newest.soa];
  if (from === versions.length - 1) return [newest.soa];
  const differences = versions.slice(from, -1).flatMap((older, i) => difference(older, versions[from + i + 1] as ZoneVersion));
  return [newest.soa, ...differences, newest.soa];
}

function difference(older: ZoneVersion, newer: ZoneVersion): readonly ResourceRecord[] {
  const text = ({ name, type, ttl, rdata }: ResourceRecord): string =>
    `${name.toString("latin1")} ${type} ${ttl} ${Buffer.from(rdata).toString("hex")}`;
  const [before, after] = [new Set(older.records.map(text)), new Set(newer.records.map(text))];
  return [
    older.soa,
    ...older.records.filter((record) => !after.has(text(record))),
    newer.soa,
    ...newer.records.filter((record) => !before.has(text(record))),
  ];
}
