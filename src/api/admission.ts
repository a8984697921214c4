import type { IncomingHttpHeaders } from "node:http";
import type { LimitName, Resolved, Route } from "./route.ts";
import type { Actor, Call } from "#control/call.ts";
import { ownAccount } from "#control/access/grants.ts";
import type { Access } from "#control/access/access.ts";
import type { Credential } from "#control/access/authenticate.ts";
import type { RequestedScope } from "#control/access/authorize.ts";
import type { Clock } from "#kernel/clock.ts";
import type { ErrorName } from "#kernel/errors/error-codes.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { type SharedLimits, UNSHARED } from "#kernel/net/shared-limits.ts";
import {
  addressKey,
  createRateLimiter,
  isBeyondGuessing,
  type RateLimitConfig,
  type RateLimiter,
  type RateLimitState,
} from "#kernel/net/rate-limiter.ts";
import { readCredential, siteOf } from "./auth.ts";
import { assertNoForeignPage, assertOwnPage } from "#api/dashboard/session-cookie.ts";
import { checkIdentifiers } from "./identifiers.ts";
import { readReason } from "./change-reason.ts";
import { rateHeaders, rateMessage } from "./rate-limit.ts";

/** A request that may go on to its handler. */
export interface Admitted {
  readonly call: Call;
  readonly resolved: Resolved;
  /** Whether the same credential would be admitted again: unbounded answers may outlive its grants. */
  stillAllowed(): Promise<boolean>;
}

export interface AdmissionRequest {
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  readonly requestId: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** Adds headers to the answer, whatever its outcome. */
  addHeaders(headers: Readonly<Record<string, string>>): void;
}

/** Authenticates, counts and authorises one request, in this order. Throws the error for the client. */
export type Admission = (route: Route, request: AdmissionRequest) => Promise<Admitted>;

export interface AdmissionDeps {
  readonly access: Access;
  readonly clock: Clock;
  readonly rateLimit: RateLimitConfig;
  /** Limit of failed logins per form of credential and address, so that secrets cannot be guessed at speed. */
  readonly failureLimit: RateLimitConfig;
  /** Prefix of our request headers. */
  readonly vendorPrefix: string;
  /** Whether clients reach the API over TLS. */
  readonly isSecure: boolean;
  /** Limits of calls per credential to routes with separate limits. */
  readonly limits: RouteLimits;
  /** Limits that other processes with an API count, too. */
  readonly sharedLimits?: SharedLimits;
}

