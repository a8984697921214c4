import { listAt } from "#kernel/lists.ts";
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/schema";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { PlatformErrors } from "./failure.ts";
import { typeName, violation } from "#kernel/errors/violations.ts";

/**
 * Throws PlatformErrors, each with the place in the body, if the value is invalid. Unknown members are tolerated
 * (contract.md §3).
 */
export type Check = (value: unknown) => void;

export function compileCheck(schema: TSchema, what: "body" | "query", name: ErrorName = "invalid_input"): Check {
  let compiled: Validator | undefined;
  return (value) => {
    // Most routes are never called in the life of a process, and compiling all of them takes longer than the rest of its
    // start.
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return;
    if (what === "body" && value === undefined) throw new PlatformError(name, { message: "The request needs a JSON body.", source: "" });
    throw new PlatformErrors(describe(findingsIn(compiled, value), name));
  };
}

/**
 * A validator continues to the end of a list after it has found all its findings, so the beginning of a long one is tried
 * first.
 */
function findingsIn(validator: Validator, value: unknown): readonly Finding[] {
  for (const itemsMax of BEGINNINGS) {
    const [, findings] = validator.Errors(beginningOf(value, itemsMax));
    if (findings.length > 0) return findings;
  }
  return validator.Errors(value)[1];
}

/** The longer one also shows that a list has more items than most may have. */
const BEGINNINGS = [100, 5_000] as const;

function beginningOf(value: unknown, itemsMax: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.slice(0, itemsMax).map((item) => beginningOf(item, itemsMax));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, beginningOf(member, itemsMax)]));
}

/** The used part of a validator's finding. */
interface Finding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

const ITEMS_MAX = 8;

function describe(findings: readonly Finding[], name: ErrorName): readonly PlatformError[] {
  const byPlace = new Map<string, Finding[]>();
  for (const finding of findings) {
    for (const place of places(finding)) listAt(byPlace, place).push(finding);
  }
  const around = new Set([...byPlace.keys()].flatMap(placesAround));
  return [...byPlace]
    .filter(([place, found]) => !around.has(place) || found.some(({ keyword }) => !ALTERNATIVE.has(keyword)))
    .slice(0, ITEMS_MAX)
    .map(([place, found]) => new PlatformError(name, { message: `${label(place)} ${sentence(found)}.`, source: place }));
}

/** If something inside is wrong, the value has the type of one alternative: errors of other alternatives do not help. */
const placesAround = (place: string): readonly string[] =>
  place
    .split("/")
    .map((_, index, parts) => parts.slice(0, index).join("/"))
    .slice(1);

const ALTERNATIVE: ReadonlySet<string> = new Set(["type", "const", "enum", "anyOf"]);

/** A missing member is reported at its expected place. */
function places(finding: Finding): readonly string[] {
  const missing = "requiredProperties" in finding.params ? finding.params.requiredProperties : undefined;
  return Array.isArray(missing) ? missing.map((name) => `${finding.instancePath}/${String(name)}`) : [finding.instancePath];
}

const label = (place: string): string => (place === "" ? "The body" : `"${place.slice(1).replaceAll("/", ".")}"`);

/** Alternatives each report their expected value; together they become one sentence. */
function sentence(found: readonly Finding[]): string {
  const alternatives = found.flatMap(({ keyword, params }) => {
    if (keyword === "type" && "type" in params) return [params.type].flat().map(typeName);
    if (keyword === "const" && "allowedValue" in params) return [JSON.stringify(params.allowedValue)];
    if (keyword === "enum" && "allowedValues" in params && Array.isArray(params.allowedValues))
      return params.allowedValues.map((value) => JSON.stringify(value));
    return [];
  });
  const other = found.find(({ keyword }) => !ALTERNATIVE.has(keyword));
  if (other) return violation(other);
  const [first, ...rest] = [...new Set(alternatives)];
  return first === undefined ? "is not valid" : `must be ${[first, ...rest].join(" or ")}`;
}

/** Members that a schema does not name are left out of the value; `dropped` has their places. */
export interface KnownPart {
  readonly value: unknown;
  readonly dropped: readonly string[];
}

type Members = Readonly<Record<string, TSchema>>;

/**
 * `value` must fit the schema. `kept`: ends of names that stay although the schema of the body does not have them. Alternatives and
 * objects with any members stay as they are.
 */
export function knownPart(schema: TSchema, value: unknown, kept: readonly string[] = []): KnownPart {
  const dropped: string[] = [];
  const walk = (part: TSchema, given: unknown, place: string): unknown => {
    const { properties, items, additionalProperties } = part as { properties?: Members; items?: TSchema; additionalProperties?: unknown };
    if (Array.isArray(given)) return items === undefined ? given : given.map((item, at) => walk(items, item, `${place}${at}.`));
    if (properties === undefined || additionalProperties !== undefined || typeof given !== "object" || given === null) return given;
    const known: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(given)) {
      if (Object.hasOwn(properties, name)) known[name] = walk(properties[name]!, member, `${place}${name}.`);
      else if (place === "" && kept.some((end) => name.endsWith(end))) known[name] = member;
      else dropped.push(`${place}${name}`);
    }
    return known;
  };
  return { value: walk(schema, value, ""), dropped };
}

const NAMED_MAX = 8;
const NAME_CHARACTERS_MAX = 100;

/** A sentence for the response about members that were dropped; null without any. */
export function droppedNote(dropped: readonly string[]): string | null {
  if (dropped.length === 0) return null;
  const names = dropped.slice(0, NAMED_MAX).map((name) => JSON.stringify(name.slice(0, NAME_CHARACTERS_MAX)));
  const more = dropped.length > NAMED_MAX ? `, and ${dropped.length - NAMED_MAX} more` : "";
  return `Members of the body without a meaning here were dropped: ${names.join(", ")}${more}.`;
}
