import { charge } from "#rules/budget.ts";
import { ACTIVE_ATTRIBUTES, ACTIVE_ELEMENTS, ACTIVE_SCHEME, ADDRESS_ATTRIBUTES, EVENT_NAME } from "./markup-names.ts";

const TEXT_BYTES_MAX = 65_536;
const BYTE_STEPS = 10;
/** Longer than any name of an element that does something. */
const NAME_BYTES_MAX = 64;

/** A text without any of these runs nothing. */
export const MARKUP_PARTS: readonly string[] = ["<", "=", "`"];

/**
 * Whether a text, put into a page, would run something there: read as content, and as the value of an attribute in each kind of quotes and
 * without, as browsers read it (HTML Living Standard §13.2.5).
 */
export function detectMarkup(given: string): boolean {
  if (!/[<=`]/.test(given)) return false;
  const text = given.length > TEXT_BYTES_MAX ? given.slice(0, TEXT_BYTES_MAX) : given;
  charge(text.length * BYTE_STEPS);
  if (isActiveContent(text, 0)) return true;
  if (!text.includes("=")) return false;
  return ["'", '"', "`"].some((quote) => text.includes(quote) && leavesAttribute(text, text.indexOf(quote) + 1)) || leavesUnquoted(text);
}

/** Whether markup follows the quote that ends a value: attributes, or content after the end of the tag. */
const leavesAttribute = (text: string, from: number): boolean => new Attributes(text, from, undefined).isActive();

/** A value without quotes ends at a space or at the end of the tag. */
function leavesUnquoted(text: string): boolean {
  const end = text.search(/[\t\n\f\r />]/);
  return end !== -1 && new Attributes(text, end, undefined).isActive();
}

function isActiveContent(text: string, start: number): boolean {
  const tags: Tags = { seen: new Set(), from: 0, end: 0 };
  let end = 0;
  for (let at = text.indexOf("<", start); at !== -1; at = text.indexOf("<", at + 1)) {
    const next = text[at + 1] ?? "";
    if (next === "!" || next === "?") {
      if (isActiveDeclaration(text.slice(at + 1, at + 200))) return true;
      continue;
    }
    const from = next === "/" ? at + 2 : at + 1;
    if (!isLetter(text.charCodeAt(from))) continue;
    // A name that contains the next tag ends where that tag's name ends.
    if (from > end) end = endOfName(text, from);
    const name = text
      .slice(from, Math.min(end, from + NAME_BYTES_MAX))
      .replaceAll("\0", "")
      .toLowerCase();
    // An end tag does nothing, whatever its name; no attribute follows it.
    if (next === "/") continue;
    if (ACTIVE_ELEMENTS.has(name.slice(name.indexOf(":") + 1)) || /^(?:svg|xsl)/.test(name)) return true;
    if (new Attributes(text, end, tags).isActive()) return true;
  }
  return false;
}

/** Documents that declare entities, processing instructions that import, and comments that some browsers run. */
function isActiveDeclaration(text: string): boolean {
  return /^!(?:doctype|entity|element|attlist|\[cdata\[)|^\?(?:import|xml|xsl)|^!--[^>]{0,100}(?:`|\[if\b)/i.test(text);
}

/** Results for a text's earlier tags, so that nested tags are read once. */
interface Tags {
  /** Starts of attributes after which no handler was found. */
  readonly seen: Set<number>;
  /** The last unquoted value: one that begins inside it has the same end. */
  from: number;
  end: number;
}

/** The attributes of a tag, from a position inside it to its end. */
class Attributes {
  readonly #text: string;
  readonly #isInTag: boolean;
  readonly #tags: Tags | undefined;
  #at: number;

  /** With `tags` the text certainly has a tag, so every handler counts, and not only those that browsers know. */
  constructor(text: string, at: number, tags: Tags | undefined) {
    this.#text = text;
    this.#at = at;
    this.#isInTag = tags !== undefined;
    this.#tags = tags;
  }

  isActive(): boolean {
    const text = this.#text;
    while (this.#at < text.length) {
      const char = text[this.#at]!;
      if (isSeparator(text.charCodeAt(this.#at))) this.#at++;
      else if (char === ">") return false;
      else if ((char === "<" && !this.#isInTag) || this.#tags?.seen.has(this.#at)) return false;
      else if ((this.#tags?.seen.add(this.#at), this.#isActiveAttribute())) return true;
    }
    return false;
  }

  #isActiveAttribute(): boolean {
    const text = this.#text;
    const from = this.#at++;
    while (this.#at < text.length && !isNameEnd(text.charCodeAt(this.#at))) this.#at++;
    const name = text.slice(from, this.#at).replaceAll("\0", "").toLowerCase();
    let at = this.#at;
    while (isSpace(text.charCodeAt(at))) at++;
    if (text[at] !== "=") return false;
    at++;
    while (isSpace(text.charCodeAt(at))) at++;
    return this.#isActive(name, this.#value(at));
  }

  #value(from: number): string {
    const text = this.#text;
    const quote = text[from];
    if (quote === '"' || quote === "'" || quote === "`") {
      const end = text.indexOf(quote, from + 1);
      this.#at = end === -1 ? text.length : end + 1;
      return text.slice(from + 1, end === -1 ? undefined : end);
    }
    const tags = this.#tags;
    let end = from;
    if (tags && from > tags.from && from < tags.end) end = tags.end;
    while (end < text.length && text[end] !== ">" && !isSpace(text.charCodeAt(end))) end++;
    if (tags) [tags.from, tags.end] = [from, end];
    this.#at = end;
    return text.slice(from, end);
  }

  #isActive(name: string, value: string): boolean {
    if (EVENT_NAME.test(name) || (this.#isInTag && /^on[a-z]{3,40}$/.test(name))) return true;
    if (!this.#isInTag)
      return (name === "style" && /expression|url\(|import|behavio|-moz-binding/i.test(value)) || isActiveAddress(name, value);
    return ACTIVE_ATTRIBUTES.has(name) || name.startsWith("xmlns:") || isActiveAddress(name, value);
  }
}

/** Browsers leave out control characters and white space in schemes. */
const isActiveAddress = (name: string, value: string): boolean =>
  ADDRESS_ATTRIBUTES.has(name) &&
  ACTIVE_SCHEME.test(
    decoded(value.slice(0, 400))
      .replace(/[\0-\x20\x7f-\xa0]+/g, "")
      .toLowerCase(),
  );

const NAMED: Readonly<Record<string, string>> = { colon: ":", tab: "\t", newline: "\n", lpar: "(", sol: "/" };

/** With its character references. */
const decoded = (value: string): string =>
  value.replace(/&(?:#x0*([0-9a-f]{1,6})|#0*([0-9]{1,7})|([a-z]{3,7}));?/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
    return String.fromCharCode((hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)) & 0xffff);
  });

const isLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0;
const isSeparator = (code: number): boolean => isSpace(code) || code === 0x2f || code === 0x22 || code === 0x27 || code === 0x60;
/** Ends of an attribute's name. */
const isNameEnd = (code: number): boolean => isSpace(code) || code === 0x3d || code === 0x3e || code === 0x2f;

/** End of an element's name. Old browsers ignore a null byte in a name. */
function endOfName(text: string, from: number): number {
  let end = from;
  while (end < text.length && text[end] !== ">" && text[end] !== "/" && (text[end] === "\0" || !isSpace(text.charCodeAt(end)))) end++;
  return end;
}
