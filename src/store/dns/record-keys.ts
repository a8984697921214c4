import { reversed } from "#store/queries/reversed.ts";
import type { RecordKeys, DnsRecordRow } from "./record-row.ts";

/** One tag as filters compare it: `name:value`, with the colon even without a value. */
export interface TagKeys {
  readonly tag_key: string;
  /** The name, then the value reversed: a filter on the end of a value names the tag. */
  readonly tag_reversed: string;
  readonly name: string;
  /** 1 if the record has several tags of this name, so that a count includes the record once. */
  readonly repeated: number;
}

/** Characters of a long text in an index: an index row has less room than content. */
export const KEY_LENGTH_MAX = 64;

export function recordKeys(row: Pick<DnsRecordRow, "name" | "content_key" | "comment" | "tags">): RecordKeys {
  const comment = row.comment === null ? null : folded(row.comment);
  return {
    name_reversed: reversed(row.name),
    content_head: keyHead(row.content_key),
    content_reversed: keyTail(row.content_key),
    comment_key: comment,
    comment_head: comment === null ? null : keyHead(comment),
    comment_reversed: comment === null ? null : keyTail(comment),
    commented: comment === null ? 0 : 1,
    tagged: row.tags === "[]" ? 0 : 1,
  };
}

/** A row's distinct tags; a filter does not distinguish case. */
export function tagKeys(tags: string): readonly TagKeys[] {
  if (tags === "[]") return [];
  const keys = new Map<string, ReturnType<typeof splitTag>>();
  const names = new Map<string, number>();
  for (const tag of JSON.parse(tags) as string[]) {
    const { name, value } = splitTag(tag);
    if (keys.has(`${name}:${value}`)) continue;
    keys.set(`${name}:${value}`, { name, value });
    names.set(name, (names.get(name) ?? 0) + 1);
  }
  return [...keys].map(([tag_key, { name, value }]) => ({
    tag_key,
    tag_reversed: `${name}:${reversed(value)}`,
    name,
    repeated: names.get(name) === 1 ? 0 : 1,
  }));
}

/** Splits and folds `name` or `name:value`; without a value it is empty. */
export function splitTag(tag: string): { readonly name: string; readonly value: string } {
  const text = folded(tag);
  const colon = text.indexOf(":");
  return colon < 0 ? { name: text, value: "" } : { name: text.slice(0, colon), value: text.slice(colon + 1) };
}

/** Filters ignore case. Lone surrogates are stored as U+FFFD, so they are compared as that. */
export const folded = (text: string): string => text.toWellFormed().toLowerCase();

/** The first characters by code point, as `substr` counts them. */
export function keyHead(text: string): string {
  return text.length <= KEY_LENGTH_MAX ? text : [...text].slice(0, KEY_LENGTH_MAX).join("");
}

/** The last characters, reversed. */
export function keyTail(text: string): string {
  return text.length <= KEY_LENGTH_MAX ? reversed(text) : [...text.toWellFormed()].slice(-KEY_LENGTH_MAX).toReversed().join("");
}

/** The least text greater than every text with this prefix, by code point; null if none exists. */
export function afterPrefix(prefix: string): string | null {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = (last.codePointAt(0) ?? 0) + 1;
    // Surrogates are not characters, and the last code point has no successor.
    if (point <= 0x10ffff) return points.join("") + String.fromCodePoint(point === 0xd800 ? 0xe000 : point);
  }
  return null;
}
