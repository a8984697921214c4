/** What a request says of how much it wants to hear. */
export interface AnswerBound {
  /** Of each answer; undefined where the request sets no bound that its provider would heed. */
  readonly tokens: number | undefined;
  /** How many answers are asked for at once. */
  readonly answers: number;
}

export const UNBOUND: AnswerBound = { tokens: undefined, answers: 1 };

/** Nobody makes more answers at once. */
const ANSWERS_MAX = 128;

interface Dialect {
  readonly path: RegExp;
  /** Fields of the body, with dots. Of several that are there the largest counts, since nobody knows which one is heeded. */
  readonly tokens: readonly string[];
  readonly answers: readonly string[];
}

/**
 * By the path, the first row that fits: a field of another dialect bounds nothing, and whoever adds one must not be let through
 * for it. Google takes names in either case.
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
    body = JSON.parse(bytes.toString("utf8"));
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

/** Zero and less mean "no bound" to some servers. */
function largest(body: unknown, fields: readonly string[]): number | undefined {
  const values = fields.map((field) => field.split(".").reduce(within, body)).filter((value) => typeof value === "number" && value > 0);
  return values.length === 0 ? undefined : Math.max(...(values as number[]));
}

const within = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
