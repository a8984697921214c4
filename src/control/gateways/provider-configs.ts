import type { Sealer } from "#kernel/crypto/seal.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { isModelProvider } from "#kernel/model-providers.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type { ProviderConfig, ProviderConfigCreate } from "#model/gateways/gateway-provider.ts";
import { gatewayObjectsAt, type GatewayObjectRow } from "#store/gateways/gateway-objects.ts";
import { providerKeyEntry, type StoredProviderConfig } from "./object-entries.ts";
import {
  changedRow,
  invalidInput,
  loadObject,
  type ObjectDeps,
  objectRow,
  pageOf,
  requireGateway,
  valueOf,
  writeObject,
} from "./objects.ts";

/** Provider keys of a gateway. Responses contain only the ends of a key. */
export interface ProviderConfigs {
  list(accountId: string, gatewayId: string, page: PageRequest): Promise<Page<ProviderConfig>>;
  /** Throws `gateway_input_invalid` if the provider already has a key with the alias. */
  create(call: Call, accountId: string, gatewayId: string, body: ProviderConfigCreate): Promise<ProviderConfig>;
  /** Replaces the key. */
  update(call: Call, accountId: string, gatewayId: string, id: string, secret: string): Promise<ProviderConfig>;
  delete(call: Call, accountId: string, gatewayId: string, id: string): Promise<ProviderConfig>;
}

const PERIOD_SECONDS = 60;
const CONFIGS_MAX = 200;

export function createProviderConfigs(deps: ObjectDeps & { readonly sealer: Sealer }): ProviderConfigs {
  const { store, sealer } = deps;
  const place = (account_id: string, gateway_id: string) => ({ account_id, gateway_id, kind: "provider_config", parent_id: "" }) as const;
  const sealed = (id: string, secret: string) => ({ secret: sealer.seal(secret, `provider-key:${id}`), secret_preview: previewOf(secret) });

  return {
    list: async (accountId, gatewayId, page) => {
      await requireGateway(store.read, accountId, gatewayId);
      return pageOf((await gatewayObjectsAt(store.read, place(accountId, gatewayId))).map(viewOf), page);
    },
    create: (call, accountId, gatewayId, body) =>
      commit(deps, call, async (unit) => {
        await requireGateway(unit.db, accountId, gatewayId);
        const { secret = "", alias, provider_slug, default_config, rate_limit, rate_limit_period = PERIOD_SECONDS } = body;
        if (!isModelProvider(provider_slug)) throw invalidInput("/provider_slug", `The provider ${provider_slug} does not exist.`);
        checkSecret(provider_slug, secret);
        const others = await gatewayObjectsAt(unit.db, place(accountId, gatewayId));
        if (others.length >= CONFIGS_MAX) throw invalidInput("/alias", `A gateway can have at most ${CONFIGS_MAX} keys.`);
        const ofProvider = others.filter((row) => valueOf<StoredProviderConfig>(row).provider_slug === provider_slug);
        if (ofProvider.some((row) => valueOf<StoredProviderConfig>(row).alias === alias))
          throw invalidInput("/alias", `The gateway already has a key for ${provider_slug} with the alias ${alias}.`);
        // A provider has one default key.
        if (default_config)
          for (const before of ofProvider) {
            const value = valueOf<StoredProviderConfig>(before);
            if (!value.default_config) continue;
            const after = changedRow(deps, before, { ...value, default_config: false });
            await writeObject(unit, {
              call,
              before,
              after,
              audited: viewOf,
              ops: [{ kind: "provider_key", id: after.id, value: providerKeyEntry(after) }],
            });
          }
        const id = newId();
        const value = {
          alias,
          default_config,
          provider_slug,
          ...(rate_limit === undefined ? {} : { rate_limit }),
          rate_limit_period,
          ...sealed(id, secret),
        };
        const after = objectRow(deps, place(accountId, gatewayId), id, value);
        await writeObject(unit, {
          call,
          before: null,
          after,
          audited: viewOf,
          ops: [{ kind: "provider_key", id, value: providerKeyEntry(after) }],
        });
        return viewOf(after);
      }),
    update: (call, accountId, gatewayId, id, secret) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, place(accountId, gatewayId), id);
        const value = valueOf<StoredProviderConfig>(before);
        checkSecret(value.provider_slug, secret);
        const after = changedRow(deps, before, { ...value, ...sealed(id, secret) });
        await writeObject(unit, {
          call,
          before,
          after,
          audited: viewOf,
          ops: [{ kind: "provider_key", id, value: providerKeyEntry(after) }],
        });
        return viewOf(after);
      }),
    delete: (call, accountId, gatewayId, id) =>
      commit(deps, call, async (unit) => {
        const before = await loadObject(unit.db, place(accountId, gatewayId), id);
        await writeObject(unit, { call, before, after: null, audited: viewOf, ops: [{ kind: "provider_key", id, value: null }] });
        return viewOf(before);
      }),
  };
}

/** The first and last characters of a long key; empty for a short one. */
export const previewOf = (secret: string): string =>
  (secret.length < 16 ? "…" : `${secret.slice(0, 3)}…${secret.slice(-4)}`).replace(/[^\x20-\x7e…]/g, "");

/** Required members of a provider's key file. */
const KEY_FILES: Readonly<Record<string, readonly string[]>> = {
  "aws-bedrock": ["access_key_id", "secret_access_key"],
  "google-vertex-ai": ["client_email", "private_key"],
};

/** A key is sent in a header field, so it may only contain valid characters. */
function checkSecret(provider: string, secret: string): void {
  const members = KEY_FILES[provider];
  if (members !== undefined && secret.trimStart().startsWith("{")) {
    const missing = members.find((name) => typeof memberOf(secret, name) !== "string");
    if (missing !== undefined)
      throw invalidInput("/secret", `A key file for ${provider} must be a JSON object with ${members.join(" and ")}.`);
  } else if (!/^[\x21-\x7e]+$/.test(secret)) throw invalidInput("/secret", "A secret must be printable characters without spaces.");
}

function memberOf(text: string, name: string): unknown {
  try {
    return (JSON.parse(text) as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
}

function viewOf(row: GatewayObjectRow): ProviderConfig {
  const { secret: _, ...shown } = valueOf<StoredProviderConfig>(row);
  return { id: row.id, gateway_id: row.gateway_id, ...shown, secret_id: row.id, modified_at: row.modified_at };
}
