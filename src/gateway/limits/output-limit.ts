import { parseJson } from "#gateway/http/json.ts";

/** Bounds that a request sets on its answer. */
export interface AnswerBound {
  /** Tokens of each answer; undefined if the request sets no bound that its provider obeys. */
  readonly tokens: number | undefined;
  /** Number of answers. */
  readonly answers: number;
}

export const UNBOUND: AnswerBound = { tokens: undefined, answers: 1 };

/** No provider returns more answers at once. */
const ANSWERS_MAX = 128;

interface Dialect {
  readonly path: RegExp;
  /**
   * Fields of the body, as dotted paths. If several are set, the largest counts, because it is unknown which one the
   * provider obeys.
   */
  readonly tokens: readonly string[];
  readonly answers: readonly string[];
}

/**
 * By path; the first matching row counts. A field of another dialect sets no bound, so a client cannot add one to pass a
 * limit. Google accepts names in either case.
 */
const DIALECTS: readonly Dialect[] = [
  {
    path: /:(?:stream)?generateContent$/i,
    tokens: ["generationConfig.maxOutputTokens", "generation_config.max_output_tokens", "generationConfig.max_output_tokens"],
    answers: ["generationConfig.candidateCount", "generation_config.candidate_count", "generationConfig.candidate_count"],
  },
  { path: /\/converse(?:-stream)?$/i, tokens: ["inferenceConfig.maxTokens"], answers: [] },
  { path: /\/messages$/i, tokens: ["max_tokens"], answers: [] },
  { path: /\/responses$/i, tokens: ["max_output_tokens"], answers: [] },
  { path: /\/chat\/completions$/i, tokens: ["max_completion_tokens", "max_tokens"], answers: ["n"] },
  { path: /\/completions$/i, tokens: ["max_tokens"], answers: ["n", "best_of"] },
  {
    path: /(?:)/,
    tokens: ["max_completion_tokens", "max_tokens", "max_output_tokens", "generationConfig.maxOutputTokens", "inferenceConfig.maxTokens"],
    answers: ["n"],
  },
];

export function answerBound(path: string, bytes: Buffer): AnswerBound {
  let body: unknown;
  try {
    body = parseJson(bytes.toString("utf8"));
  } catch {
    return UNBOUND;
  }
  const question = path.indexOf("?");
  let end = question < 0 ? path.length : question;
  while (end > 0 && path[end - 1] === "/") end--;
  const dialect = DIALECTS.find((one) => one.path.test(path.slice(0, end)));
  if (dialect === undefined) return UNBOUND;
  const [tokens, answers] = [largest(body, dialect.tokens), largest(body, dialect.answers)];
  return { tokens, answers: Math.min(Math.ceil(answers ?? 1), ANSWERS_MAX) };
}

/** Some servers read zero and negative numbers as "no bound". */
function largest(body: unknown, fields: readonly string[]): number | undefined {
  const values = fields.map((field) => field.split(".").reduce(within, body)).filter((value) => typeof value === "number" && value > 0);
  return values.length === 0 ? undefined : Math.max(...(values as number[]));
}

const within = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
