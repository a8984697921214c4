import type { Transport, TransportHandler } from "#wire/connections/transport/transport.ts";
import { NOWHERE } from "./carrier.ts";

const nothing = (): void => undefined;

/** A connection that could not be made: its handler only learns why. */
export function lostStream(code: string): Transport {
  let isTold = false;
  const afterClose: (() => void)[] = [];
  const tell = (handler: TransportHandler | null): void => {
    if (isTold) return;
    isTold = true;
    queueMicrotask(() => {
      handler?.onClosed(code);
      for (const callback of afterClose) callback();
    });
  };
  return {
    ...{ peer: NOWHERE, tls: null, bytesRead: 0, bytesTaken: 0, queuedBytes: 0, needsDrain: false, sendsReads: false },
    ...{ pause: nothing, rest: nothing, resume: nothing, sendText: nothing, sendShared: nothing, sendKept: nothing, end: nothing },
    ...{ unread: nothing, destroySoon: nothing, destroy: nothing, reset: nothing },
    localEnd: () => NOWHERE,
    attach: tell,
    whenSent: (callback) => queueMicrotask(callback),
    whenClosed: (callback) => void afterClose.push(callback),
    intoSocket: () => {
      throw new Error("a lost connection has no socket");
    },
  };
}
