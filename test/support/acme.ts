import { type AccountStore, type AuthoritiesConfig, createAuthorities, type StoredAccount } from "#acme/accounts.ts";
import { systemClock } from "#kernel/clock.ts";

/** Accounts that live as long as the test. */
export function memoryAccounts(): AccountStore & { readonly accounts: Map<string, StoredAccount> } {
  const accounts = new Map<string, StoredAccount>();
  return {
    accounts,
    load: async (id) => accounts.get(id) ?? null,
    create: async (id, account) => {
      if (!accounts.has(id)) accounts.set(id, account);
      return accounts.get(id)!;
    },
    setUrl: async (id, url) => void accounts.set(id, { ...accounts.get(id)!, url }),
  };
}

/** Authorities, of which Let's Encrypt is the one at `directoryUrl`. */
export function testAuthorities(
  { directoryUrl, roots = "" }: { readonly directoryUrl: string; readonly roots?: string },
  more: Partial<AuthoritiesConfig> & { readonly accounts?: AccountStore } = {},
) {
  const { accounts = memoryAccounts(), ...config } = more;
  const directories = { lets_encrypt: directoryUrl, google: directoryUrl };
  return createAuthorities({
    accounts,
    clock: systemClock,
    config: { directories, bindings: {}, email: "", roots, timeoutMs: 60_000, pollTimeoutMs: 120_000, ...config },
  });
}
