import { escapeHtml } from "#kernel/escape-html.ts";
import type { Rehearsal, RehearsalFinding } from "#model/access/rehearsal.ts";

const HEADS = ["Date", "Deprecation", "Outcome", "Token", "Calls", "Route", "Why", "Use instead", "Rewritten"];

/** A rehearsal as one HTML file without scripts, for people without a terminal. */
export const rehearsalPage = (report: Rehearsal): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Rehearsal of ${escapeHtml(report.as_of)}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
td:last-child { white-space: pre-wrap; font-family: monospace; }
th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #ccc; }
.gone, .refused, .ignored { color: #a00; }
.kept, .answer { color: #666; }
</style>
<h1>Rehearsal of ${escapeHtml(report.as_of)}</h1>
<p>${report.calls} calls that work on ${escapeHtml(report.from)}; ${report.breaking} of them would break.${report.is_cut ? " Older calls were left out." : ""}</p>
${report.findings.length === 0 ? "" : `<table>\n<tr>${HEADS.map((head) => `<th>${head}`).join("")}\n${report.findings.map(row).join("\n")}\n</table>`}
</html>
`;

function row(finding: RehearsalFinding): string {
  const outcome = finding.is_kept ? `${finding.outcome}, kept by ${finding.api_date ?? ""}` : finding.outcome;
  const cells = [
    finding.date,
    finding.deprecation_id,
    outcome,
    finding.token_name ?? finding.token_id,
    String(finding.calls),
    finding.route,
    finding.error === null ? finding.why : `${finding.error.message} (${finding.error.code})`,
    finding.replacement ?? "",
    finding.rewrite === undefined ? "" : `${finding.rewrite.before}\n→ ${finding.rewrite.curl}\n→ ${finding.rewrite.sdk}`,
  ];
  return `<tr class="${finding.is_kept ? "kept" : finding.outcome}">${cells.map((cell) => `<td>${escapeHtml(cell)}`).join("")}`;
}
