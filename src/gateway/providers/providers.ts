import { withoutEnd } from "#kernel/trim.ts";
import {
  ANTHROPIC_USAGE,
  AZURE_USAGE,
  BEDROCK_USAGE,
  COHERE_USAGE,
  GOOGLE_USAGE,
  NO_USAGE_SHAPE,
  OPENAI_USAGE,
  OPENROUTER_USAGE,
  PERPLEXITY_USAGE,
  type Usage,
  type UsageShape,
  VERTEX_USAGE,
  XAI_USAGE,
} from "#gateway/usage/usage-formats.ts";
import { AZURE_MODEL, azurePath } from "./azure-path.ts";
import { mistralFields } from "./mistral-fields.ts";
import type { Json } from "#gateway/http/json.ts";

/** The address of one request at a provider with an address per region or customer. */
export interface RequestAddress {
  /** `https://eu-west-1.example.com` */
  readonly origin: string;
  /** Path without the query. */
  readonly path: string;
}

/** A request of OpenAI's shape: the model's name, the path below the provider and the query. */
export interface CompatRequest {
  readonly model: string;
  /** `/chat/completions` or `/embeddings` */
  readonly rest: string;
  /** With its question mark, or empty. */
  readonly query: string;
}

/**
 * Address of one provider, and the shape of its requests and answers. The client's own credential is forwarded unchanged
 * (SPEC 5.1).
 */
export interface Provider {
  /** The name in the gateway's path. */
  readonly name: string;
  /** Default address, which the operator can replace; the rest of the path is appended. */
  readonly baseAddress: string;
  /** The path of the base address, if it is more than the version: clients whose base lacks it send it with the rest. */
  readonly basePrefix?: string;
  /** A version that the rest of the path may repeat: clients send `/v1/chat/completions` as well as `/chat/completions`. */
  readonly versionSegment: string;
  /** Paths, below the version, whose body must be a JSON object with a model (reference: code 2019). */
  readonly chatPaths: ReadonlySet<string>;
  readonly usage: UsageShape;
  /** Matches the model in the path, if bodies do not name it. */
  readonly modelInPath?: RegExp;
  /** Reports token counts of a streamed chat completion only if asked: `stream_options.include_usage`. */
  readonly isAskedForUsage?: boolean;
  /** Its clients expect the event with the token counts at the end of a stream, whether they ask for it or not. */
  readonly isAlwaysTelling?: boolean;
  /** The signature covers the body, so the whole body is needed before the request is sent. */
  readonly isSigned?: boolean;
  /** Added by a customer: the gateway connects only to permitted addresses. */
  readonly isGuarded?: boolean;
  /** Fields of every request; names and values alternate. */
  readonly headers?: readonly string[];
  /** Whether `headers` has a credential. */
  readonly isKeyed?: boolean;
  /** US dollars by the owner's prices, which replace the table; null if unknown. */
  readonly price?: (model: string, usage: Usage) => number | null;
  /**
   * The path of OpenAI's dialect, if it is not directly below the base address; undefined if the model's name is not
   * sufficient.
   */
  readonly compat?: (asked: CompatRequest) => CompatRequest | undefined;
  /** The body of a request of OpenAI's shape as the provider accepts it, if it refuses some fields. */
  readonly fields?: (body: Json) => Json;
  /** Finds the address in the path; undefined if the path has none. */
  readonly place?: (rest: string) => RequestAddress | undefined;
  /** Describes the form of such a path in error messages. */
  readonly pathForm?: string;
}

const CHAT = new Set(["/chat/completions"]);
const NONE: ReadonlySet<string> = new Set();

/** Providers that speak OpenAI's dialect. */
const alike = (name: string, baseAddress: string): Provider => ({
  name,
  baseAddress,
  versionSegment: "v1",
  chatPaths: CHAT,
  usage: OPENAI_USAGE,
  isAskedForUsage: true,
});

/** Chats with models of every maker are below `/v1`; the path of a model is the provider's own inference. */
const telling = (name: string, baseAddress: string): Provider => ({ ...alike(name, baseAddress), isAskedForUsage: false });

/** Providers of images, speech and predictions. */
const plain = (name: string, baseAddress: string): Provider => ({
  name,
  baseAddress,
  versionSegment: "v1",
  chatPaths: NONE,
  usage: NO_USAGE_SHAPE,
});

/** The latest version that has every field of a chat completion, for requests that name none. */
const AZURE_VERSION = "2025-04-01-preview";
const VERTEX_PATH = /^(?:\/v1(?:beta1)?)?\/projects\/[^/]+\/locations\/([a-z0-9-]{1,40})\//;
/** Express mode: a key identifies a project, and one address serves all locations. */
const VERTEX_EXPRESS_PATH = /^(?:\/v1(?:beta1)?)?\/publishers\/[^/]+\/models\//;
// linear: pumped
const BEDROCK_PATH = /^\/(bedrock-[a-z-]{1,30}|bedrock)\/([a-z]{2}(?:-[a-z]+){1,3}-\d)(\/.*)$/;

