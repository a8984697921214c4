/** A file that builds patterns out of what the linter does not see. */
interface BuiltPatterns {
  readonly file: string;
  /**
   * `loaded`: all are made when the module is loaded, where tools/lint/built-patterns.test.ts checks them. `proven`: the file itself
   * makes only what it has proven. `escaped`: alternatives of texts whose every character stands for itself.
   */
  readonly how: "loaded" | "proven" | "escaped";
}

export const BUILT_PATTERNS: readonly BuiltPatterns[] = [
  { file: "src/rules/expression/regex.ts", how: "proven" },
  { file: "src/gateway/guard/text-watch.ts", how: "escaped" },
  { file: "src/gateway/stream-texts.ts", how: "loaded" },
  { file: "src/rules/detectors/financial.ts", how: "loaded" },
  { file: "src/rules/detectors/iban.ts", how: "loaded" },
  { file: "src/rules/detectors/secret-row.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets-further.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets-named.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets.ts", how: "loaded" },
  { file: "src/rules/detectors/separators.ts", how: "loaded" },
  { file: "src/wire/http/http-date.ts", how: "loaded" },
];
