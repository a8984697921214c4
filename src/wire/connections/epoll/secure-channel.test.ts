import assert from "node:assert/strict";
import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { test, type TestContext } from "node:test";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { eventually, settled } from "../../../../test/support/eventually.ts";
import { connectKeyUpdater, type KeyUpdater } from "../../../../test/support/key-updates.ts";
import { fc } from "../../../../test/support/property.ts";
import type { LoopSocket } from "./loop-socket.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import { SECURE_BUFFER } from "#wire/connections/buffers/secure-buffer.ts";
import { NAME, type SecureStage, selfSigned, startSecure } from "#wire/connections/testing/secure.ts";
import type { SocketLoop } from "./socket-loop.ts";
import { createEar, type Ear, inTickOf, socketCalls } from "#wire/connections/testing/transports.ts";

const skip = (socketCalls?.secure ?? null) === null;

interface Recut {
  readonly duplex: Duplex;
  /** Holds back written bytes from now on. */
  hold(): void;
  taken(): Buffer;
}

/** Carries a client's bytes in other pieces than it wrote: joined until the end of the turn, and cut to at most `most` bytes. */
function recut(below: Socket, most: number): Recut {
  let pieces: Buffer[] = [];
  let isHeld = false;
  const taken = (): Buffer => {
    const bytes = Buffer.concat(pieces);
    pieces = [];
    return bytes;
  };
  const send = (): void => {
    if (isHeld) return;
    const bytes = taken();
    for (let at = 0; at < bytes.length; at += most) below.write(bytes.subarray(at, at + most));
  };
  const duplex = new Duplex({
    allowHalfOpen: true,
    read: () => void below.resume(),
    write: (bytes: Buffer, _encoding, done) => {
      if (pieces.length === 0) setImmediate(send);
      pieces.push(Buffer.from(bytes));
      done();
    },
    final: (done) => {
      send();
      below.end(done);
    },
    destroy: (error, done) => {
      below.destroy();
      done(error);
    },
  });
  below.on("data", (bytes) => duplex.push(bytes) || below.pause());
  below.on("end", () => duplex.push(null));
  below.on("error", (error) => duplex.destroy(error));
  below.on("close", () => duplex.destroy());
  return { duplex, hold: () => void (isHeld = true), taken };
}

interface Client {
  readonly socket: TLSSocket;
  readonly pipe: Recut;
  readonly below: Socket;
  text: string;
  isEnded: boolean;
}

function dial(t: TestContext, { port }: SecureStage, options: ConnectionOptions = {}, most = Infinity): Client {
  const below = connectTcp({ port, host: "127.0.0.1", noDelay: true });
  const pipe = recut(below, most);
  const socket = connect({ socket: pipe.duplex, servername: NAME, rejectUnauthorized: false, ...options });
  const client: Client = { socket, pipe, below, text: "", isEnded: false };
  socket.on("data", (bytes: Buffer) => (client.text += bytes.toString("latin1")));
  socket.on("end", () => (client.isEnded = true));
  socket.on("error", () => undefined);
  t.after(() => below.destroy());
  return client;
}

const NEW = { minVersion: "TLSv1.3" } as const;
const GCM = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } as const;
const CHACHA = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" } as const;

/** Sizes around those of a record and of one read. */
const size = fc.oneof(fc.nat(100), fc.integer({ min: 16_000, max: 17_000 }), fc.integer({ min: 47_000, max: 49_000 }), fc.nat(120_000));
const step = fc.tuple(fc.constantFrom("text", "shared", "kept", "pause", "rest", "resume", "turn"), size);
const conversation = fc.record({
  options: fc.constantFrom<ConnectionOptions>(NEW, GCM, CHACHA),
  most: fc.constantFrom(Infinity, 65_536, 16_384, 1_000),
  isSmall: fc.boolean(),
  theirs: fc.array(size, { maxLength: 20 }),
  ours: fc.array(step, { maxLength: 12 }),
  isInTurns: fc.boolean(),
});

