import { PlatformError } from "#kernel/errors.ts";
import type { Deprecation, QueryForm, RejectQueryForms } from "../deprecation.ts";
import type { Interpreter, Query } from "../interpretation.ts";

export const rejectQueryForms: Interpreter<RejectQueryForms> = ({ forms }, row) => ({
  before: { query: (query) => forms.reduce(rewrite, query) },
  after: {
    query: (query) => {
      const form = forms.find((candidate) => matching(candidate, query) !== null);
      if (form) throw refusal(form, row);
      return query;
    },
  },
});

/** The values that have the form, or null. A repeated parameter is a newest form, but each of its values is looked at. */
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
  if ("separator" in form) return { ...query, [form.parameter]: bounded(values.flatMap((value) => value.split(form.separator)).filter((value) => value !== "")) };
  const legacy = values.filter((value) => value.startsWith(form.prefix)).map((value) => value.slice(form.prefix.length));
  const { [form.parameter]: _, ...others } = query;
  if ("becomes" in form) return { ...others, [form.becomes]: bounded(legacy) };
  const wanted = (legacy[0] ?? "").toUpperCase();
  return { ...others, [form.parameter]: form.any_of.filter((value) => value.includes(wanted)) };
}

const VALUES_MAX = 1000;

/** One value stays a plain one, which every parameter takes. */
const bounded = (values: readonly string[]): string | readonly string[] => (values.length === 1 ? (values[0] ?? "") : values.slice(0, VALUES_MAX));

function refusal(form: QueryForm, row: Deprecation): PlatformError {
  const shown = "prefix" in form ? `${form.parameter}=${form.prefix}…` : `${form.parameter}=…${form.separator}…`;
  return new PlatformError("no_longer_supported", { message: `The filter "${shown}" is no longer supported since ${row.date}. Use ${row.replacement ?? "no filter"}.` });
}
