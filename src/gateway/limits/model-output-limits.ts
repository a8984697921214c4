/**
 * Longest answers of models in tokens, as their makers publish them; the first row whose prefix the name has counts.
 * Names may have a maker before a slash, as resellers write them.
 */
const LONGEST: readonly (readonly [beginning: string, tokens: number])[] = [
  ["gpt-3.5", 4_096],
  ["gpt-4o", 16_384],
  ["chatgpt-4o", 16_384],
  ["gpt-4.1", 32_768],
  ["gpt-4-turbo", 4_096],
  ["gpt-4-32k", 32_768],
  ["gpt-4", 8_192],
  ["o1-preview", 32_768],
  ["gemini-1.", 8_192],
  ["gemini-2.0", 8_192],
  ["gemini-", 65_536],
  ["claude-3-5", 8_192],
  ["claude-3-haiku", 4_096],
  ["claude-3-opus", 4_096],
  ["deepseek-chat", 8_192],
  ["command-r", 4_096],
  ["sonar", 8_192],
];

/** The most that any known model returns; also used for models that the table lacks. */
const LONGEST_OF_ANY = 131_072;

export function longestAnswer(model: string): number {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return LONGEST.find(([beginning]) => name.startsWith(beginning))?.[1] ?? LONGEST_OF_ANY;
}
