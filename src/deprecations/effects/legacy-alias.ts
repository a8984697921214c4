import { PlatformError } from "#kernel/errors/errors.ts";
import type { AliasField, Deprecation, LegacyAlias } from "../deprecation.ts";
import type { EffectHandler, JsonObject } from "../effect-handler.ts";
import { drop, keysOf, pointerTo, put, reach } from "./object-paths.ts";

export const legacyAlias: EffectHandler<LegacyAlias> = ({ of, fields, constants }, row) => ({
  before: {
    always: true,
    body: (body) => (of === "endpoint" ? translateAll(body, fields) : fields.reduce(translate, body)),
    result: (object) =>
      fields.reduce(
        (shaped, field) => put(shaped, keysOf(field.field), legacyValue(field, reach(object, keysOf(field.newest)))),
        of === "endpoint" ? { ...constants } : object,
      ),
  },
  after: of === "endpoint" ? { gone: true } : { body: (body) => fields.reduce((left, field) => ended(left, field, row), body) },
});

/** Beside the newest field the older one was always ignored; alone, its value would be lost. */
function ended(body: JsonObject, { field, newest }: AliasField, { date, replacement }: Deprecation): JsonObject {
  const given = reach(body, keysOf(field));
  if (given === undefined) return body;
  if (given !== null && reach(body, keysOf(newest)) === undefined)
    throw new PlatformError("no_longer_supported", {
      message: `"${field}" is no longer supported since ${date}. Use ${replacement ?? "nothing"}.`,
      source: pointerTo(field),
    });
  return drop(body, keysOf(field));
}

/** Translates all fields. An alias has only these, so a request without one of them is refused. */
function translateAll(body: JsonObject, fields: readonly AliasField[]): JsonObject {
  return fields.reduce<JsonObject>((newest, field) => {
    const given = reach(body, keysOf(field.field));
    if (given === undefined)
      throw new PlatformError("invalid_input", { message: `"${field.field}" is required.`, source: pointerTo(field.field) });
    return put(newest, keysOf(field.newest), newestValue(field, given));
  }, {});
}

/** The newest field wins, then the first of its aliases. */
function translate(body: JsonObject, field: AliasField): JsonObject {
  const given = reach(body, keysOf(field.field));
  if (given === undefined || reach(body, keysOf(field.newest)) !== undefined) return body;
  return put(body, keysOf(field.newest), newestValue(field, given));
}

function newestValue(field: AliasField, given: unknown): unknown {
  if (!field.values) return given;
  const row = field.values.find(([legacy]) => legacy === given);
  if (row) return row[1];
  const allowed = [...new Set(field.values.map(([legacy]) => JSON.stringify(legacy)))].join(" or ");
  throw new PlatformError("invalid_input", { message: `"${field.field}" must be ${allowed}.`, source: pointerTo(field.field) });
}

const legacyValue = (field: AliasField, newest: unknown): unknown =>
  field.values ? (field.values.find((row) => row[1] === newest) ?? field.values.at(-1))?.[0] : newest;