const HUGGING_FACE = "https://router.huggingface.co";
/** The router's path for the request; paths that name another provider behind it (`/together/v1/…`) stay unchanged. */
function huggingFacePath(rest: string): string {
  if (/^\/(?:chat\/completions|responses|models)$/.test(rest)) return `/v1${rest}`;
  if (rest.startsWith("/models/")) return `/hf-inference${rest}`;
  const [, owner, model, below = "v1"] = rest.split("/", 4);
  const isModel = owner !== "v1" && owner !== "hf-inference" && model !== undefined && model !== "v1" && below === "v1";
  return isModel ? `/hf-inference/models${rest}` : rest;
}

const ROWS: readonly Provider[] = [
  alike("openai", "https://api.openai.com/v1"),
  {
    name: "anthropic",
    baseAddress: "https://api.anthropic.com/v1",
    versionSegment: "v1",
    chatPaths: new Set(["/messages"]),
    usage: ANTHROPIC_USAGE,
  },
  {
    name: "google-ai-studio",
    baseAddress: "https://generativelanguage.googleapis.com",
    versionSegment: "v1beta",
    chatPaths: NONE,
    usage: GOOGLE_USAGE,
    modelInPath: /\/models\/([^/:]+)/,
  },
  {
    name: "google-vertex-ai",
    baseAddress: "https://aiplatform.googleapis.com",
    versionSegment: "v1",
    chatPaths: NONE,
    usage: VERTEX_USAGE,
    modelInPath: /\/models\/([^/:]+)/,
    place: (rest) => {
      const region = VERTEX_EXPRESS_PATH.test(rest) ? "global" : VERTEX_PATH.exec(rest)?.[1];
      if (region === undefined) return undefined;
      const host = region === "global" ? "aiplatform.googleapis.com" : `${region}-aiplatform.googleapis.com`;
      return { origin: `https://${host}`, path: rest.startsWith("/v1") ? rest : `/v1${rest}` };
    },
    pathForm: "/v1/projects/{project}/locations/{region}/… or /v1/publishers/…",
  },
  {
    // `/{resource}/{deployment}/chat/completions`; the provider's path is `/openai/deployments/{deployment}/…`.
    name: "azure-openai",
    baseAddress: "https://openai.azure.com",
    versionSegment: "v1",
    chatPaths: NONE,
    usage: AZURE_USAGE,
    isAskedForUsage: true,
    // The provider's own clients write `/{resource}/openai/deployments/{deployment}/…` or `/{resource}/openai/v1/…`.
    modelInPath: AZURE_MODEL,
    place: (rest) => {
      const found = azurePath(rest);
      return found && { origin: `https://${found.resource}.openai.azure.com`, path: found.path };
    },
    pathForm: "/{resource}/{deployment}/…",
    compat: ({ model, rest, query }) => {
      const [resource = "", deployment = ""] = model.split("/");
      const versioned = /[?&]api-version=/.test(query) ? query : `${query === "" ? "?" : `${query}&`}api-version=${AZURE_VERSION}`;
      return deployment === "" ? undefined : { model: deployment, rest: `/${resource}/${deployment}${rest}`, query: versioned };
    },
  },
  {
    // `/bedrock-runtime/{region}/model/…`; requests arrive signed for the provider's own address.
    name: "aws-bedrock",
    baseAddress: "https://bedrock-runtime.us-east-1.amazonaws.com",
    versionSegment: "v1",
    chatPaths: NONE,
    usage: BEDROCK_USAGE,
    isSigned: true,
    modelInPath: /\/model\/([^/]+)/,
    place: (rest) => {
      const [, service, region, path] = BEDROCK_PATH.exec(rest) ?? [];
      return path === undefined ? undefined : { origin: `https://${service}.${region}.amazonaws.com`, path };
    },
    pathForm: "/bedrock-runtime/{region}/…",
  },
  { ...telling("mistral", "https://api.mistral.ai/v1"), fields: mistralFields },
  alike("groq", "https://api.groq.com/openai/v1"),
  {
    name: "cohere",
    baseAddress: "https://api.cohere.com",
    versionSegment: "v2",
    chatPaths: new Set(["/chat"]),
    usage: COHERE_USAGE,
    compat: ({ model, rest }) => ({ model, rest: `/compatibility/v1${rest}`, query: "" }),
  },
  alike("deepseek", "https://api.deepseek.com"),
  { ...telling("perplexity-ai", "https://api.perplexity.ai"), usage: PERPLEXITY_USAGE },
  { ...telling("openrouter", "https://openrouter.ai/api/v1"), usage: OPENROUTER_USAGE, isAlwaysTelling: true },
  { ...alike("grok", "https://api.x.ai/v1"), usage: XAI_USAGE },
  { ...alike("xai", "https://api.x.ai/v1"), usage: XAI_USAGE },
  alike("cerebras", "https://api.cerebras.ai/v1"),
  alike("fireworks", "https://api.fireworks.ai/inference/v1"),
  alike("baseten", "https://inference.baseten.co/v1"),
  telling("parallel", "https://api.parallel.ai"),
  {
    // Chats with every maker's models are below `/v1`; the path of a model leads to the provider's own inference.
    ...alike("huggingface", HUGGING_FACE),
    modelInPath: /^\/(?:hf-inference\/)?(?:models\/)?(?!v1\/|models\/|chat\/)([^/]+\/[^/]+)/,
    place: (rest) => ({ origin: HUGGING_FACE, path: huggingFacePath(rest) }),
  },
  plain("replicate", "https://api.replicate.com/v1"),
  plain("fal", "https://fal.run"),
  plain("ideogram", "https://api.ideogram.ai"),
  plain("cartesia", "https://api.cartesia.ai"),
  plain("deepgram", "https://api.deepgram.com/v1"),
  plain("elevenlabs", "https://api.elevenlabs.io/v1"),
];

