import type { Configuration } from "openid-client";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { fetchFromProvider, isSafeAddress, PROVIDER_MS } from "./provider-fetch.ts";

/** A company's provider of sign-in (OpenID Connect), as the operator has configured it. */
export interface ProviderConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Read at each discovery, because a file may have a new one. */
  clientSecret(): string;
  /** Lower case; empty: any. */
  readonly emailDomains: readonly string[];
  /** On the button: `Sign in with NAME`. */
  readonly name: string;
  /** Where the provider sends browsers back to. */
  readonly redirectUri: string;
  /** Milliseconds for one request. */
  readonly requestMs?: number;
}

/** Values of a sign-in, kept until the browser comes back. */
export interface ProviderRound {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A person as the provider knows them. */
export interface ProviderIdentity {
  readonly subject: string;
  /** Lower case; null if the provider has no e-mail address, or has not verified it. */
  readonly email: string | null;
}

/** The authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core 1.0 §3.1). */
export interface Provider {
  /** Where to send the browser. Throws `provider_unavailable`. */
  begin(): Promise<{ readonly url: string; readonly round: ProviderRound }>;
  /** Whom the provider has signed in. `query`: of the browser's return. Throws `provider_refused` or `provider_unavailable`. */
  finish(query: string, round: ProviderRound): Promise<ProviderIdentity>;
}

type Library = typeof import("openid-client");

/** Keys and addresses of the provider are read again after this time. */
const DISCOVERED_MS = 3_600_000;

export function createProvider(config: ProviderConfig, clock: Clock): Provider {
  const requestMs = config.requestMs ?? PROVIDER_MS;
  let known: { readonly found: Promise<Configuration>; readonly endsMs: number } | undefined;

  async function discover(library: Library): Promise<Configuration> {
    const issuer = new URL(config.issuer);
    const found = await library.discovery(
      issuer,
      config.clientId,
      { client_secret: config.clientSecret() },
      library.ClientSecretBasic(config.clientSecret()),
      {
        [library.customFetch]: fetchFromProvider(requestMs) as never,
        timeout: requestMs / 1000,
        execute: [
          library.enableNonRepudiationChecks,
          ...(issuer.protocol === "http:" && isSafeAddress(issuer) ? [library.allowInsecureRequests] : []),
        ],
      },
    );
    return found;
  }

  async function configuration(library: Library): Promise<Configuration> {
    const nowMs = clock.monotonicMs();
    if (known === undefined || known.endsMs <= nowMs) {
      const found = discover(library);
      known = { found, endsMs: nowMs + DISCOVERED_MS };
      found.catch(() => (known = undefined));
    }
    return known.found.catch((error: unknown) => {
      throw new PlatformError("provider_unavailable", { detail: reasonOf(error), cause: error });
    });
  }

  return {
    begin: async () => {
      // Loaded on demand, because most installations have no provider.
      const library = await import("openid-client");
      const found = await configuration(library);
      const round = { state: library.randomState(), nonce: library.randomNonce(), verifier: library.randomPKCECodeVerifier() };
      const url = library.buildAuthorizationUrl(found, {
        redirect_uri: config.redirectUri,
        scope: "openid email",
        response_type: "code",
        state: round.state,
        nonce: round.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(round.verifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, round };
    },
    finish: async (query, { state, nonce, verifier }) => {
      const library = await import("openid-client");
      const found = await configuration(library);
      const back = new URL(config.redirectUri);
      back.search = query;
      try {
        const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
        const tokens = await library.authorizationCodeGrant(found, back, checks);
        const claims = tokens.claims();
        if (claims === undefined) throw new Error("the provider sent no ID token");
        const said =
          claims["email"] === undefined && found.serverMetadata().userinfo_endpoint !== undefined
            ? await library.fetchUserInfo(found, tokens.access_token, claims.sub)
            : claims;
        const email = said["email_verified"] === true && typeof said["email"] === "string" ? said["email"].toLowerCase() : null;
        return { subject: claims.sub, email };
      } catch (error) {
        // Keys may have changed.
        known = undefined;
        throw new PlatformError(isUnreachable(error) ? "provider_unavailable" : "provider_refused", {
          detail: reasonOf(error),
          cause: error,
        });
      }
    },
  };
}

/** For the operator's log: without values of the protocol. */
function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let at = error; at instanceof Error && reasons.length < 4; at = at.cause) {
    const { code } = at as { code?: unknown };
    reasons.push(typeof code === "string" ? `${at.message} (${code})` : at.message);
  }
  return reasons.join(": ");
}

/** Whether no answer came, as opposed to one that does not hold. */
function isUnreachable(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth++) {
    if (at.name === "TimeoutError" || at.name === "AbortError" || at.message === "fetch failed") return true;
  }
  return false;
}
