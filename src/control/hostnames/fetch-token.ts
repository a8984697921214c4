import { request } from "#kernel/net/node-http.ts";

/** Whether the hostname's server at one of the addresses returns the token under one of the paths. Never rejects. */
export type ShowsToken = (hostname: string, addresses: readonly string[], paths: readonly string[], token: string) => Promise<boolean>;

const TIMEOUT_MS = 2_000;
const ADDRESSES_MAX = 2;
/** The token, and characters that an editor may append. */
const BODY_BYTES_MAX = 512;
const HTTP_PORT = 80;

/** Does not follow redirects, because they lead to another server. */
export function createShowsToken(deps: {
  /** Whether the address may be connected to. */
  allows(address: string): boolean;
  readonly userAgent: string;
  readonly port?: number;
}): ShowsToken {
  const get = (address: string, host: string, path: string): Promise<string | null> =>
    new Promise((resolve) => {
      const asked = request(
        {
          host: address,
          port: deps.port ?? HTTP_PORT,
          path,
          headers: { host, "user-agent": deps.userAgent },
          agent: false,
          signal: AbortSignal.timeout(TIMEOUT_MS),
        },
        (answer) => {
          let body = "";
          answer.setEncoding("latin1");
          answer.on("data", (text: string) => {
            body += text;
            if (body.length > BODY_BYTES_MAX) answer.destroy();
          });
          answer.on("close", () => resolve(answer.statusCode === 200 ? body : null));
        },
      );
      asked.on("error", () => resolve(null));
      asked.end();
    });
  return async (hostname, addresses, paths, token) => {
    const allowed = addresses.filter((address) => deps.allows(address)).slice(0, ADDRESSES_MAX);
    const bodies = await Promise.all(allowed.flatMap((address) => paths.map((path) => get(address, hostname, path))));
    return bodies.some((body) => body?.trim() === token);
  };
}
