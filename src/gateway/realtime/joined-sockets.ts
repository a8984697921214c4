import { type Duplex, pipeline, Transform } from "node:stream";
import type { MessageTurns } from "#kernel/process/message-turns.ts";
import type { KeyMask } from "#gateway/http/key-mask.ts";
import { MaskedMessages } from "./masked-messages.ts";
import type { SessionUsage } from "./session-usage.ts";

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
  socket.on("data", (chunk: Buffer) => (bytes.fromClient += chunk.length));
  provider.on("data", (chunk: Buffer) => {
    bytes.fromProvider += chunk.length;
    usage.push(chunk);
  });
  for (const one of [socket, provider] as readonly (Duplex & { setTimeout?: (ms: number, then: () => void) => void })[])
    one.setTimeout?.(IDLE_MS, () => one.destroy(new Error("idle timeout")));
  pipeline(socket, provider, ended);
  if (mask === undefined) pipeline(provider, socket, ended);
  else pipeline(provider, masking(mask, usage, turns), socket, ended);
}

/**
 * Every frame keeps its length. Its end is passed at once, because the provider may then wait for the client; for the same
 * reason a message waits for others only for a moment. It passes after that without a long beginning of a key, and the mask
 * remembers the beginning for the rest of the session.
 */
function masking(mask: KeyMask, usage: SessionUsage, turns: MessageTurns): Transform {
  const body = mask.body();
  const messages = new MaskedMessages(mask.keys, turns.take);
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
