import { refuse, slice, type Text } from "./source-error.ts";

const WORDS_MAX = 64;

/**
 * The words of a directive. As in Apache, `\"` is a quote and `\\` a backslash; every other backslash is literal. Only
 * the class `[\\/]` keeps both, because its author means two kinds of slash (ADR 0224).
 */
export function readWords(line: Text): readonly Text[] {
  const words: Text[] = [];
  const { text } = line;
  for (let at = 0; at < text.length;) {
    const char = text[at]!;
    if (char === " " || char === "\t") at++;
    else if (words.length === WORDS_MAX) refuse(line, "a directive has too many words", at);
    else if (char === '"' || char === "'") {
      const end = closingQuote(line, at);
      words.push(unescaped(slice(line, at + 1, end), char));
      at = end + 1;
    } else {
      let end = at;
      while (end < text.length && text[end] !== " " && text[end] !== "\t") end++;
      words.push(slice(line, at, end));
      at = end;
    }
  }
  return words;
}

function closingQuote(line: Text, from: number): number {
  const { text } = line;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === text[from]) return at;
  }
  return refuse(line, `the quote ${text[from]} is never closed; a line that goes on ends in a backslash`, from);
}

/** Positions still refer to the file, where an escaped character has two. */
function unescaped(word: Text, quote: string): Text {
  const written = word.text;
  const left: number[] = [];
  let text = "";
  let from = 0;
  for (let at = written.indexOf("\\"); at !== -1; at = written.indexOf("\\", at)) {
    const next = written[at + 1];
    if (written[at - 1] === "[" && written.startsWith("\\\\/", at)) at += 2;
    else if (next === quote || next === "\\") {
      text += written.slice(from, at);
      left.push(text.length);
      from = at + 1;
      at += 2;
    } else at++;
  }
  if (left.length === 0) return word;
  text += written.slice(from);
  return { text, at: (offset) => word.at(offset + left.filter((place) => place <= offset).length) };
}
