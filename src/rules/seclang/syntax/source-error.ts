/** A position in a file of rules; line and column start at 1. */
export interface SourcePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A mistake in a file of rules. Its message names the position, the mistake and the remedy. */
export class SecLangError extends Error {
  readonly place: SourcePosition;
  /** The message without the position. */
  readonly problem: string;

  constructor(place: SourcePosition, problem: string) {
    super(`${place.file}:${place.line}:${place.column}: ${problem}`);
    this.name = "SecLangError";
    this.place = place;
    this.problem = problem;
  }
}

/** A part of a line with known positions in the file: errors inside it point at their character. */
export interface Text {
  readonly text: string;
  /** The position of the character at an offset of `text`. */
  at(offset: number): SourcePosition;
}

/** A part of a text. */
export const slice = (whole: Text, from: number, to = whole.text.length): Text => ({
  text: whole.text.slice(from, to),
  at: (offset) => whole.at(from + offset),
});

/** Without the spaces around it. */
export function trimmed(whole: Text): Text {
  const from = whole.text.length - whole.text.trimStart().length;
  return slice(whole, from, Math.max(from, whole.text.trimEnd().length));
}

/** Throws an error at an offset of a text. */
export function refuse(text: Text, problem: string, offset = 0): never {
  throw new SecLangError(text.at(offset), problem);
}
