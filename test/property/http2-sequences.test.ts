import assert from "node:assert/strict";
import type { ClientHttp2Session } from "node:http2";
import { after, before, test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { GATEWAY_LIMITS } from "#gateway/config.ts";
import { HTTP2_LIMITS } from "#gateway/listen/front-limits.ts";
import { createFront } from "#gateway/listen/listener.ts";
import type { RequestFields } from "#wire/http2/request-fields.ts";
import { Session, type SessionLimits, type SessionOwner } from "#wire/http2/session.ts";
import type { ServerStream } from "#wire/http2/stream.ts";
import { WindowBudget } from "#wire/http2/window-budget.ts";
import { type CountingOrigin, startCountingOrigin } from "../support/counting-origin.ts";
import { frame, FRAME, type Frame, frameClient, framesIn, request } from "../support/http2-frames.ts";
import { Http2Rules, type SentFrame } from "../support/http2-rules.ts";
import { conversation, PREFACE } from "../support/http2-conversations.ts";
import { fc } from "../support/property.ts";
import { gatewaySession } from "../support/secure-gateway.ts";
import { fetchOver, type SecureEdge, startSecureEdge } from "../support/secure-edge.ts";

const LIMITS: SessionLimits = {
  streamsMax: 6,
  windowBytes: 20_000,
  windowBytesMax: 40_000,
  headBytesMax: 65_536,
  fieldsMax: 200,
  // The limit is tested in test/faults/http2-floods.test.ts.
  resetsMax: 1_000_000,
  resetsPerSecond: 0,
  allowsWebSockets: true,
};
const answerBytes = (stream: number): number => (stream % 19) * 1000;

/** Answers each request once it is whole. */
class Answers implements SessionOwner {
  readonly nowMs = 0;
  readonly windows = new WindowBudget({ connectionBytesMax: 100_000, addressBytesMax: 100_000, bytesMax: 100_000 });
  readonly session = new Session(this, LIMITS, this.windows.forConnection("192.0.2.1"));
  closed = 0;
  opened = 0;

  onOutput(): void {}

  onSettled(): void {}
  onAcknowledged(): void {}
  onDraining(): void {}
  onFault(): void {}

  onRequest(stream: ServerStream, _fields: RequestFields): void {
    this.opened++;
    const answer = (): void => {
      const { encoder } = this.session;
      encoder.begin();
      encoder.status(200);
      stream.sendHead();
      stream.send(Buffer.alloc(answerBytes(stream.id)), 0, answerBytes(stream.id));
      stream.end([]);
    };
    const nothing = (): void => undefined;
    stream.handler = { onData: nothing, onEnd: answer, onDrain: nothing, onMalformed: nothing, onClose: () => void this.closed++ };
    if (stream.isRemoteDone) answer();
  }

  take(): Frame[] {
    const { session } = this;
    const pieces: Buffer[] = [];
    for (let chunk = session.output.take(); chunk !== null; chunk = session.output.take()) {
      pieces.push(Buffer.from(chunk.buffer.subarray(0, chunk.length)));
      session.output.release(chunk);
      session.pump();
    }
    return framesIn(Buffer.concat(pieces));
  }
}

/** Description of a conversation for a failure. */
const told = (frames: readonly SentFrame[]): string =>
  frames
    .map(
      ({ type, flags, stream, payload, block }) => `${type}/${flags}/${stream}/${payload.length}${type === 1 || type === 9 ? block : ""}`,
    )
    .join(" ");

const grant = (stream: number, increment: number): Buffer => {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(increment);
  return frame(FRAME.WINDOW_UPDATE, 0, stream, payload);
};

test("property: any frames give the right error in the right scope, and every other stream gets its response", () => {
  fc.assert(
    fc.property(conversation, fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 6 }), (frames, sizes) => {
      const server = new Answers();
      const { session } = server;
      const rules = new Http2Rules({ ...LIMITS, continuationsMax: 32 });
      let piece = 0;
      const receive = (bytes: Buffer): void => {
        for (let at = 0; at < bytes.length; piece++) {
          // A separate buffer for each chunk, which is overwritten like that of a socket.
          const part = Buffer.from(bytes.subarray(at, (at += sizes[piece % sizes.length]!)));
          session.receive(part, part.length);
          part.fill(0x55);
        }
      };
      receive(PREFACE);
      rules.heard(server.take(), { scope: "none" }, 0);
      for (const [i, sent] of frames.entries()) {
        const verdict = rules.sent(sent);
        receive(frame(sent.type, sent.flags, sent.stream, sent.payload));
        assert.ok(session.output.length < 100_000, "what waits to be sent is bounded");
        rules.heard(server.take(), verdict, sent.stream, told(frames.slice(0, i + 1)));
        assert.equal(session.isOver, rules.isOver);
        if (rules.isOver) break;
        assert.deepEqual([...session.streams.keys()], rules.openStreams, "both know the same streams");
      }
      if (!rules.isOver && !rules.isMidBlock) {
        for (const { stream, increment } of rules.roomForAll()) {
          const sent = {
            type: FRAME.WINDOW_UPDATE,
            flags: 0,
            stream,
            payload: grant(stream, increment).subarray(9),
            block: "request",
          } as const;
          const verdict = rules.sent(sent);
          receive(grant(stream, increment));
          rules.heard(server.take(), verdict, stream);
        }
        for (const [id, { state, answerBytes: got }] of rules.streams) {
          assert.notEqual(state, "remote", `stream ${id} waits for its answer for ever`);
          if (state === "ended") assert.equal(got, answerBytes(id));
        }
      }
      session.stop();
      assert.deepEqual([session.streams.size, server.windows.bytes, server.closed], [0, 0, server.opened], "nothing is left");
    }),
    { numRuns: 3000 },
  );
});

