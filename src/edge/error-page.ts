import type { EdgeError } from "./edge-errors.ts";

/** A complete answer that the edge gives itself. */
export interface Page {
  readonly status: number;
  readonly reason: string;
  readonly contentType: string;
  readonly body: string;
}

/** The page of an error as HTML, or as the API's envelope where the Accept field prefers JSON. */
export function errorPage(error: EdgeError, accept: string, rayId: string): Page {
  const json = prefersJson(accept);
  return {
    status: error.status,
    reason: error.title,
    contentType: json ? "application/json" : "text/html; charset=utf-8",
    body: json ? jsonBody(error, rayId) : htmlBody(error, rayId),
  };
}

/** What a block rule answers with: its own response (waf.md, "custom response") or the error's page. */
export function blockPage(error: EdgeError, parameters: Readonly<Record<string, unknown>>, accept: string, rayId: string): Page {
  const response = parameters["response"];
  if (typeof response !== "object" || response === null) return errorPage(error, accept, rayId);
  const { status_code: status, content, content_type: contentType } = response as Readonly<Record<string, unknown>>;
  return {
    status: typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 499 ? status : error.status,
    reason: error.title,
    contentType: typeof contentType === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : "text/plain",
    body: typeof content === "string" ? content : "",
  };
}

const MEDIA_RANGES_MAX = 20;

/** RFC 9110 §12.5.1, for the two types there are; HTML wins a draw, and where nothing is said. */
export function prefersJson(accept: string): boolean {
  let json = 0;
  let html = 0;
  for (const range of accept.toLowerCase().split(",", MEDIA_RANGES_MAX)) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
    if (type === "application/json") json = Math.max(json, quality);
    else if (type === "text/html" || type === "text/*" || type === "*/*")
      html = Math.max(html, type === "text/html" ? quality : quality * 0.5);
  }
  return json > html;
}

const jsonBody = (error: EdgeError, rayId: string): string =>
  `${JSON.stringify({ success: false, errors: [{ code: error.code, message: `${error.title}. ${error.message}` }], messages: [], result: null, ray_id: rayId })}\n`;

function htmlBody(error: EdgeError, rayId: string): string {
  const title = escapeHtml(error.title);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;margin:10vh auto;max-width:36rem;padding:0 1rem}small{color:#666}</style>
</head>
<body>
<h1>${title}</h1>
<p>${escapeHtml(error.message)}</p>
<p><small>Error ${error.code} &middot; Ray ID ${escapeHtml(rayId)}</small></p>
</body>
</html>
`;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
