import { escapeHtml } from "#kernel/escape-html.ts";
import { type Doc, SECTIONS } from "./doc-files.ts";
import type { Hit } from "./doc-search.ts";

export const DOCS_PATH = "/docs";
export const STYLE_PATH = `${DOCS_PATH}/style.css`;

/** A page of the documentation. `main` is HTML; `query` is the search text. */
export function docLayout(title: string, main: string, query = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} – Selvedge</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<header>
<a class="home" href="${DOCS_PATH}">Selvedge documentation</a>
<form action="${DOCS_PATH}/search" role="search">
<input type="search" name="q" value="${escapeHtml(query)}" maxlength="100" placeholder="Search" aria-label="Search the documentation">
</form>
<a href="/">Dashboard</a>
</header>
<main>
${main}
</main>
</body>
</html>
`;
}

/** The first page: every document by section. */
export function docIndex(docs: ReadonlyMap<string, Doc>): string {
  const list = SECTIONS.map(({ title, folder }) => {
    const items = [...docs.values()].filter((doc) => doc.folder === `/${folder}`);
    const isLong = items.length > LONG_LIST;
    const links = items.map((doc) => `<li><a href="${DOCS_PATH}${doc.path}">${escapeHtml(isLong ? shortTitle(doc) : doc.title)}</a></li>`);
    return `<section><h2>${title}</h2><ul class="${isLong ? "many" : "few"}">${links.join("")}</ul></section>`;
  });
  return `<h1>Documentation</h1>\n${list.join("\n")}`;
}

const LONG_LIST = 60;
const shortTitle = ({ path }: Doc): string => path.slice(path.lastIndexOf("/") + 1);

export function searchResults(query: string, hits: readonly Hit[]): string {
  const shown = hits.map(
    ({ path, title, heading, anchor, excerpt }) =>
      `<li><a href="${DOCS_PATH}${path}${anchor === "" ? "" : `#${escapeHtml(anchor)}`}">${escapeHtml(heading)}</a> <small>${escapeHtml(title)}</small><p>${escapeHtml(excerpt)}</p></li>`,
  );
  const found = hits.length === 0 ? "No page contains all of these words." : `${hits.length} ${hits.length === 1 ? "part" : "parts"}`;
  return `<h1>Search: ${escapeHtml(query)}</h1>\n<p>${found}</p>\n<ol class="hits">${shown.join("\n")}</ol>`;
}

export const STYLE = [
  ":root{--ink:#1c2024;--dim:#60646c;--line:#d9d9e0;--link:#0b68cb;--back:#fcfcfd;--code:#f0f0f3}",
  "@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--dim:#b0b4ba;--line:#43484e;--link:#70b8ff;--back:#111113;--code:#212225}}",
  "body{margin:0;background:var(--back);color:var(--ink);font:1rem/1.6 system-ui,sans-serif}",
  "header{display:flex;flex-wrap:wrap;align-items:center;gap:1rem;padding:.75rem 1.5rem;border-bottom:1px solid var(--line)}",
  "header form{flex:1;min-width:10rem;max-width:24rem;margin-inline-start:auto}",
  "input{width:100%;box-sizing:border-box;padding:.4rem .7rem;font:inherit;color:inherit;background:var(--back);border:1px solid var(--dim);border-radius:6px}",
  ".home{font-weight:600;color:inherit;text-decoration:none}",
  "main{max-width:60rem;margin:0 auto;padding:1.5rem;overflow-wrap:anywhere}",
  "a{color:var(--link)}",
  "h1{line-height:1.2}h2{margin-top:2.2rem;line-height:1.25}h3{margin-top:1.6rem}",
  "code{padding:.1em .3em;background:var(--code);border-radius:4px;font-size:.9em}",
  "pre{padding:.9rem;overflow-x:auto;background:var(--code);border-radius:6px;overflow-wrap:normal}pre code{padding:0;background:none}",
  ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.93rem;overflow-wrap:normal}",
  "th,td{padding:.4rem .7rem;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}th{white-space:nowrap}",
  "ul.few{columns:18rem;padding-inline-start:1.2rem}ul.many{columns:5rem;padding:0;list-style:none}",
  ".hits small{color:var(--dim)}.hits p{margin:.2rem 0 1rem;color:var(--dim)}",
].join("\n");
