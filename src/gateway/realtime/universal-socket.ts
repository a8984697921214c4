import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createMessageTurns, type MessageTurns } from "#kernel/process/message-turns.ts";
import { ClientFrameReader, closeFrame, serverFrame, WebSocketError } from "#wire/web-socket/frames.ts";
import type { AnswerSink } from "#gateway/listen/response-writer.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { Refusal } from "#gateway/http/errors.ts";
import type { Subprotocols } from "./subprotocols.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { SocketAnswer } from "./socket-answer.ts";

/** WebSockets at the universal endpoint: each message is a separate request, as if it had been posted there. */
export interface UniversalSockets {
  /** A refusal if the handshake is invalid; then nothing was sent. */
  accept(req: ClientRequest, socket: Duplex, head: Buffer, protocols: Subprotocols): Refusal | undefined;
  /** Closes the connections without requests under way; with `all`, every connection. */
  close(all: boolean): void;
}

export interface UniversalSocketsDeps {
  readonly vendorPrefix: string;
  readonly messageBytesMax: number;
  onRequest(req: ClientRequest, answer: AnswerSink): void;
  /** Milliseconds without a message, or without a byte that the client takes. */
  readonly idleMs?: number;
}

/** RFC 6455 §1.3. */
const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const REQUESTS_MAX = 32;
/** Frames of all sockets that are read in a tick: other requests of the gateway wait for these at most. */
const FRAMES_PER_TICK = 32;
/** So many bytes of a message count as a frame: a long one is decoded and parsed at once, and others wait for it. */
const FRAME_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);
const IDLE_MS = 600_000;
/** For a client that does not close its side, or takes no bytes, after the gateway closed its side. */
const LINGER_MS = 2_000;
/** Bytes of answers and pongs that a client has not taken; above it, the gateway stops reading from the client. */
const BACKLOG_BYTES_MAX = 1024 * 1024;
const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

