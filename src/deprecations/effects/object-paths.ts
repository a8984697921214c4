import type { JsonObject } from "../effect-handler.ts";

/** `a.b` as the keys that lead to the field. */
export const keysOf = (path: string): readonly string[] => path.split(".");

/** The same as a JSON pointer. */
export const pointerTo = (path: string): string => `/${path.replaceAll(".", "/")}`;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at the keys; undefined if one of them is missing. */
export const reach = (object: unknown, keys: readonly string[]): unknown =>
  keys.reduce((value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined), object);

/** The object with this value at the keys. */
export function put(object: JsonObject, [key = "", ...rest]: readonly string[], value: unknown): JsonObject {
  if (rest.length === 0) return { ...object, [key]: value };
  const inner = Object.hasOwn(object, key) ? object[key] : undefined;
  return { ...object, [key]: put(isObject(inner) ? inner : {}, rest, value) };
}

/** The object without the last of the keys. */
export function drop(object: JsonObject, [key = "", ...rest]: readonly string[]): JsonObject {
  const { [key]: inner, ...others } = object;
  return rest.length === 0 || !isObject(inner) ? others : { ...object, [key]: drop(inner, rest) };
}
