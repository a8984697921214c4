import type { EdgeError, FaultSide } from "./edge-errors.ts";
import { escapeHtml } from "#kernel/escape-html.ts";
import { htmlDocument, rayLine } from "./html-document.ts";

/** An error as a page for people: the fault, how far the request came, and advice. */
export function htmlPage(error: EdgeError, rayId: string): string {
  return htmlDocument(
    error.title,
    `<p class="code">Error ${error.code}</p>
<h1>${escapeHtml(error.title)}</h1>
<p>${escapeHtml(error.message)}</p>
<ol aria-label="How far the request got">
${PLACES.map(({ name, states }) => step(name, states[error.place])).join("\n")}
</ol>
<p>${ADVICE[error.place]}</p>
${rayLine(rayId)}`,
  );
}

/** Text for each place, by where the request failed. */
const PLACES: readonly { readonly name: string; readonly states: Readonly<Record<FaultSide, State>> }[] = [
  { name: "Your request", states: { visitor: "not accepted", edge: "ok", origin: "ok" } },
  { name: "This service", states: { visitor: "ok", edge: "failed", origin: "ok" } },
  { name: "The site&rsquo;s server", states: { visitor: "not asked", edge: "not asked", origin: "failed" } },
];

type State = keyof typeof COLOURS;
const COLOURS = { ok: "good", failed: "bad", "not accepted": "bad", "not asked": "dim" } as const;

const ADVICE: Readonly<Record<FaultSide, string>> = {
  visitor: "Change the request, or ask the site&rsquo;s owner why it was refused. The Ray ID identifies this request.",
  edge: "Try again in a moment. If the error persists, give the site&rsquo;s owner the Ray ID, which identifies this request.",
  origin: "Try again in a few minutes. If you own the site, check its server and DNS records; the Ray ID identifies this request.",
};

const step = (name: string, state: State): string => `<li class="${COLOURS[state]}">${name} <b>${state}</b></li>`;
