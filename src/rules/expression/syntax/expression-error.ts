/** A stretch of the expression's text, in characters from its start; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const LINE_SHOWN_CHARACTERS = 200;

/** A mistake in an expression. The message is shown to users: place, line and mark (waf.md). */
export class ExpressionError extends Error {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  readonly reason: string;

  constructor(text: string, span: Span, reason: string) {
    const lineStart = text.lastIndexOf("\n", Math.max(span.from, 0) - 1) + 1;
    const start = span.from === 0 ? 0 : lineStart;
    const line = text.slice(0, start).split("\n").length;
    const column = span.from - start + 1;
    super(`Filter parsing error (${line}:${column}):\n${marked(text, start, span)} ${reason}`);
    this.name = "ExpressionError";
    this.line = line;
    this.column = column;
    this.reason = reason;
  }
}

/** The line with carets below it; of a long line only the part around the place. */
function marked(text: string, start: number, span: Span): string {
  const newline = text.indexOf("\n", start);
  const end = newline === -1 ? text.length : newline;
  const from = Math.max(start, span.from - LINE_SHOWN_CHARACTERS / 2);
  const shown = text.slice(from, Math.min(end, from + LINE_SHOWN_CHARACTERS)).replace(/[\r\t]/g, " ");
  const carets = Math.max(1, Math.min(span.to, end, from + LINE_SHOWN_CHARACTERS) - span.from);
  return `${shown}\n${" ".repeat(span.from - from)}${"^".repeat(carets)}`;
}