export function createUniversalSockets(deps: UniversalSocketsDeps): UniversalSockets {
  const open = new Set<(all: boolean) => void>();
  const turns = createMessageTurns(FRAMES_PER_TICK);
  return {
    accept: (req, socket, head, protocols) => {
      const key = req.headers["sec-websocket-key"] ?? "";
      if (req.headers["sec-websocket-version"] !== "13" || Buffer.from(key, "base64").length !== 16)
        return { name: "aig_bad_request", message: "The request is not a valid WebSocket handshake (RFC 6455)." };
      const fields = [`sec-websocket-accept: ${hash("sha1", key + ACCEPT_GUID, "base64")}`];
      // A client that made offers expects the server to choose one.
      const [protocol = protocols.tokenEntry] = protocols.others;
      if (protocol !== undefined) fields.push(`sec-websocket-protocol: ${protocol}`);
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${fields.join("\r\n")}\r\n\r\n`);
      serve(deps, { req, socket, head, open, turns });
      return undefined;
    },
    close: (all) => {
      for (const close of Array.from(open)) close(all);
    },
  };
}

interface Accepted {
  readonly req: ClientRequest;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly open: Set<(all: boolean) => void>;
  readonly turns: MessageTurns;
}

function serve(
  { vendorPrefix, messageBytesMax, onRequest, idleMs = IDLE_MS }: UniversalSocketsDeps,
  { req, socket, head, open, turns }: Accepted,
): void {
  const answers = new Set<SocketAnswer>();
  let idle: NodeJS.Timeout | undefined;
  let isClosing = false;
  /** Frames wait for a later tick, and the client for them. */
  let isWaiting = false;
  const end = (code: number, reason: string): void => {
    if (socket.writableEnded || socket.destroyed) return;
    socket.end(closeFrame(code, reason), () => socket.destroy());
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  const bytesTaken = (): number => ((socket as Partial<Socket>).bytesWritten ?? 0) - socket.writableLength;
  const wait = (): void => {
    clearTimeout(idle);
    const before = bytesTaken();
    const over = (): void => {
      if (answers.size === 0) end(NORMAL, "idle timeout");
      // Answers wait for this client, and providers for the answers.
      else if (socket.writableLength > 0 && bytesTaken() === before) socket.destroy();
      else wait();
    };
    idle = setTimeout(over, idleMs).unref();
  };
  const owner = {
    prefix: vendorPrefix,
    send: (message: object) =>
      void (socket.destroyed || socket.writableEnded || socket.write(serverFrame("text", Buffer.from(JSON.stringify(message))))),
    backlogBytes: () => socket.writableLength,
    finished: (answer: SocketAnswer) => {
      answers.delete(answer);
      if (isClosing) close(false);
    },
  };
  const onText = (text: string): void => {
    wait();
    turns.spend(text.length / FRAME_BYTES);
    const message = objectOf(parsedJson(text));
    const request = objectOf(message?.["request"]);
    if (message?.["type"] !== "universal.create" || request === undefined)
      return owner.send({
        type: "universal.error",
        status: 400,
        metadata: {},
        response: "A message must be {type: universal.create, request}.",
      });
    if (answers.size >= REQUESTS_MAX) return end(POLICY_VIOLATION, `more than ${REQUESTS_MAX} requests at once`);
    const answer = new SocketAnswer(owner);
    answers.add(answer);
    onRequest(requestOf(req, request, vendorPrefix), answer);
  };
  const reader = new ClientFrameReader(
    {
      onText,
      onPing: (payload) => void (socket.writableEnded || socket.write(serverFrame("pong", payload))),
      onClose: (code) => end(code ?? NORMAL, ""),
    },
    { messageBytesMax, takeTurn: () => !isWaiting && turns.take() },
  );
  const push = (bytes: Buffer): void => {
    // Answers and pongs to one read are one write.
    socket.cork();
    try {
      if (!socket.writableEnded && !reader.push(bytes) && !isWaiting) waitForTurn();
      if (isWaiting || socket.writableLength > BACKLOG_BYTES_MAX) socket.pause();
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      end(error.code, error.message);
    } finally {
      socket.uncork();
    }
  };
  const waitForTurn = (): void => {
    isWaiting = true;
    turns.wait(() => {
      isWaiting = false;
      if (socket.destroyed) return;
      push(NOTHING);
      if (!isWaiting && socket.writableLength <= BACKLOG_BYTES_MAX) socket.resume();
    });
  };
  const close = (all: boolean): void => {
    isClosing = true;
    if (all || answers.size === 0) end(GOING_AWAY, "the gateway is shutting down");
  };
  open.add(close);
  wait();
  socket.on("data", push);
  socket.on("drain", () => {
    if (!isWaiting) socket.resume();
    answers.forEach(({ watcher }) => watcher?.clientDrained());
  });
  socket.on("end", () => socket.destroy());
  socket.once("close", () => {
    clearTimeout(idle);
    open.delete(close);
    for (const answer of Array.from(answers)) answer.gone();
  });
  if (head.length > 0) push(head);
  socket.resume();
}

/** Fields of the handshake that do not belong to a request. */
const NOT_TAKEN = /^(?:sec-websocket-|upgrade$|connection$|content-|transfer-encoding$|expect$)/;

/** The message as the request that a client without WebSockets would send. */
function requestOf(handshake: ClientRequest, { eventId, ...step }: Readonly<Record<string, unknown>>, vendorPrefix: string): ClientRequest {
  const body = Buffer.from(JSON.stringify([step]));
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(handshake.headers)) if (!NOT_TAKEN.test(name)) headers[name] = value;
  headers["content-type"] = "application/json";
  headers["content-length"] = String(body.length);
  if (typeof eventId === "string") headers[`${vendorPrefix}-aig-event-id`] = eventId;
  const { target, minorVersion, address } = handshake;
  return {
    method: "POST",
    target,
    minorVersion,
    headers,
    address,
    hasBody: true,
    isComplete: () => true,
    take: (taker) => {
      taker.onData(body);
      taker.onEnd();
    },
    pause: () => undefined,
    resume: () => undefined,
  };
}
