import type { MaskTexts } from "./mask-texts.ts";

/** Start of a name in the JSON of an event's matches. */
const NAME = '"name":"';

/**
 * Masks the names of arguments, header fields and cookies in the JSON of events' matches: visitors choose them, and may
 * have put a value in place of a name. Returns the same texts without findings.
 */
export const inMatchNames =
  (mask: MaskTexts): MaskTexts =>
  (texts) => {
    const named = texts.flatMap((text, index) => (text.includes(NAME) ? [index] : []));
    const parsed = named.map((index) => JSON.parse(texts[index]!) as readonly { readonly name?: string }[]);
    const names = parsed.flatMap((matches) => matches.flatMap(({ name }) => name ?? []));
    const masked = mask(names, "");
    if (masked === names) return texts;
    let next = 0;
    const changed = new Map(
      parsed.map((matches, i) => {
        const row = matches.map((match) => (match.name === undefined ? match : { ...match, name: masked[next++]! }));
        return [named[i]!, JSON.stringify(row)] as const;
      }),
    );
    return texts.map((text, index) => changed.get(index) ?? text);
  };

/** Whether a name in one of the texts is long enough to contain a finding. */
export function hasLongName(text: string, charsMin: number): boolean {
  for (let at = text.indexOf(NAME); at !== -1; at = text.indexOf(NAME, at + NAME.length)) {
    const start = at + NAME.length;
    const end = text.indexOf('"', start);
    // An escaped quotation mark is not the end, and the exact length of such a name hardly matters.
    if (end - start >= charsMin || text[end - 1] === "\\") return true;
  }
  return false;
}
