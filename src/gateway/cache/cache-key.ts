import { createHash } from "node:crypto";
import type { Step } from "#gateway/request/plan.ts";
import { parseJson } from "#gateway/http/json.ts";

/** Header fields that hold credentials for providers, or that change a provider's answer. */
const KEYED_FIELDS: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "xi-api-key",
  "openai-organization",
  "openai-project",
  "anthropic-version",
  "anthropic-beta",
]);

/** The gateway that answers belong to; answers of an earlier epoch are not used. */
export interface CacheScope {
  readonly accountId: string;
  readonly gatewayId: string;
  /** Changes when the gateway's cache is purged. */
  readonly epoch: string;
}

/**
 * Requests with the same key get the same answer. The key covers provider, place, credential and the whole body, but not
 * metadata (reference, part A). A key that the request names replaces credential and body, because the client asks for
 * sharing. Whether a stream is wanted always counts, because a stream cannot replace a whole answer.
 */
export function cacheKey(step: Step, bytes: Buffer, { accountId, gatewayId, epoch }: CacheScope): string {
  const { provider, method, origin, target, headers, model, options } = step;
  const hash = createHash("sha256");
  const facts = [accountId, gatewayId, epoch, provider, method, origin, target];
  if (options.cacheKey !== undefined)
    return hash.update(JSON.stringify([...facts, "key", options.cacheKey, isStream(bytes)])).digest("hex");
  const fields: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? "";
    if (KEYED_FIELDS.has(name)) fields.push([name, headers[i + 1] ?? ""]);
  }
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return hash
    .update(JSON.stringify([...facts, model, fields]))
    .update("\0")
    .update(bytes)
    .digest("hex");
}

/** Whether a body in any of the known shapes asks for a stream. */
export function isStream(bytes: Buffer): boolean {
  if (!bytes.includes('"stream"')) return false;
  try {
    const value = parseJson(bytes.toString("utf8"));
    return typeof value === "object" && value !== null && (value as { readonly stream?: unknown }).stream === true;
  } catch {
    return false;
  }
}

/** Paths whose answers depend on the request alone; other paths create or change something at the provider. */
const ANSWERING_PATHS =
  /\/(chat\/completions|completions|messages|responses|chat|generate|embeddings?|embed|rerank|moderations|classify|images\/generations|invoke|converse|invoke-with-response-stream|converse-stream|[^/]+:(generateContent|streamGenerateContent|embedContent|batchEmbedContents|countTokens|predict|rawPredict|streamRawPredict))$/;

/**
 * Whether the gateway's setting alone may store the answer. A header field of the request can ask for it on any path,
 * also with POST.
 */
export const answersByItself = (target: string): boolean => ANSWERING_PATHS.test(target.split("?", 1)[0] ?? "");
