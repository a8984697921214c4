import type { EdgeError, FaultPlace } from "./edge-errors.ts";

/**
 * An error as a page for people: what happened, how far the request came, and what to do. One file without scripts or
 * anything to fetch, for light and dark screens, in words that a screen reader reads in order.
 */
export function htmlPage(error: EdgeError, rayId: string): string {
  const title = escapeHtml(error.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="code">Error ${error.code}</p>
<h1>${title}</h1>
<p>${escapeHtml(error.message)}</p>
<ol aria-label="How far the request came">
${PLACES.map(({ name, states }) => step(name, states[error.place])).join("\n")}
</ol>
<p>${ADVICE[error.place]}</p>
<p class="ray">Ray ID <code>${escapeHtml(rayId)}</code></p>
</main>
</body>
</html>
`;
}

/** What is said of each, by where the request failed. */
const PLACES: readonly { readonly name: string; readonly states: Readonly<Record<FaultPlace, State>> }[] = [
  { name: "Your request", states: { visitor: "not accepted", edge: "ok", origin: "ok" } },
  { name: "This service", states: { visitor: "ok", edge: "failed", origin: "ok" } },
  { name: "The site&rsquo;s server", states: { visitor: "not asked", edge: "not asked", origin: "failed" } },
];

type State = keyof typeof COLOURS;
const COLOURS = { ok: "good", failed: "bad", "not accepted": "bad", "not asked": "dim" } as const;

const ADVICE: Readonly<Record<FaultPlace, string>> = {
  visitor: "Change the request, or ask the site&rsquo;s owner why it was refused. The Ray ID names this request.",
  edge: "Try again in a moment. If it stays so, tell the site&rsquo;s owner the Ray ID, which names this request.",
  origin: "Try again in a few minutes. If you own the site, look at its server and DNS records; the Ray ID names this request.",
};

const step = (name: string, state: State): string => `<li class="${COLOURS[state]}">${name} <b>${state}</b></li>`;

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
  ".ray{color:var(--dim);font-size:.875rem;overflow-wrap:anywhere}",
].join("");

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