test("property: data of both sides arrives complete and in order, in any chunks", { skip, timeout: 300_000 }, async (t) => {
  let ear = createEar();
  let near: LoopSocket | null = null;
  const stage = await startSecure(t, (socket) => {
    near = socket;
    return ear;
  });
  await fc.assert(
    fc.asyncProperty(conversation, async ({ options, most, isSmall, theirs, ours, isInTurns }) => {
      near = null;
      ear = createEar();
      const client = dial(t, stage, options, most);
      await once(client.socket, "secureConnect");
      let said = "";
      for (const length of theirs) {
        const text = letter(said).repeat(length);
        client.socket.write(text, "latin1");
        said += text;
      }
      await eventually(() => near !== null, 0);
      const sent = await play(near!, ours, isSmall, isInTurns ? stage.loop : null);
      client.socket.end();
      await eventually(() => ear.ends === 1, 0);
      assert.ok(ear.text === said, "theirs");
      near!.end();
      await eventually(() => client.isEnded && ear.closed.length === 1, 0);
      assert.ok(client.text === sent, "ours");
      assert.deepEqual([ear.closed, ear.ends], [[""], 1]);
    }),
    { numRuns: 60 },
  );
  assert.deepEqual([stage.errors, stage.open()], [[], 0]);
});

const letter = (text: string): string => String.fromCharCode(0x41 + (text.length % 57));

async function play(
  socket: LoopSocket,
  steps: readonly (readonly [string, number])[],
  isSmall: boolean,
  loop: SocketLoop | null,
): Promise<string> {
  let sent = "";
  if (isSmall) socketCalls!.set(socket.fd, "sendBufferBytes", 4096);
  const act = (what: string, length: number): void => {
    const text = letter(sent).repeat(length);
    if (what === "pause" || what === "rest" || what === "resume") socket[what]();
    else if (what === "text") socket.sendText(text);
    else if (what === "kept") socket.sendKept("k", Buffer.from(text, "latin1"), 0, length, text.slice(0, length % 30));
    else {
      const copied = READ_BUFFER.write(text, 0, "latin1");
      socket.sendShared("s", READ_BUFFER, 0, copied);
      READ_BUFFER.fill("?", 0, copied);
      sent += `s${text.slice(0, copied)}`;
    }
    if (what === "text") sent += text;
    if (what === "kept") sent += `k${text}${text.slice(0, length % 30)}`;
  };
  for (let at = 0; at < steps.length;) {
    const turn = steps.findIndex(([what], index) => index >= at && what === "turn");
    const end = turn < 0 ? steps.length : turn;
    const now = steps.slice(at, end);
    await inTickOf(loop, () => now.forEach(([what, length]) => act(what, length)));
    await new Promise((resolve) => setImmediate(resolve));
    at = end + 1;
  }
  socket.resume();
  return sent;
}

test("the channel does not take a chunk for a record if the chunk has a record's length but covers parts of two", { skip }, async (t) => {
  let ear = createEar();
  const stage = await startSecure(t, () => ear);
  for (const options of [NEW, GCM, CHACHA]) {
    ear = createEar();
    const client = dial(t, stage, options);
    await once(client.socket, "secureConnect");
    client.socket.write("first");
    await eventually(() => ear.text === "first");
    client.pipe.hold();
    const records = 5;
    for (let i = 0; i < records; i++) await new Promise((done) => client.socket.write(String(i).repeat(100), done));
    const bytes = client.pipe.taken();
    assert.equal(recordTypes(bytes).length, records);
    const each = bytes.length / records;
    for (let at = 0; at < bytes.length; at += each) {
      // The first record is shorter.
      const from = at === 0 ? 0 : at - each + 10;
      client.below.write(bytes.subarray(from, at + 10));
      const whole = Math.floor((at + 10) / each) * 100;
      await eventually(() => ear.text.length === 5 + whole, 1);
      await settled(5);
    }
    client.below.write(bytes.subarray(bytes.length - each + 10));
    await eventually(() => ear.text.length === 5 + records * 100, 1);
    client.socket.destroy();
  }
});

test("reads become longer while they fill their buffer, and short again after a wait", { skip }, async (t) => {
  const hash = createHash("sha256");
  const lengths: number[] = [];
  let near: LoopSocket | null = null;
  let received = 0;
  const ear = {
    ...createEar(),
    onBytes: (bytes: Buffer, length: number) => {
      hash.update(bytes.subarray(0, length));
      lengths.push(length);
      received += length;
    },
  };
  const stage = await startSecure(t, (socket) => {
    near = socket;
    return ear;
  });
  const client = dial(t, stage, NEW);
  await once(client.socket, "secureConnect");
  await eventually(() => near !== null);
  const much = randomBytes(4_000_000);
  for (const round of [1, 2]) {
    near!.pause();
    const before = lengths.length;
    client.socket.write(much);
    // So many bytes wait that reads are full.
    await settled();
    near!.resume();
    await eventually(() => received === round * much.length);
    assert.ok(lengths[before]! <= READ_BUFFER.length, `the first is ${lengths[before]} bytes long`);
    const longest = Math.max(...lengths.slice(before));
    assert.ok(longest > 1.5 * READ_BUFFER.length && longest <= SECURE_BUFFER.length, `the longest is ${longest} bytes long`);
  }
  assert.equal(hash.digest("hex"), createHash("sha256").update(much).update(much).digest("hex"));
});

