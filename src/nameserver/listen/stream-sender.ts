import type { MessageStream } from "#nameserver/transfers/message-stream.ts";
import type { Yield } from "#nameserver/limits/yield-queue.ts";

/** Sends one response of many messages to its client. */
export interface StreamSender {
  /** Call when the client has read enough of the buffered data. */
  resume(): void;
  /** The connection is closed. */
  close(): void;
}

export interface StreamSenderDeps {
  readonly stream: MessageStream;
  write(message: Buffer): void;
  /** Shared by all senders, so that their clients take turns. */
  readonly takeTurn: Yield;
  /** Too much data is buffered for the client. */
  isFull(): boolean;
  /** Called once: after the last message, or if the rest cannot be made. */
  ended(isWhole: boolean): void;
}

/** Sends one message per tick, so that other clients are served in between, and only while the client keeps up. */
export function createStreamSender({ stream, write, takeTurn, isFull, ended }: StreamSenderDeps): StreamSender {
  let state: "waiting" | "full" | "closed" = "waiting";

  const close = (): void => {
    state = "closed";
    stream.close();
  };
  const send = (): void => {
    if (state === "closed") return;
    state = isFull() ? "full" : "waiting";
    if (state === "full") return;
    const message = nextOf(stream);
    if (message === "broken" || message === undefined) {
      close();
      ended(message === undefined);
      return;
    }
    if (message) write(message);
    takeTurn(send);
  };
  takeTurn(send);
  return {
    resume: () => {
      if (state !== "full") return;
      state = "waiting";
      takeTurn(send);
    },
    close: () => {
      if (state !== "closed") close();
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
