import { PatternError } from "./pcre-node.ts";

/** A position in a pattern that is being read. */
export class PcreCursor {
  at = 0;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  hasEnded(): boolean {
    return this.at >= this.text.length;
  }

  next(): string {
    return this.text[this.at++] ?? this.fail("the pattern ends too early");
  }

  sees(char: string): boolean {
    return this.text[this.at] === char;
  }

  takes(char: string): boolean {
    const isHere = this.sees(char);
    if (isHere) this.at++;
    return isHere;
  }

  /** The match of a sticky expression at this position, which is then passed; null without one. */
  match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text);
    if (found !== null) this.at = sticky.lastIndex;
    return found;
  }

  fail(message: string, at = this.at): never {
    throw new PatternError(message, Math.min(at, this.text.length));
  }
}
