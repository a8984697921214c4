import type { IgnoreRequestFields } from "../deprecation.ts";
import type { Interpretation, EffectHandler } from "../effect-handler.ts";

/** Removes the fields before handlers see them, on either side of the date. */
export const ignoreRequestFields: EffectHandler<IgnoreRequestFields> = ({ fields }) => {
  const strip: Interpretation = {
    body: (body) =>
      fields.some((field) => Object.hasOwn(body, field))
        ? Object.fromEntries(Object.entries(body).filter(([key]) => !fields.includes(key)))
        : body,
  };
  return { before: strip, after: strip };
};
