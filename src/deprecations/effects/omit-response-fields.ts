import type { LegacyField, LegacyValue, OmitResponseFields } from "../deprecation.ts";
import type { Facts, EffectHandler, JsonObject } from "../effect-handler.ts";

/** The newest shape lacks the fields, so nothing is removed after the date; they are added before it. */
export const omitResponseFields: EffectHandler<OmitResponseFields> = (effect) => ({
  before: {
    // A row for one type of object concerns only requests whose response has such an object.
    always: effect.type === undefined,
    result: (object, facts) =>
      effect.type !== undefined && object["type"] !== effect.type
        ? object
        : effect.fields.reduce((shaped, field) => putField(shaped, field, object, facts), object),
  },
  after: {},
});

function putField(object: JsonObject, field: LegacyField, source: JsonObject, facts: Facts): JsonObject {
  const dot = field.field.indexOf(".");
  if (dot === -1) return insert(object, field.field, legacyValue(field.value, source, facts), field.after);
  const outer = field.field.slice(0, dot);
  const inner = object[outer];
  if (typeof inner !== "object" || inner === null) return object;
  return {
    ...object,
    [outer]: insert(inner as JsonObject, field.field.slice(dot + 1), legacyValue(field.value, source, facts), field.after),
  };
}

function legacyValue(value: LegacyValue, source: JsonObject, facts: Facts): unknown {
  if ("constant" in value) return value.constant;
  if ("zone" in value) return facts.zone?.[value.zone] ?? null;
  const name = source["name"];
  return typeof name === "string" ? name.split(".").slice(value.labels.from, value.labels.to).join(".") : "";
}

/** Keys keep the order in which the API returned them. */
function insert(object: JsonObject, key: string, value: unknown, after: string | undefined): JsonObject {
  if (after === undefined || !(after in object)) return { ...object, [key]: value };
  const shaped: Record<string, unknown> = {};
  for (const name of Object.keys(object)) {
    shaped[name] = object[name];
    if (name === after) shaped[key] = value;
  }
  return shaped;
}
