import { PlatformError } from "#kernel/errors/errors.ts";
import type { JoinedAlias } from "../deprecation.ts";
import type { EffectHandler, JsonObject } from "../effect-handler.ts";
import { keysOf, put, reach } from "./object-paths.ts";

export const joinedAlias: EffectHandler<JoinedAlias> = ({ field, newest, item, separator }, row) => {
  const keys = keysOf(newest);
  const without = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => key !== field));
  return {
    before: {
      body: (body) => {
        if (!Object.hasOwn(body, field)) return body;
        const given = body[field];
        if (reach(body, keys) !== undefined || given === null) return without(body);
        if (typeof given !== "string")
          throw new PlatformError("invalid_input", { message: `"${field}" must be text.`, source: `/${field}` });
        const parts = given.split(separator).map((part) => part.trim());
        return put(
          without(body),
          keys,
          parts.filter((part) => part !== "").map((part) => ({ [item]: part })),
        );
      },
      result: (object) => {
        const [first = ""] = keys;
        if (!Object.hasOwn(object, first)) return object;
        const items = reach(object, keys);
        const joined = Array.isArray(items) ? (items as readonly JsonObject[]).map((one) => String(one[item])).join(separator) : "";
        return { ...object, [field]: joined };
      },
    },
    after: {
      // Beside the newest field the older one was always ignored; alone, its contents would be lost.
      body: (body) => {
        if (!Object.hasOwn(body, field)) return body;
        const given = body[field];
        if (reach(body, keys) === undefined && given !== null && given !== "")
          throw new PlatformError("no_longer_supported", {
            message: `"${field}" is no longer supported since ${row.date}. Use ${row.replacement ?? "nothing"}.`,
            source: `/${field}`,
          });
        return without(body);
      },
    },
  };
};
