import { type EdgeError, nameOfEdgeError } from "./edge-errors.ts";
import { htmlPage } from "./html-page.ts";

/** A complete response of the edge. */
export interface Page {
  readonly status: number;
  readonly reason: string;
  readonly contentType: string;
  readonly body: string;
  /** A rule wrote the page, so rules for errors do not change it. */
  readonly isChosen?: true;
  /** The row of the table, for errors. */
  readonly error?: EdgeError;
}

/** The page of an error: HTML, or the API's envelope if the Accept field prefers JSON. */
export function errorPage(error: EdgeError, accept: string, rayId: string): Page {
  const json = prefersJson(accept);
  return {
    status: error.status,
    reason: error.title,
    contentType: json ? "application/json" : "text/html; charset=utf-8",
    body: json ? jsonBody(error, rayId) : htmlPage(error, rayId),
    error,
  };
}

/** The page of a block rule: its custom response (waf.md, "custom response"), or the error's page. */
export function blockPage(error: EdgeError, parameters: Readonly<Record<string, unknown>>, accept: string, rayId: string): Page {
  const response = parameters["response"];
  if (typeof response !== "object" || response === null) return errorPage(error, accept, rayId);
  const { status_code: status, content, content_type: contentType } = response as Readonly<Record<string, unknown>>;
  return {
    status: typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 499 ? status : error.status,
    reason: error.title,
    contentType: typeof contentType === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : "text/plain",
    body: typeof content === "string" ? content : "",
    isChosen: true,
    error,
  };
}

const MEDIA_RANGES_MAX = 20;

/** RFC 9110 §12.5.1, for these two types. HTML wins ties, and without a preference. */
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
  `${JSON.stringify({ success: false, errors: [{ code: error.code, message: `${error.title}. ${error.message}` }], messages: [], result: null, error_name: nameOfEdgeError(error), ray_id: rayId })}\n`;
