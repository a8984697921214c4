import { SEC_ACTIONS, type SecActionName } from "./action-table.ts";
import { refuse, slice, type Text, trimmed } from "./source-error.ts";

/** `msg:'text'`; the argument is empty if it is missing. */
export interface ActionRef {
  readonly name: SecActionName;
  readonly argument: Text;
  readonly source: Text;
}

const ACTIONS_MAX = 1000;

export function readActions(source: Text): readonly ActionRef[] {
  const parts = splitActions(source);
  if (parts.length > ACTIONS_MAX) refuse(source, "too many actions in one rule");
  return parts.map(readAction);
}

/** At commas outside of single quotes. */
function splitActions(source: Text): readonly Text[] {
  const { text } = source;
  const parts: Text[] = [];
  let start = 0;
  let quotedFrom = -1;
  for (let at = 0; at <= text.length; at++) {
    const char = text[at];
    if (char === "\\" && at + 1 < text.length) at++;
    else if (char === "'") quotedFrom = quotedFrom === -1 ? at : -1;
    else if (char === undefined || (char === "," && quotedFrom === -1)) {
      const part = trimmed(slice(source, start, at));
      if (part.text !== "") parts.push(part);
      start = at + 1;
    }
  }
  if (quotedFrom !== -1) refuse(source, "the quote ' is never closed", quotedFrom);
  return parts;
}

function readAction(source: Text): ActionRef {
  const colon = source.text.indexOf(":");
  const word = (colon === -1 ? source.text : source.text.slice(0, colon)).trim();
  const name = NAMES.get(word.toLowerCase());
  if (name === undefined) return refuse(source, `unknown action ${word}`);
  const argument = unquoted(trimmed(slice(source, colon === -1 ? source.text.length : colon + 1)));
  const { argument: wanted } = SEC_ACTIONS[name];
  if (wanted === "required" && argument.text === "") return refuse(source, `${name} needs an argument, as in ${name}:value`);
  if (wanted === "none" && argument.text !== "") return refuse(source, `${name} takes no argument`);
  return { name, argument, source };
}

const NAMES = new Map<string, SecActionName>((Object.keys(SEC_ACTIONS) as SecActionName[]).map((name) => [name.toLowerCase(), name]));

function unquoted(source: Text): Text {
  const { text } = source;
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) return source;
  return slice(source, 1, text.length - 1);
}
