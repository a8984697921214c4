import { write, writeSync } from "node:fs";

/** Takes lines of a log. */
export interface LogStream {
  write(line: string): void;
}

/** What waits for a reader that is slow; lines beyond it are lost. */
const WAITING_LENGTH_MAX = 1_000_000;
const RETRY_MS = 100;
/** Nobody will read it any more: a pipe whose reader has left, a terminal that was closed. */
const GONE: ReadonlySet<string | undefined> = new Set(["EPIPE", "EIO", "ENXIO"]);

/**
 * Writes to a descriptor without waiting for it. What cannot be written is lost and no reason to end: a log on a full disk, or one that
 * nobody reads, must not stop the server. (pino's own stream throws then, and tries for ever to write its rest when the process ends.)
 */
export function createLogStream(fd: number): LogStream {
  let waiting = "";
  let isWriting = false;
  let isGone = false;

  const begin = (): void => {
    if (waiting === "") return;
    isWriting = true;
    const bytes = Buffer.from(waiting);
    waiting = "";
    const from = (at: number): void =>
      write(fd, bytes, at, bytes.length - at, null, (error, written) => {
        if (error?.code === "EAGAIN") return void setTimeout(() => from(at), RETRY_MS);
        if (error === null && at + written < bytes.length) return from(at + written);
        isGone ||= GONE.has(error?.code);
        isWriting = false;
        if (!isGone) begin();
      });
    from(0);
  };

  process.once("exit", () => {
    try {
      if (!isGone && waiting !== "") writeSync(fd, waiting);
    } catch {
      // As above.
    }
  });
  return {
    write: (line) => {
      if (isGone || waiting.length + line.length > WAITING_LENGTH_MAX) return;
      waiting += line;
      if (!isWriting) begin();
    },
  };
}
