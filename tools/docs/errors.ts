import { ERROR_CODES, type ErrorCode } from "#kernel/errors/error-codes.ts";
import { type Page, page, table } from "./page.ts";

const SOURCE = "src/kernel/errors/error-codes.ts";

/** One page for each number, since a client sees the number; several cases may share one. */
export function errorPages(): readonly Page[] {
  const byNumber = Object.groupBy(Object.values<ErrorCode>(ERROR_CODES), (row) => String(row.code));
  const numbers = Object.keys(byNumber).sort((a, b) => Number(a) - Number(b));
  const index = table(
    ["Code", "HTTP status", "Message"],
    numbers.flatMap((number) => (byNumber[number] ?? []).map((row) => [`[${number}](${number}.md)`, String(row.status), row.message])),
  );
  return [
    page(
      "docs/errors/README.md",
      "Error codes",
      SOURCE,
      "The `errors` array of a failed response contains these codes. A code never changes its meaning.",
      index,
    ),
    ...numbers.map((number) => page(`docs/errors/${number}.md`, `Error ${number}`, SOURCE, ...(byNumber[number] ?? []).map(section))),
  ];
}

const section = (row: ErrorCode): string =>
  `## ${row.message}\n\nHTTP status ${row.status}.\n\n- **Cause**: ${row.cause}\n- **What to do**: ${row.remedy}`;
