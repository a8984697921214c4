import { createHmac } from "node:crypto";
import { type AccountKey, encode } from "./account-key.ts";
import { AcmeError, type AcmeProblem, problemOf, subproblemsOf } from "./acme-error.ts";
import { type Answer, assertGood, objectOf, type Transport } from "./transport.ts";

/**
 * An authority's ACME interface (RFC 8555) under one account. All methods throw AcmeError, or the reason of an aborted
 * signal.
 */
export interface AcmeClient {
  /** Creates the account, or finds the key's existing one (RFC 8555 §7.3); returns its address. */
  register(contacts: readonly string[], binding: Binding | null, signal: AbortSignal): Promise<string>;
  /** `replaces` names the certificate to renew (RFC 9773 §5), if the authority wants to know. */
  newOrder(hosts: readonly string[], replaces: string | null, signal: AbortSignal): Promise<Order>;
  order(url: string, signal: AbortSignal): Promise<Order>;
  authorization(url: string, signal: AbortSignal): Promise<Authorization>;
  /** Tells the authority that a challenge is ready to be checked. */
  respond(challengeUrl: string, signal: AbortSignal): Promise<void>;
  /** `csr` is PKCS #10 in DER. */
  finalize(url: string, csr: Uint8Array, signal: AbortSignal): Promise<Order>;
  /** The chain as PEM, leaf first. */
  certificate(url: string, signal: AbortSignal): Promise<string>;
  /** The time at which the authority wants a certificate renewed (RFC 9773 §4); null if it offers no such advice. */
  renewalInfo(certificateId: string, signal: AbortSignal): Promise<RenewalWindow | null>;
  /** The answer to a challenge's token (RFC 8555 §8.1). */
  keyAuthorization(token: string): string;
}

/** An account at the authority that the ACME account belongs to (RFC 8555 §7.3.4): `hmacKey` in base64url. */
export interface Binding {
  readonly keyId: string;
  readonly hmacKey: string;
}

export interface Order {
  readonly url: string;
  readonly status: "pending" | "ready" | "processing" | "valid" | "invalid";
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate: string | null;
  readonly error: AcmeProblem | null;
  /** Wait before the next check; null if the authority does not say. */
  readonly retryAfterMs: number | null;
}

export interface Authorization {
  /** Without the `*.` of a wildcard. */
  readonly host: string;
  readonly isWildcard: boolean;
  readonly status: "pending" | "valid" | "invalid" | "deactivated" | "expired" | "revoked";
  readonly challenges: readonly Challenge[];
  readonly retryAfterMs: number | null;
}

export interface Challenge {
  readonly type: string;
  readonly url: string;
  readonly token: string;
  readonly status: string;
  readonly error: AcmeProblem | null;
}

export interface RenewalWindow {
  readonly startMs: number;
  readonly endMs: number;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly renewalInfo: string | null;
}

export interface AcmeClientDeps {
  readonly directoryUrl: string;
  readonly key: AccountKey;
  /** Address of the account, once known. */
  readonly accountUrl: string | null;
  readonly transport: Transport;
}