let origin: CountingOrigin;
let edge: SecureEdge;
before(async () => {
  origin = await startCountingOrigin();
  edge = await startSecureEdge(origin.port, { http2ResetsMax: 100_000 });
});
after(async () => {
  await edge.close();
  origin.close();
});

/** No answer may wait for the client's window here: whether its stream is over would depend on timing. */
const leavesRoom = ({ type, payload }: SentFrame): boolean =>
  type !== FRAME.SETTINGS ||
  Array.from({ length: Math.floor(payload.length / 6) }, (_, i) => payload.readUInt16BE(i * 6)).every((name) => name !== 4);

/** A plane that speaks HTTP/2 over TLS and answers requests once they are whole. */
interface Place {
  readonly port: number;
  readonly rootPem: string;
  readonly neighbour: ClientHttp2Session;
  readonly limits: ConstructorParameters<typeof Http2Rules>[0];
  /** After each conversation. */
  check(): void;
}

async function holdsTheRules({ port, rootPem, neighbour, limits, check }: Place): Promise<void> {
  await fc.assert(
    fc.asyncProperty(conversation, async (generated) => {
      const frames = generated.filter(leavesRoom);
      const rules = new Http2Rules(limits);
      const client = await frameClient(port, rootPem, null);
      let heard = 0;
      const hear = (verdict: Parameters<Http2Rules["heard"]>[1], id: number, after: string): void => {
        const more = client.frames.slice(heard);
        heard += more.length;
        rules.heard(more, verdict, id, after);
      };
      await client.next(({ type }) => type === FRAME.WINDOW_UPDATE);
      hear({ scope: "none" }, 0, "preface");
      for (const [i, sent] of frames.entries()) {
        const verdict = rules.sent(sent);
        client.send(frame(sent.type, sent.flags, sent.stream, sent.payload));
        const after = told(frames.slice(0, i + 1));
        if (verdict.scope === "connection") {
          await client.closed();
          hear(verdict, sent.stream, after);
          assert.ok(rules.isOver, `${after}: the connection ends without a reason`);
          break;
        }
        if (rules.isMidBlock) continue;
        // It ends as soon as nothing is under way.
        if (rules.isDraining) break;
        // Behind the answer to a ping nothing is left of what came before it, but for what the origin answers.
        const mark = Buffer.alloc(8);
        mark.writeUInt32BE(i + 1, 4);
        const ping = { type: FRAME.PING, flags: 0, stream: 0, payload: mark, block: "request" } as const;
        rules.sent(ping);
        client.send(frame(FRAME.PING, 0, 0, mark));
        await client.next((got) => got.type === FRAME.PING && got.payload.equals(mark));
        while (rules.waitsFor(client.frames.slice(heard))) await client.more();
        hear(verdict, sent.stream, after);
      }
      if (!rules.isOver && !rules.isMidBlock && !rules.isDraining) {
        client.send(request(99));
        await client.next(({ type, stream, flags }) => stream === 99 && (flags & 1) === 1 && type !== FRAME.RST_STREAM);
      }
      client.socket.destroy();
      assert.equal((await fetchOver(neighbour, {})).status, 200);
      check();
    }),
    { numRuns: 100 },
  );
}

test("the edge follows the same rules over TLS, serves whole requests among any frames, and serves other clients", async () => {
  const check = (): void => {
    assert.deepEqual([edge.errors, origin.faults], [[], []]);
    origin.reset();
  };
  const limits = { streamsMax: 100, windowBytes: 131_072, continuationsMax: 32 };
  await holdsTheRules({ port: edge.https, rootPem: edge.rootPem, neighbour: edge.session(), limits, check });
});

test("the gateway's port follows the same rules, with the gateway's own responses", async (t) => {
  const root = await createRoot(systemClock);
  const { chain, privateKey } = await createLocalCa({ root, clock: systemClock }).issue(["www.example.com"]);
  const errors: unknown[] = [];
  const front = createFront({
    clock: systemClock,
    loop: null,
    places: null,
    config: { host: "127.0.0.1", port: 0, limits: GATEWAY_LIMITS, tls: { certificate: chain, key: privateKey } },
    onRequest: (req, answer) => {
      const onEnd = (): void => {
        answer.begin(200, ["content-length", "4"]);
        answer.end(Buffer.from("seen"));
      };
      req.take({ onData: () => undefined, onEnd, onGone: () => undefined });
    },
    onUpgrade: () => undefined,
    refuse: (answer) => {
      answer.begin(400, []);
      answer.end();
    },
    report: (error) => void errors.push(error),
  });
  const { port } = await front.listen();
  t.after(() => front.close(0));
  const { streamsMax, windowBytes } = HTTP2_LIMITS;
  const neighbour = gatewaySession(t, { port, rootPem: root.certificate });
  const check = (): void => assert.deepEqual(errors, []);
  await holdsTheRules({ port, rootPem: root.certificate, neighbour, limits: { streamsMax, windowBytes, continuationsMax: 32 }, check });
});
