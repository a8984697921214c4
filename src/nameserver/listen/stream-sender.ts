import type { MessageStream } from "#nameserver/transfers/message-stream.ts";
import type { YieldTurn } from "#nameserver/limits/yield-queue.ts";

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
  /** Shared by all whose clients would otherwise wait for each other. */
  readonly takeTurn: YieldTurn;
  /** More is waiting for the client than is good. */
  isFull(): boolean;
  /** Called once, behind the last message, or where the rest cannot be made. */
  ended(isWhole: boolean): void;
}

/** Sends one message a turn, so that other clients have theirs meanwhile, and only while the client takes them. */
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
