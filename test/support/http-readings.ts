import { createServer, type IncomingMessage, request } from "node:http";
import { Duplex } from "node:stream";
import { Http1Reader } from "#wire/connections/http/http1-reader.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import { BodyReader, isPersistent, responseFraming, UNTIL_CLOSE } from "#wire/http/framing.ts";
import { findHeadEnd, isHopelessStart, isStatusLine, parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";

/** A message as some parser understood it. */
export interface ReadMessage {
  /** `METHOD target`, or the status. */
  readonly start: string;
  /** `name: value`, names in lower case. */
  readonly fields: readonly string[];
  readonly body: string;
  readonly trailers: readonly string[];
}

export interface Reading {
  /** The complete messages. */
  readonly messages: readonly ReadMessage[];
  /** The start of each request: one more than above if the last one is incomplete. */
  readonly begun: readonly string[];
  readonly isRefused: boolean;
}

const line = ({ name, value }: Trailer): string => `${name.toLowerCase()}: ${value}`;
const fieldsOf = (buffer: Buffer, head: Head): string[] =>
  Array.from({ length: head.fieldCount }, (_, i) => line({ name: head.name(buffer, i), value: head.value(buffer, i) }));

/** The edge's parse of a client's bytes in the given chunks. */
export function readRequests(pieces: readonly Buffer[]): Reading {
  const messages: ReadMessage[] = [];
  const begun: string[] = [];
  let isRefused = false;
  let isLast = false;
  let current = { start: "", fields: [] as string[] };
  let body = "";
  const end = (trailers: readonly Trailer[]): void => {
    messages.push({ ...current, body, trailers: trailers.map(line) });
    if (isLast) reader.stop();
    else reader.next();
  };
  const reader = new Http1Reader({
    onHead: (buffer, head) => {
      current = { start: `${head.method} ${buffer.toString("latin1", head.targetStart, head.targetEnd)}`, fields: fieldsOf(buffer, head) };
      begun.push(current.start);
      body = "";
      isLast = !isPersistent(head);
      if (reader.isComplete) end([]);
      else reader.admitBody();
    },
    onBody: (buffer, start, stop) => void (body += buffer.toString("latin1", start, stop)),
    onRequestEnd: end,
    onMalformed: () => void (isRefused = true),
    onPreface: () => void (isRefused = true),
  });
  for (const piece of pieces) reader.feed(Buffer.from(piece), piece.length);
  return { messages, begun, isRefused };
}

/** Our parse of the bytes of one response of an origin, without interim ones; `isWhole`: no more bytes follow. */
export function readResponse(bytes: Buffer, method: string): Reading {
  const head = new Head();
  const refused = { messages: [], begun: [], isRefused: true };
  for (let at = 0; ;) {
    const end = findHeadEnd(bytes, at, bytes.length, at);
    if (end < 0) return { messages: [], begun: [], isRefused: isHopelessStart(bytes, at, bytes.length, at, isStatusLine) };
    if (parseResponseHead(bytes, at, end, head) !== 0) return refused;
    at = end;
    if (head.status < 200) continue;
    const reader = new BodyReader();
    const framing = responseFraming(head, method);
    const [start, fields] = [String(head.status), fieldsOf(bytes, head)];
    let body = "";
    reader.begin(framing, head.contentLength);
    const result = reader.read(bytes, at, bytes.length, {
      onBody: (buffer, from, to) => void (body += buffer.toString("latin1", from, to)),
    });
    const isWhole = result >= 0 || framing === UNTIL_CLOSE;
    return {
      messages: isWhole ? [{ start, fields, body, trailers: reader.trailers.map(line) }] : [],
      begun: [start],
      isRefused: result < -1,
    };
  }
}

/** One end of a connection whose other end is the caller. */
const wire = (): Duplex => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

const pairs = (raw: readonly string[]): string[] =>
  Array.from({ length: raw.length / 2 }, (_, i) => `${raw[i * 2]!.toLowerCase()}: ${raw[i * 2 + 1]}`);

function collect(message: IncomingMessage, start: string, messages: ReadMessage[]): void {
  let body = "";
  message.on("data", (piece: Buffer) => (body += piece.toString("latin1")));
  message.on("error", () => undefined);
  message.on("end", () => {
    if (message.complete) messages.push({ start, fields: pairs(message.rawHeaders), body, trailers: pairs(message.rawTrailers) });
  });
}

/** The same of `node:http`. Its parser is not ours and was written for the same strictness. */
export async function nodeRequests(bytes: Buffer): Promise<Reading> {
  const messages: ReadMessage[] = [];
  const begun: string[] = [];
  let isRefused = false;
  const take = (req: IncomingMessage): void => {
    begun.push(`${req.method} ${req.url}`);
    collect(req, begun.at(-1)!, messages);
  };
  const server = createServer({ maxHeaderSize: 65_536, requireHostHeader: false }, (req, res) => {
    take(req);
    req.on("end", () => res.end());
  });
  server.on("checkExpectation", () => (isRefused = true));
  server.on("clientError", () => (isRefused = true));
  const socket = wire();
  server.emit("connection", socket);
  socket.push(bytes);
  for (let i = 0; i < 6; i++) await turn();
  socket.destroy();
  server.close();
  return { messages, begun, isRefused };
}

/** The parse of `node:http` of one response that ends with its connection. */
export async function nodeResponse(bytes: Buffer, method: string): Promise<Reading> {
  const messages: ReadMessage[] = [];
  const begun: string[] = [];
  let isRefused = false;
  const socket = wire();
  const req = request({ method, host: "www.example.com", createConnection: () => socket });
  req.on("response", (res) => {
    begun.push(String(res.statusCode));
    collect(res, begun.at(-1)!, messages);
    res.on("error", () => (isRefused = true));
  });
  req.on("error", () => (isRefused = true));
  req.end();
  await turn();
  socket.push(bytes);
  await turn();
  socket.push(null);
  for (let i = 0; i < 4; i++) await turn();
  socket.destroy();
  return { messages, begun, isRefused };
}
