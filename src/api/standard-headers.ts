/** Headers of every response, as the original service sends them (contract.md §1). */
export const standardHeaders = (secure: boolean): Readonly<Record<string, string>> => ({
  "cache-control": "no-store, no-cache, must-revalidate, post-check=0, pre-check=0",
  pragma: "no-cache",
  expires: "Sun, 25 Jan 1981 05:00:00 GMT",
  vary: "Authorization, X-Auth-Email, X-Auth-Key, api-version",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "no-referrer",
  // RFC 6797 §7.2: never over plain HTTP.
  ...(secure ? { "strict-transport-security": "max-age=31536000" } : {}),
});
