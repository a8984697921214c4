import { withoutEnd } from "#kernel/trim.ts";
import {
  ANTHROPIC_USAGE,
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

/** Where one request goes at a provider that has an address for each region or customer. */
export interface Place {
  /** `https://eu-west-1.example.com` */
  readonly origin: string;
  /** What is asked for there, without the query. */
  readonly path: string;
}

/** A request of OpenAI's shape: what the model is called, and below which path and with which query it is asked for. */
export interface CompatRequest {
  readonly model: string;
  /** `/chat/completions` or `/embeddings` */
  readonly rest: string;
  /** With its question mark, or empty. */
  readonly query: string;
}

/** How one provider is reached, and how its requests and answers are read. The client's own credential is passed on as it is (SPEC 5.1). */
export interface Provider {
  /** As it stands in the gateway's path. */
  readonly name: string;
  /** Where it is reached unless the operator says otherwise; the rest of the path is appended. */
  readonly baseAddress: string;
  /** The path of the base address, where it is more than the version: clients whose own base lacks it send it with the rest. */
  readonly basePrefix?: string;
  /** A version that the rest of the path may repeat: clients send `/v1/chat/completions` as well as `/chat/completions`. */
  readonly versionSegment: string;
  /** Paths, below the version, whose body must be a JSON object with a model (reference: code 2019). */
  readonly chatPaths: ReadonlySet<string>;
  readonly usage: UsageShape;
  /** The model that the path names, where bodies name none. */
  readonly modelInPath?: RegExp;
  /** Tells token counts of a streamed chat completion only when it is asked: `stream_options.include_usage`. */
  readonly isAskedForUsage?: boolean;
  /** Credentials cover the body, so that it must be there before anything is sent. */
  readonly isSigned?: boolean;
  /** Added by a customer: its address must be one that may be reached from here. */
  readonly isGuarded?: boolean;
  /** Fields of every request, names and values by turns. */
  readonly headers?: readonly string[];
  /** A credential is among these. */
  readonly isKeyed?: boolean;
  /** US dollars, where the provider's owner says so instead of the table; null where nobody knows. */
  readonly price?: (model: string, usage: Usage) => number | null;
  /** Where the provider takes OpenAI's dialect, where that is not right below its base address; undefined: the model says too little. */
  readonly compat?: (asked: CompatRequest) => CompatRequest | undefined;
  /** Finds the address in the path; undefined where the path has none. */
  readonly place?: (rest: string) => Place | undefined;
  /** What such a path looks like, for people who wrote another one. */
  readonly pathForm?: string;
}

const CHAT = new Set(["/chat/completions"]);
const NONE: ReadonlySet<string> = new Set();

/** Providers that speak the dialect of OpenAI. */
const alike = (name: string, baseAddress: string): Provider => ({
  name,
  baseAddress,
  versionSegment: "v1",
  chatPaths: CHAT,
  usage: OPENAI_USAGE,
  isAskedForUsage: true,
});

/** Providers like these that tell the counts of every stream, and know no such question. */
const telling = (name: string, baseAddress: string): Provider => ({ ...alike(name, baseAddress), isAskedForUsage: false });

/** Providers of images, speech and predictions. */
const plain = (name: string, baseAddress: string): Provider => ({
  name,
  baseAddress,
  versionSegment: "v1",
  chatPaths: NONE,
  usage: NO_USAGE_SHAPE,
});

/** The latest that knows every field of a chat completion, for requests that name none. */
const AZURE_VERSION = "2025-04-01-preview";
const AZURE_PATH = /^\/([a-z0-9][a-z0-9-]{0,62})\/([A-Za-z0-9._-]{1,64})(\/.*)?$/i;
const AZURE_OWN = /^\/(?:deployments|v1)\//;
const VERTEX_PATH = /^(?:\/v1(?:beta1)?)?\/projects\/[^/]+\/locations\/([a-z0-9-]{1,40})\//;
/** Express mode: a key stands for a project, and there is one address for every place. */
const VERTEX_EXPRESS_PATH = /^(?:\/v1(?:beta1)?)?\/publishers\/[^/]+\/models\//;
// linear: pumped
const BEDROCK_PATH = /^\/(bedrock-[a-z-]{1,30}|bedrock)\/([a-z]{2}(?:-[a-z]+){1,3}-\d)(\/.*)$/;

const HUGGING_FACE = "https://router.huggingface.co";
/** Where the router has what is asked for; other paths name the provider behind it (`/together/v1/…`), and stay as they are. */
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
    // `/{resource}/{deployment}/chat/completions`, of which the provider makes `/openai/deployments/{deployment}/…`.
    name: "azure-openai",
    baseAddress: "https://openai.azure.com",
    versionSegment: "v1",
    chatPaths: NONE,
    usage: OPENAI_USAGE,
    isAskedForUsage: true,
    // The provider's own clients write `/{resource}/openai/deployments/{deployment}/…` or `/{resource}/openai/v1/…`.
    modelInPath: /^\/[^/]+\/(?:openai\/deployments\/)?(?!openai\/v1\/)([^/]+)/,
    place: (rest) => {
      const [, resource, deployment, below = ""] = AZURE_PATH.exec(rest) ?? [];
      if (resource === undefined || deployment === undefined) return undefined;
      const path = deployment === "openai" && AZURE_OWN.test(below) ? `/openai${below}` : `/openai/deployments/${deployment}${below}`;
      return { origin: `https://${resource.toLowerCase()}.openai.azure.com`, path };
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
  telling("mistral", "https://api.mistral.ai/v1"),
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
  { ...alike("openrouter", "https://openrouter.ai/api/v1"), usage: OPENROUTER_USAGE },
  { ...alike("grok", "https://api.x.ai/v1"), usage: XAI_USAGE },
  { ...alike("xai", "https://api.x.ai/v1"), usage: XAI_USAGE },
  alike("cerebras", "https://api.cerebras.ai/v1"),
  alike("fireworks", "https://api.fireworks.ai/inference/v1"),
  alike("baseten", "https://inference.baseten.co/v1"),
  telling("parallel", "https://api.parallel.ai"),
  {
    // Chats of every maker are asked below `/v1`; a model's own path leads to the provider's own inference.
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

/** The provider at the address, where it is one that speaks the dialect of OpenAI. */
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

/** Where a provider's requests go. */
export interface Upstream {
  readonly provider: Provider;
  /** `https://api.openai.com` */
  readonly origin: string;
  /** Path of the base address without a trailing slash: `/v1`. */
  readonly basePath: string;
  /** The operator has named another address, to which all of the provider's requests go. */
  readonly isReplaced: boolean;
}

/** Providers by their names in the path, at the addresses that are in force here. */
export interface Upstreams {
  find(accountId: string, provider: string): Upstream | undefined;
}

/** `custom`: those beside the table. Throws RangeError for an address that is not http or https, or for a name that is in no row. */
export function createUpstreams(overrides: Readonly<Record<string, string>>, custom?: Upstreams): Upstreams {
  const unknown = Object.keys(overrides).find((name) => !PROVIDERS.has(name));
  if (unknown !== undefined) throw new RangeError(`no such provider: ${unknown} (known: ${[...PROVIDERS.keys()].join(", ")})`);
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

/** Told to whoever asks a provider under a path that leads nowhere. */
export const pathAdvice = ({ provider }: Upstream): string => `A path of ${provider.name} must start with ${provider.pathForm ?? "/"}`;

/** Where the request with this path goes; undefined where the provider needs more in it than there is. */
export function placeOf(upstream: Upstream, rest: string): Place | undefined {
  const { provider, origin, basePath, isReplaced } = upstream;
  if (provider.place === undefined) return { origin, path: upstreamPath(upstream, rest) };
  const place = provider.place(rest);
  return place === undefined || !isReplaced ? place : { origin, path: basePath + place.path };
}

/** The path below the version: `/chat/completions`, `/v1/chat/completions` and `/openai/v1/chat/completions` give the first. */
export function pathBelowVersion(provider: Provider, rest: string): string {
  const { basePrefix } = provider;
  if (basePrefix !== undefined && rest.startsWith(`${basePrefix}/`)) return rest.slice(basePrefix.length);
  const version = `/${provider.versionSegment}`;
  return rest.startsWith(`${version}/`) ? rest.slice(version.length) : rest;
}

/** The path to ask the provider for. A version that the base address has already is not repeated. */
export function upstreamPath(upstream: Upstream, rest: string): string {
  const hasVersion = upstream.basePath.endsWith(`/${upstream.provider.versionSegment}`);
  return upstream.basePath + (hasVersion ? pathBelowVersion(upstream.provider, rest) : rest) || "/";
}
