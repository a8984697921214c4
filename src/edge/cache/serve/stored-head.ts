import { parseResponseHead } from "#wire/http/head.ts";
import { Head } from "#wire/http/parsed-head.ts";
import { withBrowserTtl } from "#edge/cache/policy/browser-ttl.ts";
import type { BrowserTtl } from "#edge/cache/policy/cache-rule.ts";
import type { Answer } from "#edge/cache/key/preconditions.ts";
import { ageAt } from "#edge/cache/policy/freshness.ts";
import { fieldLines, type ResponseField } from "#edge/cache/policy/response-fields.ts";
import type { StoredResponse } from "#edge/cache/store/stored-response.ts";

/** One for all: a head is written out before the next one is read. */
const head = new Head();

/** RFC 9110 §15.4.5: what a visitor needs to bring its copy up to date. */
const NOT_MODIFIED_FIELDS = new Set(["cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified"]);

type Described = Pick<StoredResponse, "status" | "reason" | "fields" | "freshness" | "memo">;

/**
 * The head of an answer from the cache, in the form in which an origin's arrives, so that everything behind treats both
 * alike. `length` is null while the end is not known. Good until the next call.
 */
export function storedHead(
  stored: Described,
  answer: Answer,
  length: number | null,
  nowMs: number,
  browser: BrowserTtl,
): { readonly buffer: Buffer; readonly head: Head } {
  const buffer =
    answer.kind === "whole" && length !== null
      ? wholeHead(stored, length, nowMs, browser)
      : Buffer.from(headText(stored, answer, length, nowMs, browser), "latin1");
  if (parseResponseHead(buffer, 0, buffer.length, head) !== 0) throw new Error("a stored head cannot be read");
  return { buffer, head };
}

/** The usual one is written once in a second. */
function wholeHead(stored: Described, length: number, nowMs: number, browser: BrowserTtl): Buffer {
  const { memo } = stored;
  const second = Math.floor(nowMs / 1000);
  if (memo.second !== second || memo.mode !== browser.mode || memo.seconds !== browser.seconds) {
    memo.second = second;
    memo.mode = browser.mode;
    memo.seconds = browser.seconds;
    const text = headText(stored, { kind: "whole" }, length, nowMs, browser);
    // In memory of its own: a piece of Node.js's pool would keep 8 KiB of that for as long as the response is there.
    memo.head = Buffer.allocUnsafeSlow(text.length);
    memo.head.write(text, "latin1");
  }
  return memo.head;
}

function headText(stored: Described, answer: Answer, length: number | null, nowMs: number, browser: BrowserTtl): string {
  const age = ageAt(stored.freshness, nowMs);
  const fields = withBrowserTtl(stored.status, stored.fields, browser);
  const [status, kept, framing] = shape(stored, fields, answer, length);
  return `HTTP/1.1 ${status}\r\n${fieldLines(kept)}${framing}Age: ${age}\r\n\r\n`;
}

/** Status line, fields, and what is said of the length. */
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
