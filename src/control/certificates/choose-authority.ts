import type { Authorities, OpenAuthority } from "#acme/accounts.ts";
import { type AuthorityName, authorityNamed, refusedName } from "#acme/authorities.ts";
import { checkCaa, type LookUpCaa } from "#acme/caa-lookup.ts";
import type { CaaQuestion } from "#acme/caa.ts";
import type { Method } from "#acme/issuance.ts";

/** An issuer of certificates; `local` is the installation's own authority. */
export type IssuerName = AuthorityName | "local";

/** An order that is not sent to any authority, at least for now. */
export class OrderRefused extends Error {
  /** `caa`: CAA records forbid it; `terms`: the authority's rules or the operator's configuration exclude it. */
  readonly kind: "caa" | "terms";

  constructor(kind: OrderRefused["kind"], message: string) {
    super(message);
    this.name = "OrderRefused";
    this.kind = kind;
  }
}

/** Null: the installation's own authority. */
export type ChooseAuthority = (wanted: Wanted, signal: AbortSignal) => Promise<OpenAuthority | null>;

export interface Wanted {
  /** The account that requests the certificate. */
  readonly account_id: string;
  readonly hosts: readonly string[];
  readonly method: Method;
  /** An authority's name; empty: the first of `preference` that may issue (SPEC 9, the notice of 2024-09-09). */
  readonly requested: string;
  readonly preference: readonly IssuerName[];
}

/** Throws OrderRefused, or the AcmeError of an authority that cannot be opened. */
export function createChooseAuthority(deps: {
  readonly authorities: Authorities;
  lookUpCaa(accountId: string): LookUpCaa;
}): ChooseAuthority {
  // If the lookup fails, the authority itself must check CAA (RFC 8659 §3).
  const assertAllowed = async (wanted: Wanted, question: Omit<CaaQuestion, "isWildcard">, signal: AbortSignal): Promise<void> => {
    const lookUp = deps.lookUpCaa(wanted.account_id);
    for (const host of wanted.hosts) {
      const verdict = await checkCaa(lookUp, host, question, signal);
      if (verdict.kind === "refused") throw new OrderRefused("caa", verdict.reason);
    }
  };
  const open = async (name: AuthorityName, wanted: Wanted, signal: AbortSignal): Promise<OpenAuthority> => {
    const { hosts, method } = wanted;
    const authority = authorityNamed(name)!;
    const refused = refusedName(authority, hosts);
    if (refused !== null) throw new OrderRefused("terms", refused);
    const acmeMethod = method === "http" ? "http-01" : "dns-01";
    // First without the account, so that no account is created if nothing can be issued.
    await assertAllowed(wanted, { authority, method: acmeMethod }, signal);
    const opened = await deps.authorities.open(name, signal);
    await assertAllowed(wanted, { authority, method: acmeMethod, accountUri: opened.accountUrl }, signal);
    return opened;
  };

  return async (wanted, signal) => {
    const { requested, preference } = wanted;
    const named = authorityNamed(requested);
    if (named !== undefined && preference.includes(named.name)) return open(named.name, wanted, signal);
    if (requested !== "" && requested !== "local") {
      if (named === undefined || !preference.includes("local"))
        throw new OrderRefused("terms", `this installation has no account at ${requested}`);
      // The local authority replaces those that a standalone machine cannot reach, and respects the domain's CAA records
      // for them.
      await assertAllowed(wanted, { authority: named }, signal);
      return null;
    }
    let refusal: OrderRefused | null = null;
    for (const name of requested === "local" ? ["local" as const] : preference) {
      if (name === "local") return null;
      try {
        return await open(name, wanted, signal);
      } catch (error) {
        if (!(error instanceof OrderRefused)) throw error;
        refusal ??= error;
      }
    }
    throw refusal ?? new OrderRefused("terms", "this installation has no certificate authority configured");
  };
}
