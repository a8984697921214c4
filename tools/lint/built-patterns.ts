/** A file that builds patterns from values that the linter does not see. */
interface BuiltPatterns {
  readonly file: string;
  /**
   * `loaded`: all are built when the module is loaded, where tools/lint/built-patterns.test.ts checks them. `proven`:
   * the file builds only patterns that it has proven. `escaped`: alternatives of texts with every character escaped.
   */
  readonly how: "loaded" | "proven" | "escaped";
}

export const BUILT_PATTERNS: readonly BuiltPatterns[] = [
  { file: "src/rules/regex/regex.ts", how: "proven" },
  { file: "src/gateway/guard/incremental-scanner.ts", how: "escaped" },
  { file: "src/gateway/streams/stream-texts.ts", how: "loaded" },
  { file: "src/rules/detectors/personal/financial.ts", how: "loaded" },
  { file: "src/rules/detectors/personal/iban.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets/secret-row.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets/secrets-further.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets/secrets-kept.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets/secrets-named.ts", how: "loaded" },
  { file: "src/rules/detectors/secrets/secrets.ts", how: "loaded" },
  { file: "src/rules/detectors/checks/separators.ts", how: "loaded" },
  { file: "src/rules/seclang/patterns/pattern.ts", how: "proven" },
  { file: "src/rules/managed/signatures/scanners.ts", how: "loaded" },
  { file: "src/rules/managed/signatures/sql-injection.ts", how: "loaded" },
  { file: "src/rules/managed/signatures/system-files.ts", how: "loaded" },
  { file: "src/rules/seclang/sql/sql-shapes.ts", how: "loaded" },
  { file: "src/wire/http/http-date.ts", how: "loaded" },
];
