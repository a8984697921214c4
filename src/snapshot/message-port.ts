import type { MessagePort } from "node:worker_threads";
import type { FeedMessage, FeedPort, FeedReply } from "./feed.ts";

type Message = FeedMessage | FeedReply;

/**
 * A feed over a MessagePort. All messages sent in one tick cross as one: a group commit of thirty units
 * costs each worker one wake-up, and its thirty replies cost one here.
 */
export function createMessagePortFeed(port: MessagePort): FeedPort {
  let waiting: Message[] = [];
  const flush = (): void => {
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    port.postMessage(batch);
  };
  return {
    send: (message) => {
      if (waiting.push(message) === 1) queueMicrotask(flush);
    },
    onMessage: (listener) => {
      port.on("message", (batch: readonly Message[]) => {
        for (const message of batch) listener(message);
      });
    },
    onClose: (listener) => {
      port.on("close", listener);
    },
    close: () => {
      flush();
      port.close();
    },
  };
}
