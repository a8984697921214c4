import { isModelProvider } from "#kernel/model-providers.ts";
import type { StoredCustomProvider } from "./object-entries.ts";
import { valueOf } from "./objects.ts";
import { gatewayObjectsAt } from "#store/gateways/gateway-objects.ts";
import type { Unit } from "#store/database/store.ts";

const CUSTOM = "custom-";

/** Whether a gateway of the account can send requests to the provider: a known one, or one of the account's own. */
export async function isReachable(db: Unit["db"], account_id: string, provider: string): Promise<boolean> {
  if (!provider.startsWith(CUSTOM)) return isModelProvider(provider) || provider === "compat";
  const own = await gatewayObjectsAt(db, { account_id, gateway_id: "", kind: "custom_provider" });
  return own.some((row) => valueOf<StoredCustomProvider>(row).slug === provider.slice(CUSTOM.length));
}
