import type { Sealer } from "#kernel/crypto/seal.ts";
import { withoutEnd } from "#kernel/trim.ts";
import { createValuesByName } from "#kernel/values-by-name.ts";
import type { CustomCostEntry, CustomProviderEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import { alikeAt, type Provider, type Upstream, type Upstreams } from "./providers.ts";
import { isSecretName } from "#gateway/http/secret-header.ts";
import { OPENAI_USAGE, type Usage } from "#gateway/usage/usage-formats.ts";

/** Prefix of the slug in the names of custom providers. */
export const CUSTOM_PREFIX = "custom-";

/** Providers that accounts added, by account and slug. */
export function createCustomProviders({
  replica,
  sealer,
}: {
  readonly replica: Replica;
  readonly sealer: Pick<Sealer, "open"> | undefined;
}): Upstreams {
  const byId = new Map<string, Upstream>();
  const byName = createValuesByName<Upstream>();
  const nameOf = ({ account_id, slug }: CustomProviderEntry): string => `${account_id}/${CUSTOM_PREFIX}${slug}`;
  followKind(replica, "custom_provider", {
    clear: () => [byId, byName].forEach((index) => index.clear()),
    put: (id, entry) => {
      const upstream = upstreamOf(id, entry, sealer);
      if (upstream === undefined) return;
      byId.set(id, upstream);
      byName.add(nameOf(entry), upstream);
    },
    remove: (id, entry) => {
      const upstream = byId.get(id);
      if (upstream !== undefined) byName.remove(nameOf(entry), upstream);
      byId.delete(id);
    },
  });
  return { find: (accountId, name) => byName.newest(`${accountId}/${name}`) };
}

const CHAT: ReadonlySet<string> = new Set(["/chat/completions", "/v1/chat/completions"]);

/** Undefined for a provider whose address or fields cannot be read: without them, a request could go to the wrong place. */
function upstreamOf(id: string, entry: CustomProviderEntry, sealer: Pick<Sealer, "open"> | undefined): Upstream | undefined {
  const url = URL.parse(entry.base_url);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  try {
    const headers =
      entry.headers === undefined
        ? {}
        : (JSON.parse(sealer?.open(entry.headers, `custom-provider:${id}`).toString() ?? "") as Record<string, string>);
    const known = alikeAt(url.origin);
    const provider: Provider = {
      name: CUSTOM_PREFIX + entry.slug,
      baseAddress: entry.base_url,
      // The rest of the path is appended to the address as it is.
      versionSegment: "",
      chatPaths: CHAT,
      // A known provider under another name reports the same usage and accepts the same options.
      usage: known?.usage ?? OPENAI_USAGE,
      isAskedForUsage: known?.isAskedForUsage ?? true,
      isGuarded: true,
      headers: Object.entries(headers).flat(),
      isKeyed: Object.keys(headers).some((name) => isSecretName(name.toLowerCase())),
      ...(entry.costs.length === 0 ? {} : { price: (model, usage) => priceOf(entry.costs, model, usage) }),
    };
    return { provider, origin: url.origin, basePath: withoutEnd(url.pathname, "/"), isReplaced: false };
  } catch {
    return undefined;
  }
}

const RULES: Readonly<Record<CustomCostEntry["rule"], (model: string, text: string) => boolean>> = {
  equals: (model, text) => model === text,
  "starts-with": (model, text) => model.startsWith(text),
  contains: (model, text) => model.includes(text),
};

/** Null if no rule matches the model, or no tokens are known. */
function priceOf(costs: readonly CustomCostEntry[], model: string, usage: Usage): number | null {
  const cost = costs.find(({ model: text, rule }) => RULES[rule](model, text));
  if (cost === undefined || (usage.tokensIn === null && usage.tokensOut === null)) return null;
  const read = usage.tokensCacheRead ?? 0;
  const written = usage.tokensCacheWrite ?? 0;
  const thought = Math.min(usage.tokensReasoning ?? 0, usage.tokensOut ?? 0);
  const plain = Math.max(0, (usage.tokensIn ?? 0) - read - written);
  const sum =
    plain * cost.input +
    read * (cost.cache_read ?? cost.input) +
    written * (cost.cache_write ?? cost.input) +
    thought * (cost.reasoning ?? cost.output) +
    ((usage.tokensOut ?? 0) - thought) * cost.output;
  return Math.round(sum * 1e12) / 1e12;
}
