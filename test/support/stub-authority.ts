import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";

/** Content of a request to the stub: the claims of its JWS, unverified. */
export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

export interface StubAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Sends the response itself; nothing else of the answer counts. */
  readonly send?: (res: ServerResponse) => void;
}

/** An authority that answers as the test says and issues nothing: for errors that real authorities do not give on demand. */
export interface StubAuthority {
  readonly url: string;
  readonly directoryUrl: string;
  readonly requests: StubRequest[];
  /** Responses by `METHOD /path`; `null` leaves the request without a response. */
  readonly answers: Map<string, StubAnswer | null | ((request: StubRequest) => StubAnswer | null)>;
  stop(): Promise<void>;
}

export const problem = (type: string, detail: string, more: object = {}): StubAnswer => ({
  status: 403,
  body: { type: `urn:ietf:params:acme:error:${type}`, detail, ...more },
});

/** With `tls` it has HTTPS, with a certificate for `localhost`. */
export async function startStubAuthority(tls?: { readonly chain: string; readonly privateKey: string }): Promise<StubAuthority> {
  const requests: StubRequest[] = [];
  const answers: StubAuthority["answers"] = new Map();
  let nonces = 0;
  const reply = (res: ServerResponse, { status = 200, headers = {}, body, send }: StubAnswer): void => {
    if (send !== undefined) return send(res);
    res.writeHead(status, { "replay-nonce": `nonce-${nonces++}`, ...headers });
    res.end(typeof body === "string" ? body : JSON.stringify(body ?? {}));
  };
  const onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const { protected: header, payload } = JSON.parse(Buffer.concat(chunks).toString() || "{}") as Record<string, string>;
      const request = { method: req.method ?? "", path: req.url ?? "", header: claims(header), payload: claims(payload) };
      requests.push(request);
      const answer = answers.get(`${request.method} ${request.path}`);
      const given = typeof answer === "function" ? answer(request) : answer;
      if (given !== null) reply(res, given ?? { status: 404 });
    });
  };
  const server = tls === undefined ? createServer(onRequest) : createSecureServer({ cert: tls.chain, key: tls.privateKey }, onRequest);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = tls === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  const directory = { newNonce: `${url}/nonce`, newAccount: `${url}/account`, newOrder: `${url}/order`, renewalInfo: `${url}/renewal` };
  answers.set("GET /dir", { body: directory });
  answers.set("HEAD /nonce", {});
  answers.set("POST /account", { status: 201, headers: { location: `${url}/account/1` }, body: { status: "valid" } });
  return {
    ...{ url, directoryUrl: `${url}/dir`, requests, answers },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const claims = (part: string | undefined): Readonly<Record<string, unknown>> =>
  part === undefined || part === "" ? {} : (JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>);
