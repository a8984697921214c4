import { write, writeSync } from "node:fs";

/** Receives lines of a log. */
export interface LogStream {
  write(line: string): void;
}

/** Limit of lines waiting for a slow reader; further lines are lost. */
const WAITING_LENGTH_MAX = 1_000_000;
const RETRY_MS = 100;
/** The reader has closed the pipe or terminal for good. */
const GONE: ReadonlySet<string | undefined> = new Set(["EPIPE", "EIO", "ENXIO"]);

/**
 * Writes to a descriptor without waiting for it. Lines that cannot be written are lost and do not end the process: a log
 * on a full disk, or without a reader, must not stop the server. (pino's own stream throws in that case, and tries
 * forever to write its rest when the process ends.)
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
      // Lost, as described above.
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
