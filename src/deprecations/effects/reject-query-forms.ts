import { PlatformError } from "#kernel/errors/errors.ts";
import type { Deprecation, QueryForm, RejectQueryForms } from "../deprecation.ts";
import type { EffectHandler, Query } from "../effect-handler.ts";

export const rejectQueryForms: EffectHandler<RejectQueryForms> = ({ forms }, row) => ({
  before: { query: (query) => forms.reduce(rewrite, query) },
  after: {
    query: (query) => {
      const form = forms.find((candidate) => matching(candidate, query) !== null);
      if (form) throw refusal(form, row);
      return query;
    },
  },
});

/** The values that have the form, or null. A repeated parameter is a newest form, but each of its values is checked. */
function matching(form: QueryForm, query: Query): readonly string[] | null {
  const given = query[form.parameter];
  if (given === undefined) return null;
  const values = typeof given === "string" ? [given] : given;
  const legacy = values.some((value) => ("prefix" in form ? value.startsWith(form.prefix) : value.includes(form.separator)));
  return legacy ? values : null;
}

function rewrite(query: Query, form: QueryForm): Query {
  const values = matching(form, query);
  if (!values) return query;
  if ("separator" in form)
    return {
      ...query,
      [form.parameter]: oneOrMany(
        values.flatMap((value) => value.split(form.separator)).filter((value) => value !== ""),
        values,
      ),
    };
  const legacy = values.filter((value) => value.startsWith(form.prefix)).map((value) => value.slice(form.prefix.length));
  const { [form.parameter]: _, ...others } = query;
  if ("becomes" in form) return { ...others, [form.becomes]: oneOrMany(legacy, values) };
  const wanted = legacy.map((part) => part.toUpperCase());
  return {
    ...others,
    [form.parameter]: oneOrMany(
      form.any_of.filter((value) => wanted.some((part) => value.includes(part))),
      values,
    ),
  };
}

/**
 * A single value stays a plain text, which every parameter accepts. If the form means no value at all, the given text
 * stays, and then finds nothing.
 */
const oneOrMany = (values: readonly string[], given: readonly string[]): string | readonly string[] => {
  const meant = values.length === 0 ? given : values;
  return meant.length === 1 ? (meant[0] ?? "") : meant;
};

function refusal(form: QueryForm, row: Deprecation): PlatformError {
  const shown = "prefix" in form ? `${form.parameter}=${form.prefix}…` : `${form.parameter}=…${form.separator}…`;
  return new PlatformError("no_longer_supported", {
    message: `The filter "${shown}" is no longer supported since ${row.date}. Use ${row.replacement ?? "no filter"}.`,
  });
}
