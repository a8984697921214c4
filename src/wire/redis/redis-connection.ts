import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { machineMs } from "#kernel/clock.ts";
import { createReplyReader, encodeCommand, RedisError, type RedisReply } from "./resp.ts";

/** One connection to a server of Redis or Valkey. */
export interface RedisConnection {
  /** Sends a command; rejects with RedisError for an error reply, and with an Error when the connection ends first. */
  call(...command: readonly (string | number)[]): Promise<RedisReply>;
  /** Resolves with the reason when the connection has ended. */
  readonly closed: Promise<string>;
  close(reason?: string): void;
}

export interface RedisServer {
  /** `redis://[USER]:[PASSWORD]@HOST[:PORT][/DATABASE]`, or `rediss://…` with TLS. */
  readonly url: string;
  /** PEM of the authority of the server's certificate; empty: the system's authorities. */
  readonly ca: string;
  /** Limit of the time in which each command is answered. After it, the connection is closed. */
  readonly timeoutMs: number;
  /** Another member of the same cluster, `HOST:PORT`. */
  readonly address?: string;
}

const DEFAULT_PORT = 6379;
/** Commands without an answer; more are refused, because the server is too slow for them. */
const WAITING_MAX = 20_000;

interface Waiting {
  readonly sentMs: number;
  resolve(reply: RedisReply): void;
  reject(error: Error): void;
}

/** Connects, authenticates and selects the database. Rejects with the reason, which has no password. */
export async function openRedis(server: RedisServer): Promise<RedisConnection> {
  const { username, password, pathname } = new URL(server.url);
  const connection = overSocket(socketTo(server), server.timeoutMs);
  try {
    const secret = decodeURIComponent(password);
    if (secret !== "") await connection.call("AUTH", ...(username === "" ? [] : [decodeURIComponent(username)]), secret);
    const database = pathname.slice(1);
    if (database !== "" && database !== "0" && server.address === undefined) await connection.call("SELECT", database);
    await connection.call("PING");
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function socketTo({ url, ca, address }: RedisServer): Socket {
  const { protocol, host: ofUrl } = new URL(url);
  const { hostname, port } = new URL(`redis://${address ?? ofUrl}`);
  const place = { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) };
  if (protocol !== "rediss:") return connectPlain(place);
  // An address cannot be the name of a server (RFC 6066 §3); its certificate must have it.
  const name = new URL(url).hostname;
  return connectTls({ ...place, ...(isIP(name.replace(/^\[|\]$/g, "")) === 0 ? { servername: name } : {}), ...(ca === "" ? {} : { ca }) });
}

function overSocket(socket: Socket, timeoutMs: number): RedisConnection {
  const waiting: Waiting[] = [];
  const closed = Promise.withResolvers<string>();
  let reason = "";
  let unsent: string[] = [];
  const end = (why: string): void => {
    if (reason !== "") return;
    reason = why;
    clearInterval(watch);
    socket.destroy();
    for (const one of waiting.splice(0)) one.reject(new Error(why));
    closed.resolve(why);
  };
  // One timer for all commands: it looks only at the oldest, and twice, because this process may have been suspended itself.
  let seen: Waiting | undefined;
  const watch = setInterval(() => {
    const [oldest] = waiting;
    if (oldest !== undefined && oldest === seen && machineMs() - oldest.sentMs > timeoutMs) end(`no answer within ${timeoutMs} ms`);
    seen = oldest;
  }, timeoutMs / 2).unref();
  const read = createReplyReader((reply) => {
    const next = waiting.shift();
    if (next === undefined) throw new RedisError("the server sent a reply without a command");
    if (reply instanceof RedisError) next.reject(reply);
    else next.resolve(reply);
  });
  socket.setNoDelay(true);
  socket.on("data", (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      end((error as Error).message);
    }
  });
  socket.on("error", (error) => end(error.message || (error as NodeJS.ErrnoException).code || "the connection failed"));
  socket.on("close", () => end("the server closed the connection"));
  const flush = (): void => {
    const text = unsent.join("");
    unsent = [];
    if (reason === "") socket.write(text);
  };
  return {
    call: (...command) =>
      new Promise((resolve, reject) => {
        if (reason !== "") return reject(new Error(reason));
        if (waiting.length >= WAITING_MAX) return reject(new Error("too many commands wait for an answer"));
        waiting.push({ sentMs: machineMs(), resolve, reject });
        // Commands of one turn of the loop go out in one write.
        if (unsent.push(encodeCommand(command)) === 1) queueMicrotask(flush);
      }),
    closed: closed.promise,
    close: (why = "it was closed") => end(why),
  };
}
