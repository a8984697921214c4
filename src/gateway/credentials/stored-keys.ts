import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { createValuesByName } from "#kernel/values-by-name.ts";
import type { GatewayEntry, ProviderKeyEntry } from "#snapshot/entries.ts";
import type { Replica } from "#snapshot/feed.ts";
import { followKind } from "#snapshot/follow.ts";
import { type Refusal, RefusalError } from "#gateway/http/errors.ts";
import type { Step } from "#gateway/request/plan.ts";
import type { RateLimits } from "#gateway/limits/rate-limits.ts";
import { DEFAULT_KEY_ALIAS } from "#gateway/request/request-options.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";
import { locationFactsOf } from "./provider-location.ts";
import { hasCredential, keyFields, withFields } from "./credential-fields.ts";
import { type AwsCredentials, signAws } from "#wire/http/sign-aws.ts";
import { createKeyMasks, type KeyMasks } from "./key-masks.ts";
import type { ServiceAccount, ServiceTokens } from "./service-account.ts";

/** Keys for providers that gateways store, so that their clients need none. */
export interface StoredKeys {
  /**
   * Adds a stored key to the step if the request carries no key or names one by its alias; otherwise returns the step
   * unchanged. Throws a RefusalError if the key does not exist or cannot be used, or if the client may not use it.
   */
  apply(step: Step, asked: KeyRequest): Keyed | Promise<Keyed>;
}

export interface KeyRequest {
  readonly gateway: GatewayEntry;
  /** Undefined if the request carries a token that may run the gateway; otherwise the refusal. */
  unauthenticated(): Refusal | undefined;
}

export interface Keyed {
  readonly step: Step;
  /** Counts one use; returns the seconds until there is room for one, 0 if there is room now. */
  readonly take?: () => number;
}

export interface StoredKeysDeps {
  readonly replica: Replica;
  /** Decrypts keys; without it no key can be used. */
  readonly sealer: Pick<Sealer, "open"> | undefined;
  readonly rateLimits: RateLimits;
  readonly serviceTokens: ServiceTokens;
  readonly clock: Clock;
}

interface StoredKey {
  readonly id: string;
  readonly entry: ProviderKeyEntry;
  /** Decrypted at the first use and kept, because decryption costs more than the request. */
  secret: string | undefined;
}

const nameOf = (account: string, gateway: string, provider: string, alias: string): string =>
  JSON.stringify([account, gateway, provider, alias]);

export function createStoredKeys(deps: StoredKeysDeps): StoredKeys {
  const { replica, sealer, rateLimits } = deps;
  const masks = createKeyMasks();
  const byId = new Map<string, StoredKey>();
  const byAlias = createValuesByName<StoredKey>();
  /** Keys under the default alias; they come before a key that only has this alias. */
  const defaults = createValuesByName<StoredKey>();
  const find = (name: string): StoredKey | undefined => defaults.newest(name) ?? byAlias.newest(name);
  const namesOf = ({ account_id, gateway_id, provider, alias }: ProviderKeyEntry): readonly [string, string] => [
    nameOf(account_id, gateway_id, provider, alias),
    nameOf(account_id, gateway_id, provider, DEFAULT_KEY_ALIAS),
  ];
  followKind(replica, "provider_key", {
    clear: () => [byId, byAlias, defaults].forEach((index) => index.clear()),
    put: (id, entry) => {
      const key: StoredKey = { id, entry, secret: undefined };
      const [own, byDefault] = namesOf(entry);
      byId.set(id, key);
      byAlias.add(own, key);
      if (entry.is_default) defaults.add(byDefault, key);
    },
    remove: (id, entry) => {
      const key = byId.get(id);
      const [own, byDefault] = namesOf(entry);
      byId.delete(id);
      if (key === undefined) return;
      byAlias.remove(own, key);
      defaults.remove(byDefault, key);
    },
  });

  const open = (key: StoredKey): string => {
    if (sealer === undefined) throw new RefusalError({ name: "aig_provider_key_unusable" });
    try {
      return (key.secret ??= sealer.open(key.entry.secret, `provider-key:${key.id}`).toString("utf8"));
    } catch {
      throw new RefusalError({ name: "aig_provider_key_unusable" });
    }
  };

  return {
    apply: (given, asked) => {
      const { account_id, gateway_id } = asked.gateway;
      const step = withAllowedFields(given, asked, masks);
      const { keyAlias } = step.options;
      if (keyAlias === undefined && hasCredential(step.headers, step.target)) return withOwn(deps, step);
      const key = find(nameOf(account_id, gateway_id, step.provider, keyAlias ?? DEFAULT_KEY_ALIAS));
      // The client asked for no key, and the provider may not need one.
      if (key === undefined && keyAlias === undefined) return { step: step.placed?.({}) ?? step };
      if (key === undefined)
        throw new RefusalError({
          name: "aig_provider_key_unusable",
          message: `The gateway has no key '${keyAlias}' for ${step.provider}`,
        });
      demandToken(asked);
      const { rate_limit } = key.entry;
      const take =
        rate_limit === undefined
          ? {}
          : { take: () => rateLimits.takeFor(`key/${key.id}`, { ...rate_limit, technique: "sliding" as const }) };
      const secret = open(key);
      const keyed = withSecret(deps, step, secret, masks);
      return keyed instanceof Promise ? keyed.then((ready) => ({ step: ready, ...take })) : { step: keyed, ...take };
    },
  };
}

