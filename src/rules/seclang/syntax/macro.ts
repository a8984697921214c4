import { refuse, type Text } from "./source-error.ts";

/** Text with `%{tx.name}` in it, read once. */
export type Macro = string | readonly MacroPart[];

/** Literal text, or a variable: a collection in upper case, and a name in lower case. */
export type MacroPart = string | { readonly collection: string; readonly name: string };

const PARTS_MAX = 64;

/** Whether there is a variable in a text. */
export const hasVariables = (text: string): boolean => /%\{[A-Za-z_]/.test(text);

export function readMacro(source: Text): Macro {
  const { text } = source;
  if (!text.includes("%{")) return text;
  const parts: MacroPart[] = [];
  let at = 0;
  for (let from = text.indexOf("%{"); from !== -1; from = text.indexOf("%{", at)) {
    const end = text.indexOf("}", from);
    if (end === -1) refuse(source, "%{ is never closed", from);
    if (parts.length >= PARTS_MAX) refuse(source, "too many variables in one text", from);
    if (from > at) parts.push(text.slice(at, from));
    parts.push(readVariable(text.slice(from + 2, end)));
    at = end + 1;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

function readVariable(text: string): MacroPart {
  const dot = text.search(/[.:]/);
  const collection = (dot === -1 ? text : text.slice(0, dot)).trim().toUpperCase();
  return {
    collection,
    name:
      dot === -1
        ? ""
        : text
            .slice(dot + 1)
            .trim()
            .toLowerCase(),
  };
}
