import { FIELDS } from "#rules/expression/fields/fields.ts";
import { FUNCTIONS, signatureOf } from "#rules/expression/functions/functions.ts";
import type { Availability } from "#rules/expression/functions/language-function.ts";
import { typeName } from "#rules/expression/values/value-type.ts";
import { code, type Page, page, table } from "./page.ts";

export function expressionPages(): readonly Page[] {
  const text =
    "The language is explained in [its guide](../guides/expressions.md). A value that is marked as missing is of a kind that nothing here can know: " +
    "rules that name it are accepted, and no comparison with it holds.";
  const fields = FIELDS.map((field) => [
    code(field.name),
    code(typeName(field.type)),
    field.side === "response" ? "response phases" : "all",
    `${field.unknown === true ? "Missing. " : ""}${field.summary}`,
  ]);
  const functions = FUNCTIONS.map((called) => [
    code(signatureOf(called)),
    resultOf(called.returns),
    where(called.filters),
    where(called.values),
    called.summary,
  ]);
  const body = [
    `## Fields\n\n${table(["Field", "Type", "Where", "What it is"], fields)}`,
    `## Functions\n\n${table(["Function", "Gives", "In filters of", "In values of", "What it does"], functions)}`,
  ].join("\n\n");
  return [page("docs/reference/expressions.md", "Fields and functions of expressions", "src/rules/expression/", text, body)];
}

const resultOf = (returns: (typeof FUNCTIONS)[number]["returns"]): string =>
  typeof returns === "function" ? "`String` or `Array`, as its arguments" : code(typeName(returns));

const where = (availability: Availability): string => {
  if (availability === "everywhere") return "all phases";
  return availability === "nowhere" ? "none" : availability.map(code).join(", ");
};
