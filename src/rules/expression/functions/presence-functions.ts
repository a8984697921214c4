import { charge, ITEM_STEPS } from "#rules/budget.ts";
import type { LanguageFunction } from "./language-function.ts";
import { BOOLEAN, INTEGER, sameType, typeName, type Value, type ValueMap } from "#rules/expression/values/value-type.ts";

const everywhere = { filters: "everywhere", values: "everywhere" } as const;

/** Functions about values that may be missing. */
export const PRESENCE_FUNCTIONS: readonly LanguageFunction[] = [
  {
    name: "coalesce",
    stepsPerByte: 0,
    summary: "The first value that is not missing. All must have the same type.",
    parameters: [{ name: "value", takes: ["string", "integer", "boolean", "ip", "array"] }],
    rest: { name: "value", takes: ["string", "integer", "boolean", "ip", "array"] },
    returns: ([first = INTEGER]) => first,
    ...everywhere,
    takesMissing: true,
    agree: (types, problem) => {
      const [first = INTEGER] = types;
      const odd = types.findIndex((type) => !sameType(type, first));
      if (odd !== -1) problem(odd, `coalesce() needs values of the same type: expected ${typeName(first)}`);
    },
    make:
      () =>
      (...values) =>
        values.find((value) => value !== undefined),
  },
  {
    name: "has_key",
    stepsPerByte: 0,
    summary: "Whether the map has the name.",
    parameters: [
      { name: "map", takes: ["map"] },
      { name: "key", takes: ["string"] },
    ],
    returns: BOOLEAN,
    ...everywhere,
    make: () => (map, key) => (map as ValueMap).get(key as string) !== undefined,
  },
  {
    name: "has_value",
    stepsPerByte: 0,
    summary: "Whether one of the items of an array or map is the value.",
    parameters: [
      { name: "collection", takes: ["array", "map"] },
      { name: "value", takes: ["string", "integer", "boolean", "ip"] },
    ],
    returns: BOOLEAN,
    ...everywhere,
    agree: ([collection, value], problem) => {
      if (collection?.kind !== "array" && collection?.kind !== "map") return;
      const { of } = collection;
      if (of.kind === "array" || of.kind === "map")
        problem(0, `has_value() needs a collection of single values; select an item first, as in ["name"]`);
      if (value !== undefined && !sameType(of, value)) problem(1, `has_value() takes ${typeName(of)} here, found ${typeName(value)}`);
    },
    make: () => (collection, value) => {
      const items = Array.isArray(collection) ? (collection as readonly Value[]) : (collection as ValueMap).values();
      charge(items.length * ITEM_STEPS);
      return items.includes(value as Value);
    },
  },
];
