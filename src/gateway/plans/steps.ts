import { pathBelowVersion, type RequestAddress, type Upstream } from "#gateway/providers/providers.ts";
import { requestUsage, UsageFilter } from "#gateway/streams/usage-option.ts";
import type { MakeTransform, PlanRequest, ReadyBody, Step } from "#gateway/request/plan.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import { MODEL_CHARACTERS_MAX, readModel, readModelFromForm, readModelFromHead } from "#gateway/request/request-model.ts";
import type { RequestOptions } from "#gateway/request/request-options.ts";
import { streamKindOf } from "#gateway/streams/stream-formats.ts";
import { watchingJson } from "#gateway/streams/json-end.ts";
import { isAmazonPath, watchingAmazon } from "#gateway/streams/bedrock-stream-end.ts";
import { isPlainStream, watching } from "#gateway/streams/stream-end.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** Input for creating a step. */
export interface StepSpec {
  readonly index: number;
  readonly upstream: Upstream;
  readonly place: RequestAddress;
  /** Path below the provider, including the slash. */
  readonly rest: string;
  /** With its question mark, or empty. */
  readonly query: string;
  readonly method: string;
  readonly model: string;
  readonly headers: FlatHeaders;
  readonly body: ReadyBody;
  readonly options: RequestOptions;
  readonly transforms?: Step["transforms"];
}

const LOGGED_PATH_CHARACTERS_MAX = 1024;
const PLAIN_TRANSFORMS: readonly MakeTransform[] = [watchingJson];
const AMAZON_TRANSFORMS: readonly MakeTransform[] = [watchingAmazon, watchingJson];

export function stepOf({ upstream, place, rest, query, ...spec }: StepSpec): Step {
  const { body, transforms } =
    spec.transforms === undefined ? watched(upstream, rest, spec) : { body: spec.body, transforms: spec.transforms };
  return {
    index: spec.index,
    provider: upstream.provider.name,
    model: spec.model,
    // Without the query, because some providers take keys there.
    path: rest.slice(0, LOGGED_PATH_CHARACTERS_MAX),
    origin: place.origin,
    isGuarded: upstream.provider.isGuarded === true,
    target: place.path + query,
    method: spec.method,
    headers: upstream.provider.headers === undefined ? spec.headers : [...spec.headers, ...upstream.provider.headers],
    ...(upstream.provider.isKeyed === true ? { storedFields: upstream.provider.headers ?? [] } : {}),
    body,
    usage: upstream.provider.usage,
    price: upstream.provider.price,
    options: spec.options,
    transforms,
  };
}

const strip: MakeTransform = (head) => (isPlainStream(head) ? new UsageFilter() : undefined);
const stripUnasked: MakeTransform = (head) => (isPlainStream(head) ? new UsageFilter(false) : undefined);

/** Transforms of each stream that passes unchanged; asks the provider for token counts. */
function watched(
  { provider }: Upstream,
  rest: string,
  { method, body }: Pick<StepSpec, "method" | "body">,
): Pick<Step, "body" | "transforms"> {
  const kind = method === "POST" ? streamKindOf(rest) : undefined;
  if (kind === undefined) return { body, transforms: method === "POST" && isAmazonPath(rest) ? AMAZON_TRANSFORMS : PLAIN_TRANSFORMS };
  // Undefined if the client itself asks for usage, or does not ask for a stream.
  const asking = kind.hasUsageOption && body.kind === "whole" ? requestUsage(body.bytes) : undefined;
  if (asking === undefined) return { body, transforms: [watching(kind), watchingJson] };
  if (provider.isAlwaysTelling === true) return { body, transforms: [watching(kind), watchingJson] };
  if (provider.isAskedForUsage !== true) return { body, transforms: [watching(kind), stripUnasked, watchingJson] };
  return { body: { kind: "whole", bytes: asking }, transforms: [watching(kind), strip, watchingJson] };
}

/**
 * The model of a request to one provider, empty if it names none. Undefined for a chat completion without a usable
 * model: the gateway refuses it, so that it does not grow the log (SPEC 1.1).
 */
export function modelOf(request: Pick<PlanRequest, "method" | "headers" | "body">, upstream: Upstream, rest: string): string | undefined {
  const { method, headers, body } = request;
  const { provider } = upstream;
  const isChat = method === "POST" && provider.chatPaths.has(pathBelowVersion(provider, rest));
  const inPath = provider.modelInPath?.exec(rest)?.[1];
  if (inPath !== undefined) return decoded(inPath).slice(0, MODEL_CHARACTERS_MAX);
  const type = mediaType(headers["content-type"] ?? "");
  if (!isChat && type === "multipart/form-data") return readModelFromForm(body.kind === "whole" ? body.bytes : body.head);
  if (!isChat && type !== "application/json") return "";
  if (body.kind === "stream") return readModelFromHead(body.head);
  const reading = readModel(body.bytes);
  if (isChat && (reading.kind === "malformed" || reading.model === "")) return undefined;
  return reading.kind === "object" ? reading.model : "";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
