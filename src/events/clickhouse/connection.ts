import { readRegularFile } from "#kernel/process/regular-file.ts";
import { Readable } from "node:stream";
import type { createClient } from "@clickhouse/client";
import type { BoundValue } from "./where.ts";

/** `url`: http(s)://USER:PASSWORD@HOST:PORT/DATABASE; `ca`: path of the PEM file of its authority, or empty. */
export interface ClickHousePlace {
  readonly url: string;
  readonly ca: string;
}

export interface ClickHouse {
  /** The rows of a query, whose values are bound. */
  rows(sql: string, params?: Readonly<Record<string, BoundValue>>): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A statement without rows. */
  run(sql: string, params?: Readonly<Record<string, BoundValue>>): Promise<void>;
  /** Inserts the lines (JSONCompactEachRow) all or none; a block with the token of one that was stored adds nothing. */
  insert(into: string, lines: Iterable<string>, token: string): Promise<void>;
  close(): Promise<void>;
}

/** Every failure: the server is away, too slow, or refused the call. The text has no credentials. */
export class ClickHouseFailure extends Error {
  /** The server's number of the error; undefined if it has not answered with one. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }
}

export interface ClickHouseLimits {
  readonly queryMs: number;
  readonly insertMs: number;
}

/** A caller of the API waits thirty seconds at most (read/read-client.ts). */
const LIMITS: ClickHouseLimits = { queryMs: 25_000, insertMs: 60_000 };
const CONNECTIONS_MAX = 10;
const REASON_UNITS_MAX = 300;

type Client = ReturnType<typeof createClient>;

/** The package is loaded at the first call: servers without `events.url` never load it. */
export function createClickHouse({ url, ca }: ClickHousePlace, limits: ClickHouseLimits = LIMITS): ClickHouse {
  let opened: Promise<Client> | null = null;
  const client = (): Promise<Client> => (opened ??= open(url, ca, limits));
  const call = async <R>(limitMs: number, work: (given: Client, abort_signal: AbortSignal) => Promise<R>): Promise<R> => {
    const signal = AbortSignal.timeout(limitMs);
    try {
      return await work(await client(), signal);
    } catch (error) {
      throw signal.aborted ? new ClickHouseFailure(`no answer within ${limitMs} ms`) : failureOf(error, url);
    }
  };
  return {
    rows: (query, query_params = {}) =>
      call(limits.queryMs, async (given, abort_signal) => {
        const clickhouse_settings = { max_execution_time: Math.ceil(limits.queryMs / 1000) };
        const found = await given.query({ query, query_params, abort_signal, clickhouse_settings, format: "JSONEachRow" });
        return found.json<Readonly<Record<string, unknown>>>();
      }),
    run: (query, query_params = {}) =>
      call(limits.queryMs, async (given, abort_signal) => void (await given.command({ query, query_params, abort_signal }))),
    insert: (into, lines, insert_deduplication_token) =>
      call(limits.insertMs, async (given, abort_signal) => {
        const answer = await given.exec({
          query: `INSERT INTO ${into} FORMAT JSONCompactEachRow`,
          values: Readable.from(inChunks(lines), { objectMode: false }),
          abort_signal,
          clickhouse_settings: {
            insert_deduplicate: 1,
            insert_deduplication_token,
            // A block is stored or not when the call returns.
            async_insert: 0,
            wait_end_of_query: 1,
            // Rows of a node that was cut off are of many days.
            throw_on_max_partitions_per_insert_block: 0,
          },
        });
        for await (const _ of answer.stream);
      }),
    close: async () => {
      const given = await opened?.catch(() => null);
      await given?.close();
    },
  };
}

/** Each piece is compressed by another thread, which for single lines would take longer than all else. */
const CHUNK_UNITS = 64 * 1024;

function* inChunks(lines: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK_UNITS) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

async function open(url: string, ca: string, limits: ClickHouseLimits): Promise<Client> {
  const { createClient: create, ClickHouseLogLevel } = await import("@clickhouse/client");
  return create({
    url,
    application: "selvedge",
    ...(ca === "" ? {} : { tls: { ca_cert: readRegularFile(ca) } }),
    request_timeout: limits.insertMs,
    max_open_connections: CONNECTIONS_MAX,
    compression: { request: true, response: false },
    // It would write what it sends.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 0,
      // With it, an error behind the first rows is an error of the call.
      wait_end_of_query: 1,
    },
  });
}

function failureOf(error: unknown, url: string): ClickHouseFailure {
  if (error instanceof ClickHouseFailure) return error;
  const { message = "", code } = error as { readonly message?: string; readonly code?: string };
  const number = Number(code);
  return new ClickHouseFailure(withoutSecrets(message || String(error), url), Number.isInteger(number) ? number : undefined);
}

function withoutSecrets(text: string, url: string): string {
  const { password } = new URL(url);
  const secrets = [password, decoded(password)].filter((secret) => secret !== "");
  const hidden = secrets.reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);
  return hidden.slice(0, REASON_UNITS_MAX);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
