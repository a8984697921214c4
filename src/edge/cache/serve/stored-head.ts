import { parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { withBrowserTtl } from "#edge/cache/policy/browser-ttl.ts";
import type { BrowserTtl } from "#edge/cache/policy/cache-rule.ts";
import type { Answer } from "#edge/cache/key/preconditions.ts";
import { ageAt } from "#edge/cache/policy/freshness.ts";
import { fieldLines, type ResponseField } from "#edge/cache/policy/response-fields.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** Shared: each head is written before the next one is parsed. */
const head = new Head();

/** Fields of a 304, with which a client updates its copy (RFC 9110 §15.4.5). */
const NOT_MODIFIED_FIELDS = new Set(["cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified"]);

type Described = Pick<StoredResponse, "status" | "reason" | "fields" | "freshness" | "memo">;

/**
 * The head of a response from the cache in the form of an origin's head, so that later stages treat both alike. `length`
 * is null while unknown; `own` are fields for this visitor only. Valid until the next call.
 */
export function storedHead(
  stored: Described,
  answer: Answer,
  length: number | null,
  nowMs: number,
  browser: BrowserTtl,
  own: readonly ResponseField[],
): { readonly buffer: Buffer; readonly head: Head } {
  const buffer =
    answer.kind === "whole" && length !== null && own.length === 0
      ? wholeHead(stored, length, nowMs, browser)
      : Buffer.from(headText(stored, answer, length, nowMs, browser, own), "latin1");
  if (parseResponseHead(buffer, 0, buffer.length, head) !== 0) throw new Error("a stored head cannot be read");
  return { buffer, head };
}

/** Builds the head of a whole response at most once per second. */
function wholeHead(stored: Described, length: number, nowMs: number, browser: BrowserTtl): Buffer {
  const { memo } = stored;
  const second = Math.floor(nowMs / 1000);
  if (memo.second !== second || memo.mode !== browser.mode || memo.seconds !== browser.seconds) {
    memo.second = second;
    memo.mode = browser.mode;
    memo.seconds = browser.seconds;
    const text = headText(stored, { kind: "whole" }, length, nowMs, browser, []);
    // A separate allocation: a slice of Node.js's pool would keep its 8 KiB in memory as long as the response.
    memo.head = Buffer.allocUnsafeSlow(text.length);
    memo.head.write(text, "latin1");
  }
  return memo.head;
}

function headText(
  stored: Described,
  answer: Answer,
  length: number | null,
  nowMs: number,
  browser: BrowserTtl,
  own: readonly ResponseField[],
): string {
  const age = ageAt(stored.freshness, nowMs);
  const fields = withBrowserTtl(stored.status, stored.fields, browser);
  const [status, kept, framing] = shape(stored, fields, answer, length);
  return `HTTP/1.1 ${status}\r\n${fieldLines(kept)}${fieldLines(own)}${framing}Age: ${age}\r\n\r\n`;
}

/** Builds status line, fields and framing. */
function shape(
  stored: Described,
  fields: readonly ResponseField[],
  answer: Answer,
  length: number | null,
): readonly [string, readonly ResponseField[], string] {
  switch (answer.kind) {
    case "whole":
      return [
        `${stored.status} ${stored.reason}`,
        fields,
        length === null ? "Transfer-Encoding: chunked\r\n" : `Content-Length: ${length}\r\n`,
      ];
    case "not_modified":
      return ["304 Not Modified", fields.filter(({ key }) => NOT_MODIFIED_FIELDS.has(key)), ""];
    case "part":
      return [
        "206 Partial Content",
        fields.filter(({ key }) => key !== "content-range"),
        `Content-Range: bytes ${answer.start}-${answer.end - 1}/${length}\r\nContent-Length: ${answer.end - answer.start}\r\n`,
      ];
    case "unsatisfiable":
      return [
        "416 Range Not Satisfiable",
        fields.filter(({ key }) => key === "date"),
        `Content-Range: bytes */${length}\r\nContent-Length: 0\r\n`,
      ];
  }
}