test("a damaged record closes its own connection and no other", { skip }, async (t) => {
  const ears: Ear[] = [];
  const stage = await startSecure(t, (socket) => {
    const ear = createEar({ onBytes: (buffer, length) => socket.sendText(buffer.toString("latin1", 0, length)) });
    ears.push(ear);
    return ear;
  });
  const good = Array.from({ length: 4 }, () => dial(t, stage, NEW));
  for (const { socket } of good) await once(socket, "secureConnect");
  for (let round = 0; round < 20; round++) {
    const bad = dial(t, stage, round % 2 === 0 ? NEW : GCM);
    await once(bad.socket, "secureConnect");
    for (const { socket } of good) socket.write(`${round};`);
    bad.socket.write("heard");
    await eventually(() => bad.text === "heard", 1);
    // A record that nobody sealed, and many bytes after it that are left unread.
    bad.below.write(Buffer.concat([Buffer.from([23, 3, 3, 0, 40]), Buffer.alloc(60_000, round)]));
    await eventually(() => bad.socket.destroyed, 1);
  }
  const all = Array.from({ length: 20 }, (_, round) => `${round};`).join("");
  await eventually(() => good.every(({ text }) => text === all));
  assert.equal(stage.open(), good.length);
  assert.deepEqual(stage.errors, []);
});

/** Types of the records in the bytes (RFC 8446 §5.1). */
function recordTypes(bytes: Buffer): number[] {
  const types: number[] = [];
  for (let at = 0; at + 5 <= bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) types.push(bytes[at]!);
  return types;
}

const ALERT = 21;

test("the server sends its own certificate first, then the intermediate ones in their order", { skip }, async (t) => {
  const issuers = [(await selfSigned()).chain, (await selfSigned()).chain];
  const stage = await startSecure(t, () => createEar(), issuers.join("\n"));
  // TLS 1.2 sends them in the clear.
  const client = dial(t, stage, GCM);
  const read: Buffer[] = [];
  client.below.on("data", (bytes: Buffer) => read.push(bytes));
  await once(client.socket, "secureConnect");
  const flight = Buffer.concat(read);
  const own = client.socket.getPeerX509Certificate()!.raw;
  const places = [own, ...issuers.map((pem) => new X509Certificate(pem).raw)].map((der) => flight.indexOf(der));
  assert.ok(
    places.every((at, i) => at > (places[i - 1] ?? 0)),
    String(places),
  );
});

test("only an end in order sends close_notify, after all earlier data", { skip }, async (t) => {
  for (const last of ["end", "destroySoon", "destroy", "reset"] as const) {
    const stage = await startSecure(t, (socket) => {
      const ear = createEar({ onBytes: () => (socket.sendText("x".repeat(last === "end" ? 3_000_000 : 100)), socket[last]()) });
      return ear;
    });
    const client = dial(t, stage, GCM);
    const read: Buffer[] = [];
    client.below.on("data", (bytes: Buffer) => read.push(bytes));
    await once(client.socket, "secureConnect");
    client.socket.write("go");
    await eventually(() => client.socket.destroyed || client.isEnded);
    const isInOrder = last === "end" || last === "destroySoon";
    assert.equal(recordTypes(Buffer.concat(read)).at(-1) === ALERT, isInOrder, last);
    if (isInOrder) assert.equal(client.text.length, last === "end" ? 3_000_000 : 100);
    client.socket.destroy();
    await eventually(() => stage.open() === 0);
  }
});

test("a client's end without close_notify, or within a record, counts as an end", { skip }, async (t) => {
  let ear = createEar();
  const stage = await startSecure(t, (socket) => (ear = createEar({ onEnd: () => socket.end() })));
  for (const bytes of [Buffer.alloc(0), Buffer.from([23, 3, 3, 0, 100, 1, 2])]) {
    ear = createEar();
    const client = dial(t, stage, NEW);
    await once(client.socket, "secureConnect");
    client.socket.write("all of it");
    await eventually(() => ear.text === "all of it");
    client.below.end(bytes);
    await eventually(() => ear.closed.length === 1);
    assert.deepEqual([ear.ends, ear.closed], [1, [""]]);
  }
  assert.equal(stage.open(), 0);
});

