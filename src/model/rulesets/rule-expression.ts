import { type Static, Type } from "typebox";

/** An expression that is being edited, and the checks that its editor requests. */
export const ExpressionCheck = Type.Object(
  {
    expression: Type.String({ maxLength: 8192 }),
    phase: Type.String({ maxLength: 64 }),
    use: Type.Optional(Type.Enum(["filter", "value"], { default: "filter" })),
    complete_at: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 8192, description: "The position at which to complete, in characters from the start." }),
    ),
  },
  { additionalProperties: false },
);
export type ExpressionCheck = Static<typeof ExpressionCheck>;

export const CheckedExpression = Type.Object({
  formatted: Type.Union([Type.String(), Type.Null()], { description: "Null if the expression cannot be parsed." }),
  problem: Type.Union([Type.Object({ message: Type.String(), line: Type.Integer(), column: Type.Integer() }), Type.Null()]),
  completions: Type.Optional(
    Type.Object({
      from: Type.Integer({ description: "Start of the characters, up to `to`, that a completion replaces." }),
      to: Type.Integer(),
      items: Type.Array(Type.Object({ label: Type.String(), kind: Type.String(), detail: Type.String(), summary: Type.String() })),
    }),
  ),
});
export type CheckedExpression = Static<typeof CheckedExpression>;

/** Fields and functions available in expressions of a phase. */
export const ExpressionLanguage = Type.Object({
  fields: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      summary: Type.String(),
      is_missing: Type.Boolean({ description: "The field never has a value: no comparison with it matches." }),
    }),
  ),
  functions: Type.Array(
    Type.Object({
      name: Type.String(),
      signature: Type.String(),
      summary: Type.String(),
      in_filters: Type.Boolean(),
      in_values: Type.Boolean(),
    }),
  ),
  operators: Type.Array(Type.Object({ name: Type.String(), types: Type.Array(Type.String()), summary: Type.String() })),
  connectives: Type.Array(Type.String()),
});
export type ExpressionLanguage = Static<typeof ExpressionLanguage>;

export const ExpressionLanguageQuery = Type.Object({ phase: Type.String({ minLength: 1, maxLength: 64 }) });
