import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { TestContext } from "node:test";
import { gunzipSync } from "node:zlib";

/** As much of ClickHouse's HTTP interface as it takes to fail like it. */
export interface ClickHouseStub {
  readonly url: string;
  /** Lines of inserts by table, each token once. */
  readonly stored: ReadonlyMap<string, readonly (readonly unknown[])[]>;
  /** Statements and inserts in their order; inserts by their token. */
  readonly calls: readonly string[];
  readonly encodings: ReadonlySet<string>;
  /** Fails the next calls; null: they are answered. */
  fault: ((response: ServerResponse, statement: string, socket: Socket) => void) | null;
  /** Inserts are stored, and their answers lost on the way. */
  losesAnswers: boolean;
  /** Answers to statements that begin like this. */
  readonly answers: Map<string, readonly object[]>;
}

/** As ClickHouse refuses a call. */
export const refusal =
  (code: number, text = "refused", status = 500) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { "x-clickhouse-exception-code": code });
    response.end(`Code: ${code}. DB::Exception: ${text}. (SOME_ERROR) (version 26.7.2.1)`);
  };

export async function startClickHouseStub(t: TestContext, user = "selvedge:pa%40ss"): Promise<ClickHouseStub> {
  const stored = new Map<string, (readonly unknown[])[]>();
  const tokens = new Set<string>();
  const calls: string[] = [];
  const encodings = new Set<string>();
  const stub: Pick<ClickHouseStub, "fault" | "losesAnswers"> = { fault: null, losesAnswers: false };
  const answers = new Map<string, readonly object[]>([["SELECT max(version)", [{ version: 1 }]]]);
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { searchParams } = new URL(request.url!, "http://stub");
      const token = searchParams.get("insert_deduplication_token");
      const encoding = request.headers["content-encoding"] ?? "identity";
      const body = encoding === "gzip" ? gunzipSync(Buffer.concat(parts)) : Buffer.concat(parts);
      const statement = (searchParams.get("query") ?? body.toString()).trim();
      calls.push(token ?? statement);
      if (stub.fault !== null) return stub.fault(response, token ?? statement, request.socket);
      if (token !== null) {
        encodings.add(encoding);
        const table = /INTO (\w+)/.exec(statement)![1]!;
        const lines = body.toString().trim().split("\n");
        if (!tokens.has(token)) stored.set(table, [...(stored.get(table) ?? []), ...lines.map((line) => JSON.parse(line) as unknown[])]);
        tokens.add(token);
        return void (stub.losesAnswers ? response.destroy() : response.end());
      }
      const rows = [...answers].find(([begin]) => statement.startsWith(begin))?.[1] ?? [];
      response.end(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(stub, {
    url: `http://${user}@127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    stored,
    calls,
    encodings,
    answers,
  });
}
