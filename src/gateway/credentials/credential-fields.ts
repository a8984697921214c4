import type { FlatHeaders } from "#gateway/http/headers.ts";

/** How a provider takes a plain key: the field, and the prefix before the key. */
type Placing = readonly [field: string, before: string];

const BEARER: Placing = ["authorization", "Bearer "];

/** Providers that do not take a bearer token. */
const PLACINGS: Readonly<Record<string, Placing>> = {
  anthropic: ["x-api-key", ""],
  "google-ai-studio": ["x-goog-api-key", ""],
  "azure-openai": ["api-key", ""],
  cartesia: ["x-api-key", ""],
  parallel: ["x-api-key", ""],
  elevenlabs: ["xi-api-key", ""],
  ideogram: ["api-key", ""],
  deepgram: ["authorization", "Token "],
  fal: ["authorization", "Key "],
};

/** Every field in which a request may carry a credential for a provider. */
const FIELDS: ReadonlySet<string> = new Set([
  BEARER[0],
  ...Object.values(PLACINGS).map(([field]) => field),
  "x-amz-date",
  "x-amz-security-token",
]);

/** Clients without a key still send its field, empty or with the scheme alone. */
const isEmpty = (value: string): boolean => /^(?:bearer|token|key|basic)?$/i.test(value.trim());

export function hasCredential(headers: FlatHeaders, target: string): boolean {
  for (let i = 0; i < headers.length; i += 2)
    if (FIELDS.has(headers[i]?.toLowerCase() ?? "") && !isEmpty(headers[i + 1] ?? "")) return true;
  return /[?&]key=[^&]/.test(target);
}

/** The fields with these credentials instead of the existing ones. */
export function withFields(headers: FlatHeaders, credentials: Readonly<Record<string, string>>): FlatHeaders {
  const all: FlatHeaders = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? "";
    if (!FIELDS.has(name.toLowerCase())) all.push(name, headers[i + 1] ?? "");
  }
  for (const [name, value] of Object.entries(credentials)) all.push(name, value);
  return all;
}

/** The header field in which the provider expects a plain key. */
export const keyHeaderOf = (provider: string): string => (PLACINGS[provider] ?? BEARER)[0];

export function keyFields(provider: string, key: string): Record<string, string> {
  const [field, before] = PLACINGS[provider] ?? BEARER;
  return { [field]: before + key };
}