export function createAdmission(deps: AdmissionDeps): Admission {
  const { access, clock, rateLimit, sharedLimits = UNSHARED } = deps;
  const limiter = (config: RateLimitConfig, name: string): RateLimiter => createRateLimiter(config, clock, { limits: sharedLimits, name });
  const calls = limiter(rateLimit, "calls");
  const limitOfOwner: RateLimitConfig = {
    get requests() {
      return rateLimit.requests * SHARES_OF_OWNER;
    },
    get periodSeconds() {
      return rateLimit.periodSeconds;
    },
  };
  const callsOfOwners = limiter(limitOfOwner, "owners");
  const failures = limiter(deps.failureLimit, "failures");
  const ofRoutes = new Map(
    Object.entries(deps.limits).map(([name, limit]) => [
      name,
      { config: limit.rateLimit, limiter: limiter(limit.rateLimit, `route ${name}`) },
    ]),
  );

  async function authenticate(route: Route, request: AdmissionRequest): Promise<Actor> {
    const credential = readCredential(request.headers, deps.isSecure);
    if (!(route.credentials ?? COMMON_FORMS).includes(credential.type)) throw new PlatformError("credential_form");
    if (credential.type === "session") assertOwnPage(route.method, request.headers);
    if (credential.type === "password" || credential.type === "passkey") assertNoForeignPage(request.headers);
    // Counted per form: guesses of tokens do not block an address that uses e-mail and key.
    const guesser = `${credential.type} ${addressKey(request.ip)}`;
    const isFree = isBeyondGuessing(secretOf(credential)) || access.isFamiliar(credential);
    const held = isFree ? null : failures.hold(guesser);
    const standing = held?.state ?? failures.look(guesser);
    const hasFailed = standing?.allowed === false;
    if (hasFailed && !isFree) throw tooManyFailures(standing);
    try {
      const actor = await access.authenticate(credential, request.ip);
      held?.giveBack();
      return actor;
    } catch (error) {
      const isWrong = error instanceof PlatformError && WRONG_CREDENTIALS.has(error.errorName);
      if (isWrong && held === null) failures.take(guesser);
      if (!isWrong) held?.giveBack();
      throw isWrong && hasFailed ? tooManyFailures(standing) : error;
    }
  }

  function countCall(actor: Actor, request: AdmissionRequest): void {
    const standing = calls.take(actor.id);
    if (!standing) return;
    request.addHeaders(rateHeaders(standing, rateLimit.periodSeconds));
    if (!standing.allowed) throw tooMany(standing, rateLimit);
    // A user or account has a thousand tokens if it wants.
    const together = callsOfOwners.take(actor.user_id ?? ownAccount(actor) ?? actor.id);
    if (together?.allowed === false) throw tooMany(together, limitOfOwner);
  }

  function countCallOf(route: Route, actor: Actor): void {
    const own = route.limits && ofRoutes.get(route.limits);
    const standing = own?.limiter.take(actor.id);
    if (own && standing && !standing.allowed) throw tooMany(standing, own.config);
  }

  return async (route, request) => {
    const actor = await authenticate(route, request);
    countCall(actor, request);
    checkIdentifiers(scopeParams(request.params), request.path);
    const scope = askedScope(route, request.params);
    const resolved = await access.authorize(actor, scope, route.permissions);
    countCallOf(route, actor);
    const reason = readReason(request.headers, deps.vendorPrefix);
    const stillAllowed = async (): Promise<boolean> => {
      try {
        await access.authorize(
          await access.authenticate(readCredential(request.headers, deps.isSecure), request.ip),
          scope,
          route.permissions,
        );
        return true;
      } catch (error) {
        if (error instanceof PlatformError && error.status < 500) return false;
        throw error;
      }
    };
    return {
      call: {
        actor,
        request_id: request.requestId,
        site: siteOf(request.headers, deps.isSecure),
        rev: null,
        ...(reason === undefined ? {} : { reason }),
      },
      resolved,
      stillAllowed,
    };
  };
}

/** Calls of all tokens of a user or an account together, in multiples of the limit of one. */
const SHARES_OF_OWNER = 10;

const COMMON_FORMS: NonNullable<Route["credentials"]> = ["token", "key", "session"];

/** Errors for guessed credentials. An unavailable database is not evidence about a credential. */
const WRONG_CREDENTIALS: ReadonlySet<ErrorName> = new Set<ErrorName>(["invalid_token", "unknown_key", "wrong_password", "passkey_refused"]);

/** Passwords and passkeys have separate limits, which no form of one can bypass. */
const secretOf = (credential: Credential): string =>
  credential.type === "key" ? credential.key : "secret" in credential ? credential.secret : "";

const tooManyFailures = ({ resetSeconds }: RateLimitState): PlatformError =>
  new PlatformError("rate_limited", {
    message: "Too many failed authentications from this address. Please wait.",
    headers: { "retry-after": String(resetSeconds) },
  });

const tooMany = (standing: RateLimitState, config: RateLimitConfig): PlatformError =>
  new PlatformError("rate_limited", { message: rateMessage(config), headers: { "retry-after": String(standing.resetSeconds) } });

/** The others are checked once it is known that the endpoint has not ended, because an ended one takes none of them. */
const scopeParams = (params: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(params).filter(([name]) => name === "account_id" || name === "zone_id"));

/** The scope's identifier is the path parameter of that name (api/route.ts). */
function askedScope(route: Route, params: Readonly<Record<string, string>>): RequestedScope {
  if (route.scope === "account") return { type: "account", account_id: params["account_id"] ?? "" };
  if (route.scope === "zone") return { type: "zone", zone_id: params["zone_id"] ?? "" };
  return { type: route.scope };
}

/** The operator's limits for routes that name theirs. */
export type RouteLimits = Readonly<Record<LimitName, { readonly bodyBytesMax: number; readonly rateLimit: RateLimitConfig }>>;
