import { trimBlanks } from "#kernel/trim.ts";
import type { HeaderFields } from "#rules/views.ts";

/** The fields of lines that the parser has accepted, by lower-case name. */
export function parseLines(lines: string): ReadonlyMap<string, readonly string[]> {
  const fields = new Map<string, string[]>();
  const { names, values } = listLines(lines);
  for (const [i, written] of names.entries()) {
    const name = written.toLowerCase();
    const value = values[i] ?? "";
    const known = fields.get(name);
    if (known === undefined) fields.set(name, [value]);
    else known.push(value);
  }
  return fields;
}

/** The fields in order of receipt, with names as written. */
export function listLines(lines: string): HeaderFields {
  const names: string[] = [];
  const values: string[] = [];
  for (const line of lines === "" ? [] : lines.split("\r\n")) {
    const colon = line.indexOf(":");
    names.push(line.slice(0, colon));
    values.push(trimBlanks(line.slice(colon + 1)));
  }
  return { names, values };
}

/** The lines after edits: without dropped fields, and with added ones at the end. */
export function editedLines(
  lines: string,
  edits: { readonly drop: readonly string[]; readonly add: readonly { readonly name: string; readonly value: string }[] },
): string {
  const kept = lines.split("\r\n").filter((line) => !edits.drop.includes(line.slice(0, line.indexOf(":")).toLowerCase()));
  return [...kept, ...edits.add.map(({ name, value }) => `${name}: ${value}`)].filter((line) => line !== "").join("\r\n");
}
