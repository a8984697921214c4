import { type Duplex, pipeline, Transform, type Writable } from "node:stream";
import type { MessageTurns } from "#kernel/process/message-turns.ts";
import type { KeyMask } from "#gateway/http/key-mask.ts";
import { MaskedMessages } from "./masked-messages.ts";
import type { SessionUsage } from "./session-usage.ts";

/** Read at once, so that a turn is not much longer than what is left of it. */
const PIECE_BYTES = 8 * 1024;
/** Limit for a silent session; providers end theirs after an hour at most. */
const IDLE_MS = 600_000;

interface Joined {
  readonly socket: Duplex;
  readonly provider: Duplex;
  readonly usage: SessionUsage;
  readonly bytes: { fromClient: number; fromProvider: number };
  readonly mask: KeyMask | undefined;
  readonly turns: MessageTurns;
}

/** Passes bytes both ways until one side ends, and then ends the other. */
export function join({ socket, provider, usage, bytes, mask, turns }: Joined, onEnd: () => void): void {
  let open = 2;
  const ended = (): void => {
    if (--open === 0) onEnd();
    // The other side gets the bytes that are in transit, and no more.
    else setTimeout(() => [socket, provider].forEach((one) => one.destroy()), LINGER_MS).unref();
  };
  const masked = mask && masking(mask, usage, turns);
  const ofClient = inTurns(turns, provider, (piece) => {
    bytes.fromClient += piece.length;
    return piece.length;
  });
  const ofProvider = inTurns(turns, masked ?? socket, (piece) => {
    bytes.fromProvider += piece.length;
    return usage.push(piece);
  });
  for (const one of [socket, provider] as readonly (Duplex & { setTimeout?: (ms: number, then: () => void) => void })[])
    one.setTimeout?.(IDLE_MS, () => one.destroy(new Error("idle timeout")));
  pipeline(socket, ofClient, provider, ended);
  if (masked === undefined) pipeline(provider, ofProvider, socket, ended);
  else pipeline(provider, ofProvider, masked, socket, ended);
}

/**
 * Passes what `read` was called with, in pieces while turns last; `read` returns what it cost. Meanwhile the sender waits. Nothing is read
 * while `to` is full, so that no byte waits in between when a frame of the gateway is written behind what was read.
 */
function inTurns(turns: MessageTurns, to: Writable, read: (piece: Buffer) => number): Transform {
  const pass = (chunk: Buffer, from: number, done: () => void): void => {
    if (to.writableNeedDrain) return void to.once("drain", () => pass(chunk, from, done));
    let at = from;
    for (; at < chunk.length && turns.isLeft(); at += PIECE_BYTES) turns.spend(read(chunk.subarray(at, at + PIECE_BYTES)));
    if (at > from) transform.push(chunk.subarray(from, at));
    if (at >= chunk.length) return done();
    turns.wait(() => void (transform.destroyed || pass(chunk, at, done)));
  };
  const transform = new Transform({ transform: (chunk: Buffer, _encoding, done) => pass(chunk, 0, done) });
  return transform;
}

/**
 * Every frame keeps its length. Its end is passed at once, because the provider may then wait for the client; for the same
 * reason a message waits for others only for a moment. It passes after that without a long beginning of a key, and the mask
 * remembers the beginning for the rest of the session.
 */
function masking(mask: KeyMask, usage: SessionUsage, turns: MessageTurns): Transform {
  const body = mask.body();
  const messages = new MaskedMessages(mask.keys, turns);
  let timer: NodeJS.Timeout | undefined;
  /** A chunk may have thousands of frames: other work comes between some of them, and the provider waits. */
  const read = (bytes: Buffer, done: () => void): void => {
    const shown = messages.push(bytes);
    if (shown.length > 0) transform.push(shown);
    if (messages.isBehind) return turns.wait(() => void (transform.destroyed || read(NOTHING, done)));
    if (messages.isHolding) timer = setTimeout(() => transform.push(messages.release()), HELD_MS);
    done();
  };
  const transform = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      clearTimeout(timer);
      read(body.push(chunk, usage.isBetween), done);
    },
    flush: (done) => {
      clearTimeout(timer);
      done(null, messages.end(body.end()));
    },
  });
  return transform.once("close", () => clearTimeout(timer));
}

/** A model says the next piece much sooner. */
const HELD_MS = 500;
const NOTHING = Buffer.alloc(0);
const LINGER_MS = 1_000;
