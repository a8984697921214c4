/** Limits of one request to a provider of sign-in. */
export const PROVIDER_MS = 8_000;
export const PROVIDER_BYTES_MAX = 256 * 1024;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * `fetch` for a provider: it ends in time, follows no redirect, and reads no more than some bytes. Plain HTTP goes to this machine alone.
 */
export const fetchFromProvider =
  (totalMs: number = PROVIDER_MS, fetchOnce: Fetch = fetch): Fetch =>
  async (url, init) => {
    if (!isSafeAddress(new URL(url))) throw new Error(`the provider names an address without TLS: ${new URL(url).origin}`);
    const limit = AbortSignal.timeout(totalMs);
    const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit;
    const response = await fetchOnce(url, { ...init, redirect: "manual", signal });
    const { status, headers } = response;
    const body = await bytesOf(response);
    return new Response([204, 205, 304].includes(status) ? null : body, { status, headers });
  };

/** HTTPS, or a loopback address. */
export const isSafeAddress = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || (protocol === "http:" && /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/.test(hostname));

async function bytesOf({ body }: Response): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.length;
    if (length > PROVIDER_BYTES_MAX) throw new Error(`the provider's response has more than ${PROVIDER_BYTES_MAX} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
