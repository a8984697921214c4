import { escapeHtml } from "#kernel/escape-html.ts";

/**
 * A page for people: one file without further requests, for light and dark screens, in an order that suits screen
 * readers. `title` is text; `main` and `script` are safe HTML and a safe script.
 */
export function htmlDocument(title: string, main: string, script = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
${script === "" ? "" : `<script>${script}</script>\n`}</body>
</html>
`;
}

/** Shows the request's id, for reports to support. */
export const rayLine = (rayId: string): string => `<p class="ray">Ray ID <code>${escapeHtml(rayId)}</code></p>`;

const STYLE = [
  ":root{--ink:#1c2024;--dim:#60646c;--line:#d9d9e0;--bad:#b42318;--good:#18794e;--back:#fcfcfd}",
  "@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--dim:#b0b4ba;--line:#43484e;--bad:#ff9592;--good:#3dd68c;--back:#111113}}",
  "body{margin:0;background:var(--back);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}",
  "main{max-width:38rem;margin:0 auto;padding:12vh 1.5rem 3rem}",
  "h1{font-size:2rem;line-height:1.2;margin:.25rem 0 1rem}",
  ".code{margin:0;color:var(--bad);font-weight:600}",
  "ol{display:flex;flex-wrap:wrap;gap:.75rem;margin:2rem 0;padding:0;list-style:none}",
  "li{flex:1 1 9rem;padding:.6rem .8rem;border:1px solid var(--line);border-top:4px solid var(--line);border-radius:6px}",
  "li b{display:block;font-weight:400;color:var(--dim)}",
  ".good{border-top-color:var(--good)}.good b{color:var(--good)}",
  ".bad{border-color:var(--bad)}.bad b{color:var(--bad);font-weight:600}",
  "@media(max-width:32rem){ol{flex-direction:column}li{flex:none}}",
  "progress{width:100%;accent-color:var(--good)}",
  ".ray{color:var(--dim);font-size:.875rem;overflow-wrap:anywhere}",
].join("");
