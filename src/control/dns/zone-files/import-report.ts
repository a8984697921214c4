import type { Call } from "#control/call.ts";
import type { ImportLine } from "#model/dns/dns-import.ts";
import type { Refuse } from "./judge-entries.ts";
import { type ImportEntry, type ImportProblem, REPORT_LINES_MAX } from "./read-zone-file.ts";

/** The lines of a file that were reduced to the limits or skipped, in order. */
export const reportOf = (clamped: readonly ImportEntry[], problems: readonly ImportProblem[]): readonly ImportLine[] => {
  const left = new Set(problems.map(({ line }) => line));
  return inOrder([...clamped.filter(({ line }) => !left.has(line)).map(clampedLine), ...problems.map(skippedLine)]);
};

/** The same for every record of the file. */
export function dryRunReport(parts: {
  readonly entries: readonly ImportEntry[];
  readonly added: readonly ImportEntry[];
  readonly ignored: readonly number[];
  readonly problems: readonly ImportProblem[];
}): readonly ImportLine[] {
  const added = new Set(parts.added);
  const left = new Set(parts.problems.map(({ line }) => line));
  const others = parts.entries.filter((entry) => !added.has(entry) && !left.has(entry.line));
  return inOrder([
    ...parts.added.map((entry) => (entry.clamped === "" ? { line: entry.line, action: "added" as const } : clampedLine(entry))),
    ...others.map(({ line }) => ({ line, action: "unchanged" as const })),
    ...parts.ignored.map((line) => ({ line, action: "ignored" as const })),
    ...parts.problems.map(skippedLine),
  ]);
}

export const skippedLine = ({ line, error }: ImportProblem): ImportLine => ({
  line,
  action: "skipped",
  code: error.code,
  message: error.message,
});

const clampedLine = ({ line, clamped }: ImportEntry): ImportLine => ({ line, action: "clamped", message: clamped });

/** In the order of the file; if the report is full, invalid lines have priority. */
export const inOrder = (lines: readonly ImportLine[]): readonly ImportLine[] =>
  lines
    .toSorted((a, b) => Number(b.action === "skipped") - Number(a.action === "skipped") || a.line - b.line)
    .slice(0, REPORT_LINES_MAX)
    .toSorted((a, b) => a.line - b.line);

/** Collects skipped lines up to the size of the report. */
export const keepIn =
  (problems: ImportProblem[]): Refuse =>
  (problem) => {
    if (problems.length < REPORT_LINES_MAX) problems.push(problem);
  };

/** The report, with a message if it may be incomplete. */
export function noteTruncation(call: Call, report: readonly ImportLine[]): readonly ImportLine[] {
  if (report.length >= REPORT_LINES_MAX)
    (call.notes ??= []).push(
      `The report has its maximum of ${REPORT_LINES_MAX} lines; lines that were left out come first. The file may have more.`,
    );
  return report;
}

/** One message about all reduced records. */
export function noteClamped(call: Call, clamped: readonly ImportEntry[]): void {
  const [first] = clamped;
  if (first === undefined) return;
  const count = clamped.length >= REPORT_LINES_MAX ? `At least ${clamped.length - 1}` : `${clamped.length - 1}`;
  const more = clamped.length === 1 ? "" : ` ${count} more lines were changed to fit the limits; see report.`;
  (call.notes ??= []).push(`Line ${first.line}: ${first.clamped}${more}`);
}
