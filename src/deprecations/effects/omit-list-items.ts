import { PlatformError } from "#kernel/errors/errors.ts";
import type { Deprecation, OmitListItems } from "../deprecation.ts";
import type { EffectHandler, JsonObject } from "../effect-handler.ts";

/** Handlers still list the items, which belong to other APIs as well; from the date on they are removed from the list. */
export const omitListItems: EffectHandler<OmitListItems> = ({ ids }, row) => {
  const isEnded = (object: JsonObject): boolean => typeof object["id"] === "string" && ids.includes(object["id"]);
  return {
    // Returns a copy to say that the row concerns the request.
    before: { list: (objects) => (objects.some(isEnded) ? [...objects] : objects) },
    after: {
      list: (objects) => (objects.some(isEnded) ? objects.filter((object) => !isEnded(object)) : objects),
      body: (body) => {
        const items = Array.isArray(body["items"]) ? (body["items"] as readonly unknown[]) : [];
        const at = items.findIndex((item) => typeof item === "object" && item !== null && isEnded(item as JsonObject));
        if (at >= 0) throw refusal(row, `/items/${at}/id`);
        return body;
      },
    },
  };
};

const refusal = (row: Deprecation, source: string): PlatformError =>
  new PlatformError("no_longer_supported", {
    message: `This item is no longer supported since ${row.date}.${row.replacement === null ? "" : ` Use ${row.replacement}.`}`,
    source,
  });
