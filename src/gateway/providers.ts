/** Tokens that one answer cost; null where the provider did not say. */
export interface Usage {
  readonly tokensIn: number | null;
  readonly tokensOut: number | null;
}

/** How one provider is reached, and how its requests and answers are read. */
export interface Provider {
  /** As it stands in the gateway's path. */
  readonly name: string;
  /** Where it is reached unless the operator says otherwise; the rest of the path is appended. */
  readonly baseAddress: string;
  /** A version that the rest of the path may repeat: clients send `/v1/chat/completions` as well as `/chat/completions`. */
  readonly versionSegment: string;
  /** Paths, below the version, whose body must be a JSON object with a model (reference: code 2019). */
  readonly chatPaths: ReadonlySet<string>;
  /** Request header that carries the provider's own credential; it is passed on as it is (SPEC 5.1). */
  readonly credentialHeader: string;
  /** Reads the value of the answer's `usage` key. */
  readUsage(usage: Readonly<Record<string, unknown>>): Usage;
}

const tokens = (value: unknown): number | null => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null);

/** Every provider the gateway knows, by name. */
export const PROVIDERS: ReadonlyMap<string, Provider> = new Map(
  [
    {
      name: "openai",
      baseAddress: "https://api.openai.com/v1",
      versionSegment: "v1",
      chatPaths: new Set(["/chat/completions"]),
      credentialHeader: "authorization",
      // Chat completions and embeddings name them one way, responses the other.
      readUsage: (usage: Readonly<Record<string, unknown>>): Usage => ({
        tokensIn: tokens(usage["prompt_tokens"] ?? usage["input_tokens"]),
        tokensOut: tokens(usage["completion_tokens"] ?? usage["output_tokens"]),
      }),
    },
  ].map((provider) => [provider.name, provider]),
);

/** Where a provider's requests go. */
export interface Upstream {
  readonly provider: Provider;
  /** `https://api.openai.com` */
  readonly origin: string;
  /** Path of the base address without a trailing slash: `/v1`. */
  readonly basePath: string;
}

/** Throws RangeError for an address that is not http or https, or for a name that is in no row. */
export function createUpstreams(overrides: Readonly<Record<string, string>>): ReadonlyMap<string, Upstream> {
  const unknown = Object.keys(overrides).find((name) => !PROVIDERS.has(name));
  if (unknown !== undefined) throw new RangeError(`no such provider: ${unknown} (known: ${[...PROVIDERS.keys()].join(", ")})`);
  return new Map(
    Array.from(PROVIDERS.values(), (provider) => {
      const url = URL.parse(overrides[provider.name] ?? provider.baseAddress);
      if (url === null || (url.protocol !== "http:" && url.protocol !== "https:"))
        throw new RangeError(`not a base address for ${provider.name}`);
      return [provider.name, { provider, origin: url.origin, basePath: url.pathname.replace(/\/+$/, "") }];
    }),
  );
}

/** The path below the version: both `/chat/completions` and `/v1/chat/completions` give the former. */
export function pathBelowVersion(provider: Provider, rest: string): string {
  const version = `/${provider.versionSegment}`;
  return rest.startsWith(`${version}/`) ? rest.slice(version.length) : rest;
}

/** The path to ask the provider for. A version that the base address has already is not repeated. */
export function upstreamPath(upstream: Upstream, rest: string): string {
  const hasVersion = upstream.basePath.endsWith(`/${upstream.provider.versionSegment}`);
  return upstream.basePath + (hasVersion ? pathBelowVersion(upstream.provider, rest) : rest) || "/";
}
