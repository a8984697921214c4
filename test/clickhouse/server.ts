import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** The part of chdb that is used: its package is not one of ours, so its types are not here. */
interface Session {
  queryAsync(sql: string, options: { readonly format: string }): Promise<{ bytes(): Uint8Array }>;
  queryBindAsync(sql: string, bound: object, options: { readonly format: string }): Promise<{ bytes(): Uint8Array }>;
  cleanup?(): void;
}

export interface ClickHouseServer {
  readonly url: string;
  /** While it is true, every connection ends without an answer. */
  away: boolean;
  close(): Promise<void>;
}

/** Parameters of a call that are not settings of its statement. */
const OF_THE_CALL = new Set([
  ...["query", "query_id", "session_id", "database", "wait_end_of_query", "send_progress_in_http_headers", "default_format", "role"],
  ...["enable_http_compression", "decompress"],
]);

/** A separate package has the engine, which is larger than all others together. */
const engine = createRequire(new URL("engine/package.json", import.meta.url));

const isInstalled = (): boolean => {
  try {
    return engine.resolve("chdb") !== "";
  } catch {
    return false;
  }
};

/** The reason why a test is skipped; false if the engine is there. */
export const NOT_INSTALLED = isInstalled()
  ? false
  : "NOT TESTED against ClickHouse: npm install --prefix test/clickhouse/engine installs its engine (543 MB)";

export async function startClickHouse(directory: string): Promise<ClickHouseServer> {
  const chdb = engine("chdb") as { readonly Session: new (path: string) => Session };
  const session = new chdb.Session(directory);
  let files = 0;
  const state = { away: false };
  const server = createServer((request, response) => {
    if (state.away) request.socket.destroy();
    else void answer(session, request, response, () => `${directory}.in.${++files}`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      session.cleanup?.();
    },
  });
}

/** As much of ClickHouse's HTTP interface as its client uses, over the engine itself. One statement at a time runs in it. */
async function answer(session: Session, request: IncomingMessage, response: ServerResponse, freshPath: () => string): Promise<void> {
  const { searchParams, pathname } = new URL(request.url!, "http://server");
  if (pathname === "/ping") return void response.end("Ok.\n");
  const given = searchParams.get("query");
  const settings = [...searchParams]
    .filter(([key]) => !OF_THE_CALL.has(key) && !key.startsWith("param_"))
    .map(([key, value]) => `${key} = ${/^\d+$/.test(value) ? value : `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`}`);
  const bound = Object.fromEntries(
    [...searchParams].filter(([key]) => key.startsWith("param_")).map(([key, value]) => [key.slice(6), value]),
  );
  let file: string | null = null;
  try {
    const body = await bodyOf(request);
    let [sql, format] = [given ?? body.toString(), "TabSeparated"];
    if (given !== null && body.length > 0) {
      const [, into, rowFormat] = /^\s*(INSERT INTO .*?)\s+FORMAT\s+(\w+)\s*$/is.exec(given)!;
      file = freshPath();
      writeFileSync(file, body);
      sql = `${into} FROM INFILE '${file}' ${settings.length > 0 ? `SETTINGS ${settings.join(", ")} ` : ""}FORMAT ${rowFormat}`;
    } else {
      const found = /\s+FORMAT\s+(\w+)\s*;?\s*$/i.exec(sql);
      if (found !== null) [sql, format] = [sql.slice(0, found.index), found[1]!];
      if (settings.length > 0 && /^\s*(?:SELECT|WITH)/i.test(sql)) sql += ` SETTINGS ${settings.join(", ")}`;
    }
    const values = Object.fromEntries(
      Object.entries(bound).map(([name, text]) => [name, sql.includes(`{${name}:Array(`) ? listOf(text) : unescaped(text)]),
    );
    const isBound = Object.keys(values).length > 0;
    const result = await (isBound ? session.queryBindAsync(sql, values, { format }) : session.queryAsync(sql, { format }));
    response.end(result.bytes());
  } catch (error) {
    const text = String((error as Error).message);
    response.statusCode = 500;
    response.setHeader("X-ClickHouse-Exception-Code", /Code: (\d+)/.exec(text)?.[1] ?? "1");
    response.end(text);
  } finally {
    if (file !== null) rmSync(file, { force: true });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", "0": "\0", b: "\b", f: "\f" };

/** The engine's own binding escapes values, as the client has done already. */
const unescaped = (text: string): string => text.replaceAll(/\\(.)/gs, (_, escaped: string) => ESCAPES[escaped] ?? escaped);

const listOf = (text: string): readonly (string | number)[] =>
  Array.from(text.slice(1, -1).matchAll(/'((?:[^'\\]|\\.)*)'|[^,]+/gs), ([whole, quoted]) =>
    quoted === undefined ? Number(whole) : unescaped(quoted),
  );

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}
