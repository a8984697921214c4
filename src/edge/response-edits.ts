import { spells } from "#wire/http/bytes.ts";
import type { Head } from "#wire/http/head.ts";

export type Field = readonly [name: string, value: string];

/** What settings and rules make of a response's head, whoever wrote it: an origin, the cache or the edge itself. */
export interface ResponseEdits {
  /** Lower-case names of fields that are left out. */
  readonly drop: string[];
  /** Fields that are added after those that were kept. Values hold one character a byte. */
  readonly add: Field[];
}

/** One field of a head, as a rule changes it: `set` replaces what there is, `add` stands beside it. */
export interface FieldChange {
  readonly name: string;
  readonly operation: "set" | "add" | "remove";
  readonly value: string;
}

/** Takes a change up; the last one to set or remove a field has its way. */
export function changeField(edits: ResponseEdits, { name, operation, value }: FieldChange): void {
  const lower = name.toLowerCase();
  if (operation !== "add") {
    if (!edits.drop.includes(lower)) edits.drop.push(lower);
    for (let index = edits.add.length - 1; index >= 0; index--)
      if (edits.add[index]?.[0].toLowerCase() === lower) edits.add.splice(index, 1);
  }
  if (operation !== "remove") edits.add.push([name, value]);
}

/** The edits of an exchange's response, made when first needed. */
export const editResponse = (exchange: { responseEdits: ResponseEdits | null }): ResponseEdits =>
  (exchange.responseEdits ??= { drop: [], add: [] });

/** Anything else would end the line, or not be a field at all (RFC 9110 §5.5). */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Marks the fields of a head that the edits leave out. */
export function dropEdited(buffer: Buffer, head: Head, edits: ResponseEdits): void {
  if (edits.drop.length === 0) return;
  for (let index = 0; index < head.fieldCount; index++)
    if (head.dropped[index] === 0 && edits.drop.includes(head.name(buffer, index).toLowerCase())) head.dropped[index] = 1;
}

/** The values of a field as it will be shown, by its lower-case name. */
export function shownValues(buffer: Buffer, head: Head, edits: ResponseEdits | null, name: string): readonly string[] {
  let values: string[] | null = null;
  if (edits === null || !edits.drop.includes(name)) {
    for (let index = 0; index < head.fieldCount; index++) {
      const start = head.offsets[index * 4]!;
      if (head.dropped[index] !== 0 || head.offsets[index * 4 + 1]! - start !== name.length || !spells(buffer, start, name)) continue;
      (values ??= []).push(head.value(buffer, index));
    }
  }
  for (const [added, value] of edits?.add ?? NO_FIELDS)
    if (added.length === name.length && added.toLowerCase() === name) (values ??= []).push(value);
  return values ?? NO_VALUES;
}

const NO_FIELDS: readonly Field[] = [];
const NO_VALUES: readonly string[] = [];

/** The fields that edits add, less what could not be written. */
export const addedFields = (edits: ResponseEdits): readonly Field[] =>
  edits.add.filter(([name, value]) => NAME.test(name) && VALUE.test(value));
