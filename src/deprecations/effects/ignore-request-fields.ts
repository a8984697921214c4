import type { IgnoreRequestFields } from "../deprecation.ts";
import type { Interpretation, Interpreter } from "../interpretation.ts";

/** Handlers never see the fields, on either side of the date. */
export const ignoreRequestFields: Interpreter<IgnoreRequestFields> = ({ fields }) => {
  const strip: Interpretation = {
    body: (body) =>
      fields.some((field) => Object.hasOwn(body, field))
        ? Object.fromEntries(Object.entries(body).filter(([key]) => !fields.includes(key)))
        : body,
  };
  return { before: strip, after: strip };
};