/** Stored keys cost their owner money: a gateway whose authentication is off serves anybody, but its keys need a token. */
function demandToken({ unauthenticated }: KeyRequest): void {
  const refusal = unauthenticated();
  if (refusal !== undefined)
    throw new RefusalError(refusal.name === "aig_unauthorized" ? { name: "aig_stored_key_unauthenticated" } : refusal);
}

/** Adds the stored header fields of a custom provider; leaves them out for a client that brings a credential but no token. */
function withAllowedFields(step: Step, asked: KeyRequest, masks: KeyMasks): Step {
  const { storedFields = [] } = step;
  if (storedFields.length === 0) return step;
  if (asked.unauthenticated() === undefined) return masks.masked(step, storedFields);
  const headers = step.headers.slice(0, step.headers.length - storedFields.length);
  if (!hasCredential(headers, step.target)) demandToken(asked);
  return { ...step, headers };
}

/** The request's own credential; a service account's file instead of a token is exchanged like a stored one. */
function withOwn(deps: StoredKeysDeps, step: Step): Keyed | Promise<Keyed> {
  if (step.provider === "google-vertex-ai") {
    const at = step.headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === "authorization");
    const file = at < 0 ? "" : (step.headers[at + 1] ?? "").replace(/^bearer +/i, "");
    if (file.startsWith("{")) {
      const keyed = withSecret(deps, step, file);
      return keyed instanceof Promise ? keyed.then((ready) => ({ step: ready })) : { step: keyed };
    }
  }
  return { step: step.placed?.({}) ?? step };
}

/**
 * The step at the place that the secret names, with the header fields made from the secret; `masks` hide these if the
 * secret is not the client's.
 */
function withSecret(deps: StoredKeysDeps, open: Step, secret: string, masks?: KeyMasks): Step | Promise<Step> {
  const step = open.placed?.(locationFactsOf(secret)) ?? open;
  const made = credentialFields(deps, step, secret);
  const keyed = (fields: Fields): Step => {
    const ready = { ...step, headers: withFields(step.headers, fields) };
    return masks?.masked(ready, Object.entries(fields).flat()) ?? ready;
  };
  return made instanceof Promise ? made.then(keyed) : keyed(made);
}

type Fields = Record<string, string>;

function credentialFields({ clock, serviceTokens }: StoredKeysDeps, step: Step, secret: string): Fields | Promise<Fields> {
  if (step.provider === "aws-bedrock") return awsFields(step, secret, clock.nowMs());
  if (step.provider === "google-vertex-ai" && secret.trimStart().startsWith("{")) {
    const account = objectOf(parsedJson(secret)) as ServiceAccount | undefined;
    if (account === undefined) throw new RefusalError({ name: "aig_provider_key_unusable" });
    return serviceTokens.token(account).then(
      (token) => ({ authorization: `Bearer ${token}` }),
      () => {
        throw new RefusalError({ name: "aig_provider_key_unusable" });
      },
    );
  }
  return keyFields(step.provider, secret);
}

/**
 * The stored secret of this provider: `{ access_key_id, secret_access_key, session_token?, region? }`, or an API key of
 * its newer kind.
 */
interface AwsSecret {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string;
}

/** The region follows the service in the path: `/bedrock-runtime/eu-west-1/model/…`. */
const AWS_PATH = /^\/[a-z-]+\/([a-z0-9-]+)\//;

function awsFields({ body, method, origin, target, path, headers }: Step, secret: string, nowMs: number): Fields {
  if (!secret.trimStart().startsWith("{")) return keyFields("", secret);
  // The signature covers the body, so the whole body must be present.
  if (body.kind === "stream") throw new RefusalError({ name: "aig_body_too_large" });
  const { access_key_id, secret_access_key, session_token } = JSON.parse(secret) as AwsSecret;
  const region = AWS_PATH.exec(path)?.[1] ?? "us-east-1";
  const credentials: AwsCredentials = {
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token === undefined ? {} : { sessionToken: session_token }),
  };
  const type = headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === "content-type");
  return signAws(
    {
      method,
      host: new URL(origin).host,
      target,
      headers: type < 0 ? {} : { "content-type": headers[type + 1] ?? "" },
      body: body.bytes,
      region,
      service: "bedrock",
      atMs: nowMs,
    },
    credentials,
  );
}
