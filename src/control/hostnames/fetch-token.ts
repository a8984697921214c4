import { request } from "#kernel/net/node-http.ts";

/** Whether one of the addresses, asked as the hostname's own server, shows the token under one of the paths. Never rejects. */
export type ShowsToken = (hostname: string, addresses: readonly string[], paths: readonly string[], token: string) => Promise<boolean>;

const TIMEOUT_MS = 2_000;
const ADDRESSES_MAX = 2;
/** The token and what an editor may put behind it. */
const BODY_BYTES_MAX = 512;
const HTTP_PORT = 80;

/** Redirects are not followed: what they lead to is another server. */
export function createShowsToken(deps: {
  /** Whether this address may be asked at all. */
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
