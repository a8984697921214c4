import type { FeedLog } from "#snapshot/feed.ts";
import { NO_REVISION } from "./bus-message.ts";

/** A node can have answers to its questions sent to all others, so their number is not bounded: the log has each reason once. */
export function createUnsignedMessages(log: FeedLog, refused: (reason: string, rev: number) => void): (reason: string) => void {
  const said = new Set<string>();
  return (reason) => {
    if (!said.has(reason)) log("warn", "messages of the bus are ignored", { reason });
    said.add(reason);
    refused(reason, NO_REVISION);
  };
}
