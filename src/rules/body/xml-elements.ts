import { charge } from "#rules/budget.ts";
import { ARGUMENT_STEPS, type Findings, plainArgument } from "./body-reading.ts";

/** Adds the text of each element of an XML document to the arguments, in the order of the document. */
export interface Elements {
  /** With references decoded. Texts between two tags are one. */
  addText(text: string): void;
  /** A tag or document type from `start` to `end`, which is beyond the text if it does not end. */
  addTag(text: string, start: number, end: number): void;
  /**
   * Whether an element contains text and other elements, of which programs read different parts, or the tags do not fit. To be called
   * at the end of the document.
   */
  isMixed(): boolean;
}

const HAS_TEXT = 1;
const HAS_ELEMENT = 2;
const MIXED = HAS_TEXT | HAS_ELEMENT;

export function createElements({ args }: Findings): Elements {
  /** The names of the open elements, outermost first, and their kinds of content; the first is the document's. */
  const names = [""];
  const contents = [0];
  let text = "";
  let isMixed = false;
  const contains = (content: number): void => {
    const all = contents.at(-1)! | content;
    contents[contents.length - 1] = all;
    // Nothing but its outermost element belongs to a document.
    if (all === MIXED || (contents.length === 1 && content === HAS_TEXT)) isMixed = true;
  };
  const endText = (): void => {
    if (text === "") return;
    const trimmed = text.trim();
    // Layout is on both sides.
    const value = isBlank(text[0]) && isBlank(text.at(-1)) ? trimmed : text;
    text = "";
    if (trimmed === "") return;
    charge(ARGUMENT_STEPS);
    args.push(plainArgument("element", names.at(-1)!, value));
    contains(HAS_TEXT);
  };
  return {
    addText: (piece) => {
      text += piece;
    },
    addTag: (document, start, end) => {
      if (document[start + 1] === "!") return;
      endText();
      const isEnd = document[start + 1] === "/";
      const name = nameAt(document, start + (isEnd ? 2 : 1));
      if (isEnd) {
        if (names.length === 1 || names.pop() !== name) isMixed = true;
        if (contents.length > 1) contents.pop();
        return;
      }
      contains(HAS_ELEMENT);
      if (document[end - 2] === "/") return;
      names.push(name);
      contents.push(0);
    },
    isMixed: () => {
      endText();
      return isMixed || names.length > 1;
    },
  };
}

const isBlank = (char: string | undefined): boolean => char === undefined || char <= " ";

const NAME_BYTES_MAX = 128;

function nameAt(document: string, start: number): string {
  let end = start;
  while (end - start < NAME_BYTES_MAX && !isBlank(document[end]) && document[end] !== "/" && document[end] !== ">") end++;
  return document.slice(start, end);
}
