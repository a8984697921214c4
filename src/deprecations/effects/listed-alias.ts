import { PlatformError } from "#kernel/errors/errors.ts";
import type { ListedAlias } from "../deprecation.ts";
import type { EffectHandler, JsonObject } from "../effect-handler.ts";

export const listedAlias: EffectHandler<ListedAlias> = ({ field, newest, type, item }, row) => {
  const without = (body: JsonObject): JsonObject => Object.fromEntries(Object.entries(body).filter(([key]) => key !== field));
  return {
    before: {
      body: (body) => {
        if (!Object.hasOwn(body, field)) return body;
        const given = body[field];
        if (body[newest] !== undefined || given === null) return without(body);
        if (!Array.isArray(given) || !given.every((one) => typeof one === "string"))
          throw new PlatformError("invalid_input", { message: `"${field}" must be a list of texts.`, source: `/${field}` });
        return { ...without(body), [newest]: given.map((one: string) => ({ type, [item]: one })) };
      },
      result: (object) => {
        const items: unknown = object[newest];
        if (!Array.isArray(items)) return object;
        return { ...object, [field]: (items as readonly JsonObject[]).filter((one) => one["type"] === type).map((one) => one[item]) };
      },
    },
    after: {
      // Beside the newest field the older one was always ignored; alone, its contents would be lost.
      body: (body) => {
        if (!Object.hasOwn(body, field)) return body;
        const given = body[field];
        if (body[newest] === undefined && !(given === null || (Array.isArray(given) && given.length === 0)))
          throw new PlatformError("no_longer_supported", {
            message: `"${field}" is no longer supported since ${row.date}. Use ${row.replacement ?? "nothing"}.`,
            source: `/${field}`,
          });
        return without(body);
      },
    },
  };
};
