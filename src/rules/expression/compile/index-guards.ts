import type { AddressRange } from "#rules/expression/values/address-set.ts";
import type { TypedNode, TypedValue } from "#rules/expression/check/typed-ast.ts";
import { lowerBytes } from "#rules/text/text-functions.ts";
import { literalParts } from "#rules/regex/wildcard.ts";

/**
 * A necessary condition of a filter: the value equals the key, is within the addresses, or contains all of the texts
 * (with `folded`, in lower case).
 */
export type Guard = { readonly value: TypedValue } & (
  | { readonly kind: "exact"; readonly key: string | number }
  | { readonly kind: "address"; readonly range: AddressRange }
  | { readonly kind: "part"; readonly texts: readonly string[]; readonly folded: boolean }
);

// A filter with more alternatives is always evaluated.
const ALTERNATIVES_MAX = 1000;

/** The shortest text that a look-up by parts finds. */
export const PART_BYTES_MIN = 3;

/** Guards, at least one of which holds if the filter matches. */
type Alternatives = readonly Guard[];

/** Several such rows, each of which is sufficient; empty if the filter has no guards. */
export function guardsOf(node: TypedNode): readonly Alternatives[] {
  if (node.many) return [];
  if (node.kind === "test") return rowOf(guardsOfTest(node));
  if (node.kind === "truth") return rowOf(guardsOfTruth(node.value));
  if (node.kind === "and") return node.operands.flatMap(guardsOf);
  if (node.kind !== "or") return [];
  const all = node.operands.map((operand) => guardsOf(operand).toSorted((a, b) => guardCost(a) - guardCost(b))[0] ?? null);
  return all.includes(null) ? [] : rowOf(limited(all.filter((guards) => guards !== null).flat()));
}

const rowOf = (guards: Alternatives | null): readonly Alternatives[] => (guards === null ? [] : [guards]);

/** Guards with the same name accept the same requests. */
export function nameOf(guard: Guard): string {
  const key =
    guard.kind === "exact" ? `${typeof guard.key} ${guard.key}` : guard.kind === "part" ? guard.texts.join("*") : addressesOf(guard.range);
  return `${guard.kind} ${guard.value.text} ${key}`;
}

const addressesOf = ({ low, high }: AddressRange): string => `${low.join(".")}-${high.join(".")}`;

/** Values that most requests of a zone share select little; few and exact alternatives select most. */
export const guardCost = (guards: Alternatives): number =>
  guards.reduce((sum, guard) => sum + (COMMON.has(guard.value.text) ? 20 : 0) + (guard.kind === "part" ? 2 : 1), 0);

const COMMON: ReadonlySet<string> = new Set(["cf.zone.name", "http.host", "http.request.method", "http.request.version", "cf.tls_version"]);

function guardsOfTest({ value, test }: TypedNode & { readonly kind: "test" }): Alternatives | null {
  if (test.kind === "string" && test.relation === "eq") return [{ kind: "exact", value, key: test.bound }];
  if (test.kind === "strings") return limited(test.items.map((key) => ({ kind: "exact", value, key })));
  if (test.kind === "integer" && test.relation === "eq" && isSmall(test.bound)) return [{ kind: "exact", value, key: Number(test.bound) }];
  if (test.kind === "integers" && test.items.every(({ first, last }) => first === last && isSmall(first)))
    return limited(test.items.map(({ first }) => ({ kind: "exact", value, key: Number(first) })));
  if (test.kind === "addresses" && !test.negated) return limited(test.items.map((range) => ({ kind: "address", value, range })));
  if (test.kind === "contains") return parts(value, [test.part], false);
  if (test.kind === "matches") return test.regex.required && parts(value, test.regex.required.texts, test.regex.required.folded);
  if (test.kind !== "wildcard") return null;
  const texts = literalParts(test.strict ? test.pattern : lowerBytes(test.pattern)).filter((part) => part.length >= PART_BYTES_MIN);
  return texts.length === 0 ? null : [{ kind: "part", value, texts, folded: !test.strict }];
}

const isSmall = (value: bigint): boolean => Number.isSafeInteger(Number(value));

const limited = (guards: Alternatives): Alternatives | null => (guards.length > ALTERNATIVES_MAX ? null : guards);

const parts = (value: TypedValue, texts: readonly string[], folded: boolean): Alternatives | null =>
  texts.every((text) => text.length >= PART_BYTES_MIN) ? texts.map((text) => ({ kind: "part", value, texts: [text], folded })) : null;

/** `starts_with(value, "…")` and `ends_with(value, "…")`. */
function guardsOfTruth(value: TypedValue): Alternatives | null {
  if (value.kind !== "call" || (value.called.name !== "starts_with" && value.called.name !== "ends_with")) return null;
  const [source, part] = value.arguments;
  if (source === undefined || part?.kind !== "literal" || typeof part.value !== "string") return null;
  return parts(source, [part.value], false);
}
