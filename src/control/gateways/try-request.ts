import type { IncomingMessage } from "node:http";
import { createStreamLimiter } from "#control/events/stream-limiter.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { request as plainRequest } from "#kernel/net/node-http.ts";
import { type GatewayTried, type GatewayTry, TRY_RESPONSE_BYTES_MAX } from "#model/gateways/gateway-try.ts";
import { gatewayById } from "#store/gateways/gateways.ts";
import type { Store } from "#store/database/store.ts";

export interface GatewayTries {
  /**
   * Sends a request to this server's gateway plane and returns its response, whatever its status. Only the given headers
   * authenticate it. Throws `gateway_not_found` for an unknown gateway, and `gateway_input_invalid` for a header that is
   * not a credential or a field of the gateway, without a gateway plane, or if the plane does not answer within 60 seconds.
   */
  send(accountId: string, id: string, tried: GatewayTry): Promise<GatewayTried>;
}

const TIMEOUT_MS = 60_000;
const OF_ONE_MAX = 4;
const OF_ALL_MAX = 16;
/** Nothing about addresses or connections, which the gateway believes of a proxy that it trusts. */
const HEADER = /^(?:authorization|x-api-key|x-goog-api-key|api-key|[a-z]{1,16}-aig-[a-z-]{1,40}|(?:anthropic|openai)-[a-z-]{1,40})$/;
const VALUE = /^[\x20-\x7e]*$/;

export function createGatewayTries(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** `https://gateway.example`; empty without a gateway plane. */
  readonly urlOfGateways: () => string;
}): GatewayTries {
  const { store, clock, urlOfGateways } = deps;
  const places = createStreamLimiter({ ofOne: OF_ONE_MAX, ofAll: OF_ALL_MAX, takers: "requests", what: "be tried" });
  return {
    send: async (accountId, id, { endpoint, headers = {}, query }) => {
      if ((await gatewayById(store.read, accountId, id)) === undefined) throw new PlatformError("gateway_not_found");
      const base = urlOfGateways();
      if (base === "") throw invalid("This server does not run gateways.", "/endpoint");
      const leave = places.take(accountId);
      const startMs = clock.monotonicMs();
      try {
        const url = urlIn(`/v1/${accountId}/${id}/`, endpoint, base);
        const answer = await sent(url, checked(headers), JSON.stringify(query));
        return { ...answer, duration_ms: Math.round(clock.monotonicMs() - startMs) };
      } finally {
        leave();
      }
    },
  };
}

/** The gateway's own path only: `..` would lead to the gateways of others, which believe more of this server than of its clients. */
function urlIn(path: string, endpoint: string, base: string): URL {
  const url = new URL(path + endpoint, base);
  if (!url.pathname.startsWith(path)) throw invalid("The endpoint is not a path below the gateway.", "/endpoint");
  return url;
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("gateway_input_invalid", { message, source });

function checked(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([given, value]) => {
      const name = given.toLowerCase();
      if (!HEADER.test(name)) throw invalid(`The header ${name} is neither a credential nor a field of the gateway.`, "/headers");
      if (!VALUE.test(value)) throw invalid(`The value of the header ${name} has a character that headers cannot have.`, "/headers");
      return [name, value];
    }),
  );
}

function sent(url: URL, headers: Record<string, string>, body: string): Promise<Omit<GatewayTried, "duration_ms">> {
  // Loaded here, because few servers have a gateway with TLS. The request goes to this server's own listener, whose certificate need not name its address.
  const request = url.protocol === "https:" ? process.getBuiltinModule("node:https").request : plainRequest;
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const fail = (): void =>
      reject(
        invalid(
          signal.aborted ? `The gateway did not answer within ${TIMEOUT_MS / 1000} seconds.` : "The gateway closed the connection.",
          "/endpoint",
        ),
      );
    const sending = request(
      url,
      {
        method: "POST",
        agent: false,
        signal,
        rejectUnauthorized: false,
        headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (response) => void read(response).then(resolve, fail),
    );
    sending.on("error", fail).end(body);
  });
}

async function read(response: IncomingMessage): Promise<Omit<GatewayTried, "duration_ms">> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    // Leaving the loop ends the connection.
    if (length > TRY_RESPONSE_BYTES_MAX) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
    body: Buffer.concat(parts).subarray(0, TRY_RESPONSE_BYTES_MAX).toString(),
    is_truncated: length > TRY_RESPONSE_BYTES_MAX,
  };
}
