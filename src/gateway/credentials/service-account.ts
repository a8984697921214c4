import { createSign } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Pools } from "#gateway/providers/pools.ts";
import { fetchBuffered } from "#gateway/providers/fetch-buffered.ts";

/** Members of a service account's key file; others are ignored. */
export interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
  readonly token_uri?: string;
}

/** Exchanges service accounts for the tokens that requests carry. */
export interface ServiceTokens {
  /** Rejects if the account cannot be exchanged. Concurrent callers share one exchange. */
  token(account: ServiceAccount): Promise<string>;
}

const TOKEN_URI = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const ASSERTION_SECONDS = 3600;
/** A token is not used in its last minute, because the request takes time. */
const RESERVE_MS = 60_000;
const ACCOUNTS_MAX = 1000;
const ANSWER_BYTES_MAX = 64 * 1024;
const TIMEOUT_MS = 10_000;

interface Kept {
  readonly token: Promise<string>;
  untilMs: number;
}

/** RFC 7523 §2.1: a signed assertion is exchanged for a bearer token, which is kept until shortly before it expires. */
export function createServiceTokens({ clock, pools }: { readonly clock: Clock; readonly pools: Pools }): ServiceTokens {
  const kept = new Map<string, Kept>();
  const exchange = async (account: ServiceAccount, key: string, entry: { untilMs: number }): Promise<string> => {
    try {
      const { access_token, expires_in } = await ask(pools, account, clock.nowMs());
      entry.untilMs = clock.nowMs() + expires_in * 1000 - RESERVE_MS;
      return access_token;
    } catch (error) {
      kept.delete(key);
      throw error;
    }
  };
  return {
    token: (account) => {
      const key = `${account.client_email}\n${account.private_key_id ?? ""}\n${account.token_uri ?? ""}`;
      const known = kept.get(key);
      if (known !== undefined && known.untilMs > clock.nowMs()) return known.token;
      const [oldest] = kept.size < ACCOUNTS_MAX ? [] : kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
      // Under way: concurrent callers wait for this exchange.
      const entry = { untilMs: Infinity };
      const made: Kept = Object.assign(entry, { token: exchange(account, key, entry) });
      kept.set(key, made);
      return made.token;
    },
  };
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function assertion({ client_email, private_key, private_key_id }: ServiceAccount, audience: string, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000);
  const head = { alg: "RS256", typ: "JWT", ...(private_key_id === undefined ? {} : { kid: private_key_id }) };
  const text = `${part(head)}.${part({ iss: client_email, scope: SCOPE, aud: audience, iat, exp: iat + ASSERTION_SECONDS })}`;
  return `${text}.${createSign("RSA-SHA256").update(text).sign(private_key).toString("base64url")}`;
}

async function ask(pools: Pools, account: ServiceAccount, nowMs: number): Promise<{ access_token: string; expires_in: number }> {
  const uri = new URL(account.token_uri ?? TOKEN_URI);
  const form = new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
    assertion: assertion(account, uri.href, nowMs),
  });
  // The address is from a customer's file, so the rule for customers' providers applies to it.
  const { status, text } = await fetchBuffered(
    pools.get(uri.origin, { isGuarded: true }),
    {
      method: "POST",
      target: uri.pathname + uri.search,
      headers: ["content-type", "application/x-www-form-urlencoded", "accept", "application/json", "accept-encoding", "identity"],
      body: form.toString(),
    },
    { timeoutMs: TIMEOUT_MS, answerBytesMax: ANSWER_BYTES_MAX },
  );
  const { access_token, expires_in = ASSERTION_SECONDS } = JSON.parse(text) as { access_token?: unknown; expires_in?: number };
  // linear: pumped
  if (status !== 200 || typeof access_token !== "string" || !/^[\x21-\x7e]{1,8192}$/.test(access_token))
    throw new Error(`the token endpoint responded with status ${status}`);
  return { access_token, expires_in: Number.isFinite(expires_in) ? expires_in : ASSERTION_SECONDS };
}
