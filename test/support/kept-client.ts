import { connect, type Socket } from "node:net";

/** A response as received, without the parts that differ each time. */
export interface KeptAnswer {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An HTTP/1.1 client that sends what the test says and reads one response after the other on the same connection. */
export interface KeptClient {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /** The next response, including interim ones; undefined if the connection ends before. */
  next(isHead?: boolean): Promise<KeptAnswer | undefined>;
  isClosed(): boolean;
}

/** Timeout of a wait. */
const WAIT_MS = 60_000;
/** Dates, IDs and times, which differ in each response. */
const ITS_OWN = /^(?:date|age|.*-ray|.*-log-id|.*-event-id|.*-request-id|(?:x-)?ratelimit.*)$/;
const ITS_OWN_TEXT = /\b[0-9a-f]{16}\b|\b[0-9A-HJKMNP-TV-Z]{26}\b/g;

export function keptClient(port: number): KeptClient {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let bytes = Buffer.alloc(0);
  let isClosed = false;
  let changed = (): void => undefined;
  socket.on("error", () => undefined);
  socket.on("data", (more) => {
    bytes = Buffer.concat([bytes, more]);
    changed();
  });
  socket.on("close", () => {
    isClosed = true;
    changed();
  });
  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no answer came; ${bytes.length} bytes wait`)), WAIT_MS);
      changed = () => {
        clearTimeout(limit);
        changed = () => undefined;
        resolve();
      };
    });
  /** False if the connection ended before. */
  const until = async (isThere: () => boolean): Promise<boolean> => {
    while (!isThere()) {
      if (isClosed) return false;
      await wait();
    }
    return true;
  };
  const take = (length: number): string => {
    const text = bytes.toString("latin1", 0, length);
    bytes = bytes.subarray(length);
    return text;
  };
  const line = async (): Promise<string | undefined> =>
    (await until(() => bytes.includes("\r\n"))) ? take(bytes.indexOf("\r\n") + 2).slice(0, -2) : undefined;
  const chunked = async (): Promise<string | undefined> => {
    for (let body = ""; ;) {
      const length = Number.parseInt((await line()) ?? "", 16);
      if (!(await until(() => bytes.length >= length + 2))) return undefined;
      const chunk = take(length + 2).slice(0, -2);
      if (length === 0) return body;
      body += chunk;
    }
  };
  return {
    socket,
    send: (text) => void (socket.destroyed || socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text)),
    isClosed: () => isClosed,
    next: async (isHead = false) => {
      if (!(await until(() => bytes.includes("\r\n\r\n")))) return undefined;
      const [start = "", ...lines] = take(bytes.indexOf("\r\n\r\n") + 4)
        .trimEnd()
        .split("\r\n");
      const all = lines.map((field) => [field.slice(0, field.indexOf(":")).toLowerCase(), field.slice(field.indexOf(":") + 1).trim()]);
      const fields: Record<string, string> = Object.fromEntries(all.filter(([name = ""]) => !ITS_OWN.test(name)));
      const status = Number(start.split(" ")[1]);
      const length = Number(fields["content-length"] ?? 0);
      if (isHead || status < 200 || status === 204 || status === 304) return { status, fields, body: "" };
      if (fields["transfer-encoding"] === "chunked") {
        const body = await chunked();
        return body === undefined ? undefined : { status, fields, body };
      }
      if (fields["content-length"] === undefined) {
        await until(() => false);
        return { status, fields, body: take(bytes.length) };
      }
      return (await until(() => bytes.length >= length)) ? { status, fields, body: take(length).replace(ITS_OWN_TEXT, "id") } : undefined;
    },
  };
}
