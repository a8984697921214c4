import type { Clock } from "#kernel/clock.ts";
import { newPrivateKey, openAccountKey } from "./account-key.ts";
import { type Authority, authorityNamed, type AuthorityName } from "./authorities.ts";
import { AcmeError } from "./acme-error.ts";
import { type AcmeClient, type Binding, createAcmeClient } from "./client.ts";
import { createIssuance, type Issuance } from "./issuance.ts";
import { createTransport } from "./transport.ts";

/** An ACME account: its key as PKCS #8 PEM, and its address once the authority has given one. */
export interface StoredAccount {
  readonly privateKey: string;
  readonly url: string | null;
}

/** Stores accounts; the implementation seals the key. */
export interface AccountStore {
  load(id: string): Promise<StoredAccount | null>;
  /** Stores the first account; returns the stored one. */
  create(id: string, account: StoredAccount): Promise<StoredAccount>;
  setUrl(id: string, url: string | null): Promise<void>;
}

/** The authorities of this installation, each under its one account. */
export interface Authorities {
  /** Throws AcmeError if the authority cannot be reached or refuses us. */
  open(name: AuthorityName, signal: AbortSignal): Promise<OpenAuthority>;
  /** The authority does not know the account: next time it is created again, with the same key. */
  forgetAccount(name: AuthorityName): Promise<void>;
  close(): Promise<void>;
}

export interface OpenAuthority {
  readonly authority: Authority;
  readonly accountUrl: string;
  readonly client: AcmeClient;
  readonly issuance: Issuance;
}

export interface AuthoritiesConfig {
  /** Addresses that replace those of the table. */
  readonly directories: Readonly<Partial<Record<AuthorityName, string>>>;
  readonly bindings: Readonly<Partial<Record<AuthorityName, Binding>>>;
  /** Mail address that authorities may write to; empty for none. */
  readonly email: string;
  /** PEM of roots that the directories' servers may have, beside the usual ones. */
  readonly roots: string;
  readonly timeoutMs: number;
  readonly pollTimeoutMs: number;
}

export function createAuthorities(deps: {
  readonly accounts: AccountStore;
  readonly clock: Clock;
  readonly config: AuthoritiesConfig;
}): Authorities {
  const { accounts, clock, config } = deps;
  const nowMs = (): number => clock.monotonicMs();
  const transport = createTransport({ roots: config.roots, timeoutMs: config.timeoutMs, nowMs: () => clock.nowMs() });
  const opened = new Map<AuthorityName, Promise<OpenAuthority>>();

  const directoryOf = (name: AuthorityName): string => config.directories[name] ?? authorityNamed(name)!.directoryUrl;
  /** To an account, another directory is another authority. */
  const idOf = (name: AuthorityName): string => `${name} ${directoryOf(name)}`;

  const open = async (name: AuthorityName, signal: AbortSignal): Promise<OpenAuthority> => {
    const authority = authorityNamed(name)!;
    const [id, directoryUrl] = [idOf(name), directoryOf(name)];
    const account = (await accounts.load(id)) ?? (await accounts.create(id, { privateKey: newPrivateKey(), url: null }));
    const client = createAcmeClient({ directoryUrl, key: openAccountKey(account.privateKey), accountUrl: account.url, transport });
    const binding = config.bindings[name] ?? null;
    if (account.url === null && authority.needsBinding && binding === null && config.directories[name] === undefined)
      throw new AcmeError({ type: "externalAccountRequired", detail: `${name} needs certificates.bindings to name an account there` });
    const accountUrl = account.url ?? (await client.register(config.email === "" ? [] : [`mailto:${config.email}`], binding, signal));
    if (account.url === null) await accounts.setUrl(id, accountUrl);
    return { authority, accountUrl, client, issuance: createIssuance({ client, pollTimeoutMs: config.pollTimeoutMs, nowMs }) };
  };

  return {
    // All concurrent callers wait for one registration.
    open: (name, signal) => {
      const opening = opened.get(name) ?? open(name, signal);
      opened.set(name, opening);
      opening.catch(() => opened.delete(name));
      return opening;
    },
    forgetAccount: async (name) => {
      opened.delete(name);
      await accounts.setUrl(idOf(name), null);
    },
    close: () => transport.close(),
  };
}