test("a client cannot force a new handshake, and its connection continues", { skip }, async (t) => {
  const stage = await startSecure(t, (socket) => createEar({ onBytes: (_, length) => socket.sendText("y".repeat(length)) }));
  const client = dial(t, stage, GCM);
  await once(client.socket, "secureConnect");
  const refused = new Promise<Error | null>((resolve) => client.socket.renegotiate({}, resolve));
  const failed = once(client.socket, "error") as Promise<[Error]>;
  const error = (await Promise.race([refused, failed.then(([first]) => first)])) as NodeJS.ErrnoException;
  assert.match(String(error.code ?? error.message), /NO_RENEGOTIATION/i);
  const next = dial(t, stage, GCM);
  await once(next.socket, "secureConnect");
  next.socket.write("abc");
  await eventually(() => next.text === "yyy");
  assert.deepEqual(stage.errors, []);
});

test("a client may change its keys, but too many key updates without data close the connection", { skip }, async (t) => {
  const ears: Ear[] = [];
  const stage = await startSecure(t, (socket) => {
    const ear = createEar({ onBytes: (_, length) => socket.sendText("y".repeat(length)) });
    ears.push(ear);
    return ear;
  });
  const good = dial(t, stage, NEW);
  await eventually(() => ears.length === 1);
  const updater = async (): Promise<readonly [KeyUpdater, () => Ear]> => {
    const index = ears.length;
    const one = await connectKeyUpdater(stage.port, NAME);
    t.after(() => one.socket.destroy());
    await eventually(() => ears.length > index);
    return [one, () => ears[index]!];
  };
  for (const piece of [1, 30]) {
    const [modest, ear] = await updater();
    for (let sent = 0; sent < 30; sent += piece) modest.socket.write(modest.keyUpdates(piece));
    modest.socket.write(modest.text("so?"));
    await eventually(() => ear().text === "so?");
  }
  for (const piece of [1, 100, 3_000]) {
    const [greedy, ear] = await updater();
    for (let sent = 0; sent < 100; sent += piece) {
      greedy.socket.write(greedy.keyUpdates(piece));
      await settled(1);
    }
    await eventually(() => ear().closed.length === 1);
    assert.deepEqual(ear().closed, ["EPROTO"]);
    good.socket.write(".");
  }
  await eventually(() => good.text === "yyy");
  assert.deepEqual(stage.errors, []);
});

test("connections that clients reset at any moment leave nothing behind", { skip }, async (t) => {
  const stage = await startSecure(t, (socket) => createEar({ onBytes: () => socket.sendText("z".repeat(100_000)) }));
  await Promise.all(
    Array.from({ length: 120 }, async (_, i) => {
      const client = dial(t, stage, i % 2 === 0 ? NEW : CHACHA);
      // Before the hello, in the handshake, after it, and in the middle of a response.
      if (i % 4 === 0) client.below.on("connect", () => client.below.resetAndDestroy());
      else if (i % 4 === 1) client.below.once("data", () => client.below.resetAndDestroy());
      else {
        await once(client.socket, "secureConnect");
        client.socket.write("?");
        if (i % 4 === 2) client.below.resetAndDestroy();
        else client.socket.once("data", () => client.below.resetAndDestroy());
      }
    }),
  );
  await eventually(() => stage.accepted.length === 120 && stage.accepted.every(({ fd }) => fd === -1));
  assert.equal(stage.open(), 0);
  assert.deepEqual(stage.errors, []);
});

test("the channel buffers a response for a client that does not read, and sends all of it once the client reads", { skip }, async (t) => {
  let ear = createEar();
  let near: LoopSocket | null = null;
  const stage = await startSecure(t, (socket) => {
    near = socket;
    return (ear = createEar());
  });
  const client = dial(t, stage, NEW);
  await once(client.socket, "secureConnect");
  client.below.pause();
  await eventually(() => near !== null);
  let sent = 0;
  while (!near!.needsDrain) {
    near!.sendText("0123456789".repeat(100_000));
    sent += 1_000_000;
  }
  near!.sendKept("", Buffer.alloc(500_000, "a"), 0, 500_000);
  assert.equal(ear.drains, 0);
  assert.equal(near!.bytesTaken + near!.queuedBytes, sent + 500_000);
  // The client's bytes are still read meanwhile.
  client.socket.write("still here");
  await eventually(() => ear.text === "still here");
  client.below.resume();
  await eventually(() => ear.drains === 1 && client.text.length === sent + 500_000);
  assert.equal(client.text, "0123456789".repeat(sent / 10) + "a".repeat(500_000));
});
