import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { AcmeError } from "./acme-error.ts";
import type { AcmeClient, Authorization, Challenge, Order } from "./client.ts";
import { signingRequest } from "./signing-request.ts";

/** How the names of an order are proved. */
export type Method = "http" | "txt";

/** Must be in place before the authority checks who controls the name. */
export interface Proof {
  /** The name as in the certificate, including `*.`. */
  readonly host: string;
  readonly authorizationUrl: string;
  readonly challengeUrl: string;
  /** HTTP: the path is `/.well-known/acme-challenge/{token}`. */
  readonly token: string;
  readonly keyAuthorization: string;
  /** The authority has already accepted the proof; nothing has to be in place. */
  readonly isValid: boolean;
}

export interface PlacedOrder {
  readonly url: string;
  readonly finalizeUrl: string;
  readonly proofs: readonly Proof[];
}

/** Steps of an order: each can be repeated after a crash, and ends within its time or with the signal. */
export interface Issuance {
  place(hosts: readonly string[], method: Method, replaces: string | null, signal: AbortSignal): Promise<PlacedOrder>;
  /** Asks the authority to check the proofs; false if it has not decided in time. Throws AcmeError if it refuses. */
  prove(order: PlacedOrder, signal: AbortSignal): Promise<boolean>;
  /** The chain in PEM, or null if it is not ready in time. `privateKey` is the certificate's key, PKCS #8 PEM. */
  complete(order: PlacedOrder, hosts: readonly string[], privateKey: string, signal: AbortSignal): Promise<string | null>;
}

/** The value, or the time that the authority wants to pass before the next request. */
type Seen<T> = { readonly value: T } | { readonly againMs: number | null };

const CHALLENGE_TYPE: Readonly<Record<Method, string>> = { http: "http-01", txt: "dns-01" };
const POLL_FIRST_MS = 100;
const POLL_MS_MAX = 5_000;

/** Name of the TXT record that proves the name, with or without `*.` (RFC 8555 §8.4). */
export const txtName = (host: string): string => `_acme-challenge.${host.replace(/^\*\./, "")}`;

/** Content of that record. */
export const txtValue = (keyAuthorization: string): string => createHash("sha256").update(keyAuthorization).digest("base64url");

/** Address of the page that proves the name (RFC 8555 §8.3). */
export const httpUrl = (host: string, token: string): string => `http://${host}${CHALLENGE_PATH}${token}`;

export const CHALLENGE_PATH = "/.well-known/acme-challenge/";

export function createIssuance(deps: { readonly client: AcmeClient; readonly pollTimeoutMs: number; nowMs(): number }): Issuance {
  const { client } = deps;

  /** Polls at growing intervals until it has a value or the time is over. */
  const poll = async <T>(look: () => Promise<Seen<T>>, signal: AbortSignal): Promise<T | null> => {
    const endMs = deps.nowMs() + deps.pollTimeoutMs;
    for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MS_MAX)) {
      const seen = await look();
      if ("value" in seen) return seen.value;
      const nextMs = Math.max(pauseMs, Math.min(seen.againMs ?? 0, POLL_MS_MAX));
      if (deps.nowMs() + nextMs > endMs) return null;
      await wait(nextMs, undefined, { signal });
    }
  };

  const proofOf = async (url: string, hosts: readonly string[], method: Method, signal: AbortSignal): Promise<Proof> => {
    const authorization = await client.authorization(url, signal);
    const challenge = authorization.challenges.find(({ type }) => type === CHALLENGE_TYPE[method]);
    const host = authorization.isWildcard ? `*.${authorization.host}` : authorization.host;
    const isValid = authorization.status === "valid";
    // Proofs of other names would be shown for sites that have nothing to do with the order.
    if (!hosts.includes(host)) throw new AcmeError({ type: "malformed_answer", detail: `${host} was not ordered` });
    if (!isValid && (challenge === undefined || challenge.token === ""))
      throw new AcmeError({ type: "malformed_answer", detail: `the authority does not validate ${host} by ${CHALLENGE_TYPE[method]}` });
    const token = challenge?.token ?? "";
    const keyAuthorization = token === "" ? "" : client.keyAuthorization(token);
    return { host, authorizationUrl: url, challengeUrl: challenge?.url ?? "", token, keyAuthorization, isValid };
  };

  return {
    place: async (hosts, method, replaces, signal) => {
      const order = await client.newOrder(hosts, replaces, signal);
      if (order.status === "invalid") throw refusalOf(order);
      if (order.authorizations.length > hosts.length)
        throw new AcmeError({ type: "malformed_answer", detail: "the authority wants more proofs than names were ordered" });
      const proofs: Proof[] = [];
      for (const url of order.authorizations) proofs.push(await proofOf(url, hosts, method, signal));
      return { url: order.url, finalizeUrl: order.finalize, proofs };
    },
    prove: async ({ proofs }, signal) => {
      for (const proof of proofs) {
        const proved = await poll(async (): Promise<Seen<true>> => {
          const authorization = await client.authorization(proof.authorizationUrl, signal);
          if (authorization.status === "valid") return { value: true };
          const challenge = authorization.challenges.find(({ url }) => url === proof.challengeUrl);
          if (authorization.status !== "pending") throw failureOf(proof.host, authorization, challenge);
          // Asks only once: a challenge that is already being checked may refuse a second request.
          if (challenge?.status === "pending") await client.respond(challenge.url, signal);
          return { againMs: authorization.retryAfterMs };
        }, signal);
        if (proved === null) return false;
      }
      return true;
    },
    complete: (placed, hosts, privateKey, signal) =>
      poll(async (): Promise<Seen<string>> => {
        const order = await client.order(placed.url, signal);
        if (order.status === "invalid") throw refusalOf(order);
        if (order.status === "valid" && order.certificate !== null) return { value: await client.certificate(order.certificate, signal) };
        if (order.status === "ready") await client.finalize(placed.finalizeUrl, await signingRequest(hosts, privateKey), signal);
        return { againMs: order.retryAfterMs };
      }, signal),
  };
}

const refusalOf = (order: Order): AcmeError =>
  new AcmeError(order.error ?? { type: "orderInvalid", detail: "the authority gave up the order" });

function failureOf(host: string, authorization: Authorization, challenge: Challenge | undefined): AcmeError {
  const problem = challenge?.error ?? { type: "unauthorized", detail: `the authorization is ${authorization.status}` };
  return new AcmeError({ type: problem.type, detail: `${host}: ${problem.detail}` });
}