/** RFC 8555 §6.5: a refused nonce says nothing against the request. Pebble refuses one in twenty. */
const NONCE_TRIES = 10;
const NONCES_KEPT = 16;
const LIST_MAX = 100;
/** RFC 9110 §4.1 recommends 8,000 for servers; authorities use some 100. Orders are stored with theirs. */
const URL_LENGTH_MAX = 2_000;
/** RFC 8555 §6.5.1: base64url, and other values must be ignored. */
const NONCE = /^[A-Za-z0-9_-]+$/;
const NONCE_LENGTH_MAX = 1_024;
/** A token is base64url (RFC 8555 §8.1): only such text may become part of a path. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

export function createAcmeClient(deps: AcmeClientDeps): AcmeClient {
  const { key } = deps;
  const { origin } = new URL(deps.directoryUrl);
  // An authority must not be able to send requests from this machine to its network, or past TLS.
  const send: Transport["send"] = async (request, signal) => {
    if (new URL(request.url).origin !== origin) throw malformed(`the authority named an address outside of ${origin}`);
    return deps.transport.send(request, signal);
  };
  const nonces: string[] = [];
  let accountUrl = deps.accountUrl;
  let loading: Promise<Directory> | undefined;

  const keepNonce = ({ nonce }: Answer): void => {
    if (isNonce(nonce) && nonces.length < NONCES_KEPT) nonces.push(nonce);
  };
  const directory = (signal: AbortSignal): Promise<Directory> =>
    (loading ??= send({ method: "GET", url: deps.directoryUrl }, signal).then((answer) => directoryOf(objectOf(answer)))).catch(
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
  const freshNonce = async (signal: AbortSignal): Promise<string> => {
    const { nonce } = await send({ method: "HEAD", url: (await directory(signal)).newNonce }, signal);
    if (!isNonce(nonce)) throw new AcmeError({ type: "malformed_answer", detail: "the authority did not send a nonce" });
    return nonce;
  };
  const post = async (
    url: string,
    payload: object | "",
    signal: AbortSignal,
    identity: object = { kid: needAccount() },
  ): Promise<Answer> => {
    for (let attempt = 1; ; attempt++) {
      const nonce = nonces.pop() ?? (await freshNonce(signal));
      const answer = await send({ method: "POST", url, body: key.sign({ ...identity, nonce, url }, payload) }, signal);
      keepNonce(answer);
      if (answer.status !== 400 || attempt === NONCE_TRIES || !isBadNonce(answer)) return answer;
    }
  };
  const needAccount = (): string => {
    if (accountUrl === null) throw new AcmeError({ type: "accountDoesNotExist", detail: "the account does not exist yet" });
    return accountUrl;
  };

  return {
    register: async (contacts, binding, signal) => {
      const url = (await directory(signal)).newAccount;
      const bound = binding === null ? {} : { externalAccountBinding: bindingOf(binding, key, url) };
      const request = { termsOfServiceAgreed: true, ...(contacts.length > 0 ? { contact: contacts } : {}), ...bound };
      const answer = await post(url, request, signal, { jwk: key.jwk });
      assertGood(answer);
      accountUrl = needUrl(answer.location, "the address of the account");
      return accountUrl;
    },
    newOrder: async (hosts, replaces, signal) => {
      const { newOrder: url, renewalInfo } = await directory(signal);
      const identifiers = hosts.map((value) => ({ type: "dns", value }));
      const answer = await post(url, { identifiers, ...(replaces !== null && renewalInfo !== null ? { replaces } : {}) }, signal);
      return orderOf(answer, objectOf(answer), needUrl(answer.location, "the address of the order"));
    },
    order: async (url, signal) => {
      const answer = await post(url, "", signal);
      return orderOf(answer, objectOf(answer), url);
    },
    authorization: async (url, signal) => {
      const answer = await post(url, "", signal);
      return authorizationOf(answer, objectOf(answer));
    },
    respond: async (url, signal) => assertGood(await post(url, {}, signal)),
    finalize: async (url, csr, signal) => {
      const answer = await post(url, { csr: Buffer.from(csr).toString("base64url") }, signal);
      return orderOf(answer, objectOf(answer), answer.location ?? "");
    },
    certificate: async (url, signal) => {
      const answer = await post(url, "", signal);
      assertGood(answer);
      return answer.body.toString("latin1");
    },
    renewalInfo: async (certificateId, signal) => {
      const { renewalInfo } = await directory(signal);
      if (renewalInfo === null) return null;
      const answer = await send({ method: "GET", url: `${renewalInfo.replace(/\/$/, "")}/${certificateId}` }, signal);
      return windowOf(objectOf(answer));
    },
    keyAuthorization: (token) => `${token}.${key.thumbprint}`,
  };
}

const isNonce = (text: string | null): text is string => text !== null && text.length <= NONCE_LENGTH_MAX && NONCE.test(text);

/** RFC 8555 §7.3.4: the account's public key, signed with the key that the authority gave out. */
function bindingOf({ keyId, hmacKey }: Binding, key: AccountKey, url: string): object {
  const protectedPart = encode({ alg: "HS256", kid: keyId, url });
  const payload = encode(key.jwk);
  const signature = createHmac("sha256", Buffer.from(hmacKey, "base64url")).update(`${protectedPart}.${payload}`).digest("base64url");
  return { protected: protectedPart, payload, signature };
}

