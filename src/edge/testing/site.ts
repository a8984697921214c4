import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Op } from "#snapshot/entries.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge } from "./edge.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

export interface Site {
  readonly edge: TestEdge;
  /** Requests to the origin. */
  readonly asked: ReceivedRequest[];
  get(path: string, fields?: string, method?: string): Promise<Reply>;
}

export interface Reply {
  readonly status: number;
  readonly cache: string | undefined;
  readonly body: string;
  field(name: string): string | undefined;
}

/** A site whose origin answers with `answer`. */
export async function site(
  t: { after(end: () => unknown): void },
  answer: (req: IncomingMessage, res: ServerResponse) => void,
  ops: readonly Op[] = [],
): Promise<Site> {
  const asked: ReceivedRequest[] = [];
  const origin = await httpOrigin((req, res) => {
    asked.push({ method: req.method ?? "", url: req.url ?? "", headers: req.headers });
    answer(req, res);
  });
  const edge = await startEdge([...siteOps(origin.port), ...ops]);
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  return { edge, asked, get: (path, fields = "", method = "GET") => ask(edge.http, path, fields, method) };
}

export async function ask(port: number, path: string, fields: string, method: string): Promise<Reply> {
  const text = await exchangeRaw(port, `${method} ${path} HTTP/1.1\r\nHost: www.example.com\r\n${fields}Connection: close\r\n\r\n`);
  const end = text.indexOf("\r\n\r\n");
  const head = text.slice(0, end);
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1];
  const body = text.slice(end + 4);
  return {
    status: Number(head.slice(9, 12)),
    cache: field("svc-cache-status"),
    body: field("transfer-encoding") ? dechunk(body) : body,
    field,
  };
}

function dechunk(text: string): string {
  const line = text.indexOf("\r\n");
  const length = Number.parseInt(text.slice(0, line), 16);
  return length > 0 ? text.slice(line + 2, line + 2 + length) + dechunk(text.slice(line + 4 + length)) : "";
}
