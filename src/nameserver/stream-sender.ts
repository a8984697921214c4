import type { MessageStream } from "./message-stream.ts";

/** One answer of many messages on its way to its client. */
export interface StreamSender {
  /** To be called when the client has taken what was written. */
  resume(): void;
  /** The connection is gone. */
  close(): void;
}

export interface StreamSenderDeps {
  readonly stream: MessageStream;
  write(message: Buffer): void;
  /** More is waiting for the client than is good. */
  isFull(): boolean;
  /** Called once, behind the last message, or where the rest cannot be made. */
  ended(isWhole: boolean): void;
}

/** Sends one message a turn of the event loop, so that other clients have theirs meanwhile, and only while the client takes them. */
export function createStreamSender({ stream, write, isFull, ended }: StreamSenderDeps): StreamSender {
  let next: NodeJS.Immediate | undefined;
  let closed = false;

  const close = (): void => {
    closed = true;
    clearImmediate(next);
    stream.close();
  };
  const send = (): void => {
    next = undefined;
    if (closed || isFull()) return;
    const message = nextOf(stream);
    if (message === "broken" || message === undefined) {
      close();
      ended(message === undefined);
      return;
    }
    if (message) write(message);
    next = setImmediate(send);
  };
  next = setImmediate(send);
  return {
    resume: () => {
      if (next === undefined) send();
    },
    close: () => {
      if (!closed) close();
    },
  };
}

function nextOf(stream: MessageStream): Buffer | null | undefined | "broken" {
  try {
    return stream.next();
  } catch {
    return "broken";
  }
}