/** The provider at the address, if it speaks OpenAI's dialect. */
export const alikeAt = (origin: string): Provider | undefined =>
  ROWS.find(({ baseAddress, chatPaths }) => chatPaths === CHAT && new URL(baseAddress).origin === origin);

/** Every provider the gateway knows, by name. */
export const PROVIDERS: ReadonlyMap<string, Provider> = new Map(
  ROWS.map((provider) => {
    const prefix = withoutEnd(new URL(provider.baseAddress).pathname, "/");
    const isMore = prefix !== "" && prefix !== `/${provider.versionSegment}`;
    return [provider.name, isMore ? { ...provider, basePrefix: prefix } : provider];
  }),
);

/** A provider with its address. */
export interface Upstream {
  readonly provider: Provider;
  /** `https://api.openai.com` */
  readonly origin: string;
  /** Path of the base address without a trailing slash: `/v1`. */
  readonly basePath: string;
  /** The operator named another address, which gets all requests for the provider. */
  readonly isReplaced: boolean;
}

/** Providers by their names in the path, with their addresses in this installation. */
export interface Upstreams {
  find(accountId: string, provider: string): Upstream | undefined;
}

/**
 * `custom`: providers beside the table. Throws RangeError for an address that is not http or https, or for an unknown
 * provider name.
 */
export function createUpstreams(overrides: Readonly<Record<string, string>>, custom?: Upstreams): Upstreams {
  const unknown = Object.keys(overrides).find((name) => !PROVIDERS.has(name));
  if (unknown !== undefined) throw new RangeError(`unknown provider: ${unknown} (known: ${[...PROVIDERS.keys()].join(", ")})`);
  const builtIn = new Map(
    Array.from(PROVIDERS.values(), (provider) => {
      const replaced = overrides[provider.name];
      const url = URL.parse(replaced ?? provider.baseAddress);
      if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
        throw new RangeError(`not a valid base URL for ${provider.name}`);
      const basePath = withoutEnd(url.pathname, "/");
      return [provider.name, { provider, origin: url.origin, basePath, isReplaced: replaced !== undefined }];
    }),
  );
  return { find: (accountId, provider) => builtIn.get(provider) ?? custom?.find(accountId, provider) };
}

/** The message for a request whose path has no address at the provider. */
export const pathAdvice = ({ provider }: Upstream): string => `A path of ${provider.name} must start with ${provider.pathForm ?? "/"}`;

/** The address of a request with this path; undefined if the path lacks a part that the provider needs. */
export function requestAddressOf(upstream: Upstream, rest: string): RequestAddress | undefined {
  const { provider, origin, basePath, isReplaced } = upstream;
  if (provider.place === undefined) return { origin, path: upstreamPath(upstream, rest) };
  const place = provider.place(rest);
  return place === undefined || !isReplaced ? place : { origin, path: basePath + place.path };
}

/**
 * The path below the version: `/chat/completions`, `/v1/chat/completions` and `/openai/v1/chat/completions` give the first,
 * and so does a path that repeats these parts, since a base URL may have them as well as what the client appends.
 */
export function pathBelowVersion({ basePrefix, versionSegment }: Provider, rest: string): string {
  const prefixes = basePrefix === undefined ? [`/${versionSegment}`] : [basePrefix, `/${versionSegment}`];
  for (let below = rest; ;) {
    const prefix = prefixes.find((known) => below.startsWith(`${known}/`));
    if (prefix === undefined) return below;
    below = below.slice(prefix.length);
  }
}

/** The path at the provider. A version that the base address or the path already has is not repeated. */
export function upstreamPath({ basePath, provider }: Upstream, rest: string): string {
  const version = `/${provider.versionSegment}`;
  if (basePath.endsWith(version)) return basePath + pathBelowVersion(provider, rest) || "/";
  const isRepeated = rest.startsWith(`${version}${version}/`);
  return basePath + (isRepeated ? version + pathBelowVersion(provider, rest) : rest) || "/";
}
