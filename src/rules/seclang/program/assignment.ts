import { readMacro } from "../syntax/macro.ts";
import { refuse, slice, type Text, trimmed } from "../syntax/source-error.ts";
import { isStore } from "../syntax/variable-table.ts";
import type { Assignment } from "./program.ts";

/** `setvar`: `tx.score=+5`, `tx.score=%{tx.critical}`, `!tx.score`, `tx.seen`. */
export function readAssignment(given: Text): Assignment {
  const isRemoved = given.text.startsWith("!");
  const source = isRemoved ? slice(given, 1) : given;
  const equals = assignedAt(source.text);
  const target = trimmed(slice(source, 0, equals === -1 ? undefined : equals));
  const dot = target.text.search(/[.:]/);
  const collection = target.text.slice(0, Math.max(0, dot)).toUpperCase();
  if (!isStore(collection)) return refuse(target, "setvar must write to a collection such as tx, as in tx.name=1");
  const name = readMacro(slice(target, dot + 1));
  if (isRemoved) return { collection, name, operation: "remove", value: "" };
  if (equals === -1) return { collection, name, operation: "set", value: "1" };
  const value = slice(source, equals + 1);
  const isSum = /^[+-](?:\d|%\{)/.test(value.text);
  if (!isSum) return { collection, name, operation: "set", value: readMacro(value) };
  return { collection, name, operation: value.text.startsWith("+") ? "add" : "subtract", value: readMacro(slice(value, 1)) };
}

/** Index of the first equals sign outside of a `%{…}`. */
function assignedAt(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "=") return at;
    if (text.startsWith("%{", at)) {
      const end = text.indexOf("}", at);
      if (end === -1) return -1;
      at = end;
    }
  }
  return -1;
}
