import { PlatformError } from "#kernel/errors/errors.ts";
import type { RejectRequestFields } from "../deprecation.ts";
import type { EffectHandler, JsonObject } from "../effect-handler.ts";

export const rejectRequestFields: EffectHandler<RejectRequestFields> = (effect) => ({
  before: {
    body: (body) => {
      const inner = legacyPart(effect, body);
      return inner ? translate(effect, body, inner) : body;
    },
  },
  after: {
    body: (body) => {
      const inner = legacyPart(effect, body);
      if (!inner) return body;
      const field = effect.fields.find((name) => Object.hasOwn(inner, name)) ?? "";
      throw new PlatformError("no_longer_supported", { message: effect.message, source: `/${effect.within}/${field}` });
    },
  },
});

/** The object with the legacy fields; null if the request has none of them. */
function legacyPart(effect: RejectRequestFields, body: JsonObject): JsonObject | null {
  const inner = body[effect.within];
  if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return null;
  const object = inner as JsonObject;
  const type = body["type"];
  const concerned =
    typeof type === "string" ? type.toUpperCase() === effect.type : effect.telltale.some((field) => Object.hasOwn(object, field));
  return concerned && effect.fields.some((field) => Object.hasOwn(object, field)) ? object : null;
}

/** `@` and the empty text stand for the zone's apex, which a relative name leaves out. */
function translate(effect: RejectRequestFields, body: JsonObject, inner: JsonObject): JsonObject {
  const kept = Object.fromEntries(Object.entries(inner).filter(([key]) => !effect.fields.includes(key)));
  const parts = effect.fields.map((field) => inner[field]);
  const shaped = { ...body, [effect.within]: kept };
  const [last, ...leading] = parts.toReversed();
  // If a leading part is missing, only the newest field can name the object.
  if (!leading.every((part) => typeof part === "string" && part !== "")) return shaped;
  const labels = typeof last === "string" && last !== "" && last !== "@" ? [...leading.toReversed(), last] : leading.toReversed();
  return { ...shaped, [effect.joined_into]: labels.join(".") };
}