function isBadNonce({ body }: Answer): boolean {
  try {
    return problemOf(JSON.parse(body.toString("utf8")), "").type === "badNonce";
  } catch {
    return false;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const directoryOf = (fields: Fields): Directory => ({
  newNonce: needUrl(fields["newNonce"], "newNonce"),
  newAccount: needUrl(fields["newAccount"], "newAccount"),
  newOrder: needUrl(fields["newOrder"], "newOrder"),
  renewalInfo: fields["renewalInfo"] === undefined ? null : needUrl(fields["renewalInfo"], "renewalInfo"),
});

const ORDER_STATUS: ReadonlySet<unknown> = new Set(["pending", "ready", "processing", "valid", "invalid"]);

function orderOf({ retryAfterMs }: Answer, fields: Fields, url: string): Order {
  const { status, authorizations, certificate, error } = fields;
  if (!ORDER_STATUS.has(status)) throw malformed("the order has no status");
  return {
    url,
    status: status as Order["status"],
    authorizations: listOf(authorizations).map((item) => needUrl(item, "an authorization")),
    finalize: needUrl(fields["finalize"], "finalize"),
    certificate: certificate === undefined ? null : needUrl(certificate, "the certificate"),
    error: errorOf(error),
    retryAfterMs,
  };
}

const AUTHORIZATION_STATUS: ReadonlySet<unknown> = new Set(["pending", "valid", "invalid", "deactivated", "expired", "revoked"]);
/** One more than a name may have, so that a cut one is no name. */
const HOST_LENGTH_MAX = 254;

function authorizationOf({ retryAfterMs }: Answer, fields: Fields): Authorization {
  const identifier = fields["identifier"] as { value?: unknown } | undefined;
  const challenges = listOf(fields["challenges"]) as readonly Fields[];
  if (!AUTHORIZATION_STATUS.has(fields["status"])) throw malformed("the authorization has no status");
  return {
    host: needText(identifier?.value, "the name of an authorization").slice(0, HOST_LENGTH_MAX).toLowerCase(),
    isWildcard: fields["wildcard"] === true,
    status: fields["status"] as Authorization["status"],
    challenges: challenges.map((challenge) => ({
      type: needText(challenge["type"], "the type of a challenge"),
      url: needUrl(challenge["url"], "a challenge"),
      token: typeof challenge["token"] === "string" && TOKEN.test(challenge["token"]) ? challenge["token"] : "",
      status: needText(challenge["status"], "the status of a challenge"),
      error: errorOf(challenge["error"]),
    })),
    retryAfterMs,
  };
}

/** A problem about several names is reported by the first of them: a CAA error hides there. */
function errorOf(value: unknown): AcmeProblem | null {
  if (value === undefined || value === null) return null;
  return subproblemsOf(value)[0] ?? problemOf(value, "the authority gave no reason");
}

function windowOf(fields: Fields): RenewalWindow {
  const { start, end } = (fields["suggestedWindow"] ?? {}) as { start?: unknown; end?: unknown };
  const [startMs, endMs] = [Date.parse(String(start)), Date.parse(String(end))];
  if (!(startMs <= endMs)) throw malformed("the renewal window lacks its start or end");
  return { startMs, endMs };
}

const malformed = (detail: string): AcmeError => new AcmeError({ type: "malformed_answer", detail });

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value.slice(0, LIST_MAX) : []);

function needText(value: unknown, what: string): string {
  if (typeof value !== "string" || value === "") throw malformed(`${what} is missing`);
  return value;
}

function needUrl(value: unknown, what: string): string {
  const text = needText(value, what);
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw malformed(`${what} is not a URL`);
  return text;
}
