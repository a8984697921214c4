import { type Refusal, renderError } from "#gateway/http/errors.ts";
import type { AnswerSink } from "./response-writer.ts";

/** Answers with an error; `headers` is a flat list of names and values. */
export function sendError(answer: AnswerSink, refusal: Refusal, headers: readonly string[], close: boolean): void {
  const { status, body } = renderError(refusal);
  const bytes = Buffer.from(body);
  const all = [...headers, ...(refusal.headers ?? []), "content-type", "application/json", "content-length", String(bytes.length)];
  if (refusal.name === "aig_overloaded") all.push("retry-after", "1");
  answer.begin(status, all, close);
  answer.end(bytes);
}
