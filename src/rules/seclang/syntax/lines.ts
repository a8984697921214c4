import { type SourcePosition, SecLangError, type Text } from "./source-error.ts";

/** Files, lines and directives are bounded: a directory of rules is input like any other. */
const FILE_BYTES_MAX = 8 << 20;
const LINE_BYTES_MAX = 1 << 20;

/**
 * The lines of a file that contain a directive. A line that ends in a backslash continues in the next one, whose
 * leading white space is removed, as in ModSecurity.
 */
export function* directiveLines(file: string, content: string): Generator<Text> {
  if (content.length > FILE_BYTES_MAX)
    throw new SecLangError({ file, line: 1, column: 1 }, `the file is larger than ${FILE_BYTES_MAX >> 20} MiB`);
  let joined = new JoinedLine(file);
  let line = 0;
  for (let at = 0; at <= content.length;) {
    line++;
    const found = content.indexOf("\n", at);
    const end = found === -1 ? content.length : found;
    const raw = content.slice(at, content[end - 1] === "\r" && end > at ? end - 1 : end);
    at = end + 1;
    const bare = raw.trimStart();
    if (joined.isEmpty() && (bare === "" || bare.startsWith("#"))) continue;
    const goesOn = raw.endsWith("\\");
    joined.add(goesOn ? bare.slice(0, -1) : bare, line, raw.length - bare.length + 1);
    if (joined.length() > LINE_BYTES_MAX) throw new SecLangError({ file, line, column: 1 }, "the directive is too long");
    if (goesOn) continue;
    yield joined;
    joined = new JoinedLine(file);
  }
  if (!joined.isEmpty()) yield joined;
}

/** Several lines as one, which remembers the position of each part. */
class JoinedLine implements Text {
  readonly #file: string;
  readonly #pieces: { readonly from: number; readonly line: number; readonly column: number }[] = [];
  text = "";

  constructor(file: string) {
    this.#file = file;
  }

  isEmpty = (): boolean => this.#pieces.length === 0;
  length = (): number => this.text.length;

  add(piece: string, line: number, column: number): void {
    this.#pieces.push({ from: this.text.length, line, column });
    this.text += piece;
  }

  at(offset: number): SourcePosition {
    const piece = this.#pieces.findLast(({ from }) => from <= offset) ?? { from: 0, line: 1, column: 1 };
    return { file: this.#file, line: piece.line, column: piece.column + offset - piece.from };
  }
}
