import { text } from "node:stream/consumers";
import { ExpressionError } from "#rules/expression/expression.ts";
import { expressionProblem, type ExpressionUse, formatExpression } from "#rules/expression/format.ts";
import { phaseNamed } from "#rules/phases.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";

export interface RulesFormatOptions {
  readonly phase?: string;
  readonly value?: boolean;
  readonly json?: boolean;
}

/** Prints an expression in its canonical form: the argument, or standard input if it is missing or `-`. */
export async function rulesFormat(expression: string | undefined, { phase, value, json = false }: RulesFormatOptions): Promise<ExitCode> {
  const use: ExpressionUse = value === true ? "value" : "filter";
  if (phase !== undefined && phaseNamed(phase) === undefined) throw new CliError(`phase ${phase} does not exist`, EXIT.usage);
  const given = expression === undefined || expression === "-" ? (await text(process.stdin)).trimEnd() : expression;
  const canonical = formatted(given, use);
  print(json, { expression: canonical }, [canonical]);
  // The lists depend on the account.
  const lists = { find: () => undefined };
  const problem = phase === undefined ? null : expressionProblem(given, phase, use, { lists });
  if (problem !== null) throw new CliError(problem.message);
  return EXIT.ok;
}

function formatted(expression: string, use: ExpressionUse): string {
  try {
    return formatExpression(expression, use);
  } catch (error) {
    if (error instanceof ExpressionError) throw new CliError(error.message);
    throw error;
  }
}
