import { spells } from "#wire/http/bytes.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { type FieldChange, fieldChange } from "#rules/actions/field-change.ts";

export type Field = readonly [name: string, value: string];

/** Changes that settings and rules make to a head, whether it comes from a visitor, an origin, the cache or the edge. */
export interface ResponseEdits {
  /** Lower-case names of fields that are removed. */
  readonly drop: string[];
  /** Fields that are added after those that are kept; each is valid. */
  readonly add: FieldChange[];
}

/** Adds a change. The last one to set or remove a field wins. A field that is not valid is only removed. */
export function changeField(edits: ResponseEdits, change: FieldChange): void {
  const { lower } = change;
  const { drop, add } = edits;
  if (change.operation !== "add") {
    if (!drop.includes(lower)) drop.push(lower);
    for (let index = add.length - 1; index >= 0; index--) if (add[index]!.lower === lower) add.splice(index, 1);
  }
  if (change.line !== "") add.push(change);
}

/** Adds a field beside others of that name. */
export const addField = (edits: ResponseEdits, name: string, value: string): void => changeField(edits, fieldChange(name, "add", value));

/** Replaces all fields of that name. */
export const setField = (edits: ResponseEdits, name: string, value: string): void => changeField(edits, fieldChange(name, "set", value));

/** The edits of an exchange's response, created when first needed. */
export const editResponse = (exchange: { responseEdits: ResponseEdits | null }): ResponseEdits =>
  (exchange.responseEdits ??= { drop: [], add: [] });

/** True if the edits change or remove the field of this lower-case name. */
export const touches = ({ drop, add }: ResponseEdits, name: string): boolean =>
  drop.includes(name) || add.some(({ lower }) => lower === name);

/** The added lines, each with its CRLF. */
export function addedLines({ add }: ResponseEdits): string {
  let lines = "";
  for (const { line } of add) lines += line;
  return lines;
}

/** Marks the fields of a head that the edits remove. */
export function dropEdited(buffer: Buffer, head: Head, { drop }: ResponseEdits): void {
  if (drop.length === 0) return;
  const { offsets, dropped } = head;
  for (let index = 0; index < head.fieldCount; index++) {
    if (dropped[index] !== 0) continue;
    const start = offsets[index * 4]!;
    const length = offsets[index * 4 + 1]! - start;
    for (const name of drop) {
      if (name.length === length && isSameName(buffer, start, name)) {
        dropped[index] = 1;
        break;
      }
    }
  }
}

/** Customers' names may have any character of a token, so setting the case bit of every byte would be wrong. */
function isSameName(buffer: Buffer, start: number, lower: string): boolean {
  for (let i = 0; i < lower.length; i++) {
    const byte = buffer[start + i]!;
    if ((byte >= UPPER_A && byte <= UPPER_Z ? byte | CASE_BIT : byte) !== lower.charCodeAt(i)) return false;
  }
  return true;
}

const UPPER_A = 0x41;
const UPPER_Z = 0x5a;
const CASE_BIT = 0x20;

/** The values of a field after the edits, by its lower-case name. */
export function editedValues(buffer: Buffer, head: Head, edits: ResponseEdits | null, name: string): readonly string[] {
  let values: string[] | null = null;
  if (edits === null || !edits.drop.includes(name)) {
    for (let index = 0; index < head.fieldCount; index++) {
      const start = head.offsets[index * 4]!;
      if (head.dropped[index] !== 0 || head.offsets[index * 4 + 1]! - start !== name.length || !spells(buffer, start, name)) continue;
      (values ??= []).push(head.value(buffer, index));
    }
  }
  if (edits !== null) for (const { lower, value } of edits.add) if (lower === name) (values ??= []).push(value);
  return values ?? NO_VALUES;
}

const NO_VALUES: readonly string[] = [];
