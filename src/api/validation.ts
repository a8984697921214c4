import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/schema";
import type { ErrorName } from "#kernel/error-codes.ts";
import { PlatformError } from "#kernel/errors.ts";
import { PlatformErrors } from "./failure.ts";

/** Throws PlatformErrors, each with the place in the body, where the value does not fit. Unknown members are tolerated (contract.md §3). */
export type Check = (value: unknown) => void;

export function compileCheck(schema: TSchema, what: "body" | "query", name: ErrorName = "invalid_input"): Check {
  let compiled: Validator | undefined;
  return (value) => {
    // Most routes are never called in the life of a process, and compiling all of them takes longer than the rest of its start.
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return;
    if (what === "body" && value === undefined) throw new PlatformError(name, { message: "The request needs a JSON body.", source: "" });
    throw new PlatformErrors(describe(compiled.Errors(value)[1], name));
  };
}

/** As much of a validator's finding as this needs. */
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
    for (const place of places(finding)) byPlace.set(place, [...(byPlace.get(place) ?? []), finding]);
  }
  return [...byPlace]
    .slice(0, ITEMS_MAX)
    .map(([place, found]) => new PlatformError(name, { message: `${label(place)} ${sentence(found)}.`, source: place }));
}

/** A missing member is reported where it should have been. */
function places(finding: Finding): readonly string[] {
  const missing = "requiredProperties" in finding.params ? finding.params.requiredProperties : undefined;
  return Array.isArray(missing) ? missing.map((name) => `${finding.instancePath}/${String(name)}`) : [finding.instancePath];
}

const label = (place: string): string => (place === "" ? "The body" : `"${place.slice(1).replaceAll("/", ".")}"`);

/** Alternatives each say what they would have taken; together they are one sentence. */
function sentence(found: readonly Finding[]): string {
  const alternatives = found.flatMap(({ keyword, params }) => {
    if (keyword === "type" && "type" in params) return [String(params.type)];
    if (keyword === "const" && "allowedValue" in params) return [JSON.stringify(params.allowedValue)];
    if (keyword === "enum" && "allowedValues" in params && Array.isArray(params.allowedValues))
      return params.allowedValues.map((value) => JSON.stringify(value));
    return [];
  });
  const other = found.find(({ keyword }) => !["type", "const", "enum", "anyOf"].includes(keyword));
  if (other?.keyword === "required") return "is required";
  if (other) return other.message;
  const [first, ...rest] = [...new Set(alternatives)];
  if (first === undefined) return found[0]?.message ?? "is not valid";
  return `must be ${[first, ...rest].join(" or ")}`;
}
