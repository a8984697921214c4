import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** How the provider answers, or lies. */
export interface ProviderManners {
  /** Of the next person. */
  claims: Record<string, unknown>;
  /** Replaces claims of the protocol in the next ID tokens. */
  forged: Record<string, unknown>;
  /** Signs with a key that is not among its keys. */
  hasOtherKey: boolean;
  /** Sends this issuer with the browser (RFC 9207). */
  returnedIssuer: string | undefined;
  /** Ends the sign-in with this error. */
  error: string | undefined;
  /** The path that is never answered, or answered without end. */
  silent: string | undefined;
  endless: string | undefined;
}

export interface TestProvider {
  readonly issuer: string;
  readonly manners: ProviderManners;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Requests to the token endpoint that it refused, with the reason. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

/** A small provider of OpenID Connect that asks for nothing. */
export async function startSignInProvider(): Promise<TestProvider> {
  const [key, other] = await Promise.all([generateKeyPair("RS256"), generateKeyPair("RS256")]);
  const jwk = { ...(await exportJWK(key.publicKey)), kid: "one", alg: "RS256", use: "sig" };
  const [clientId, clientSecret] = ["selvedge", "a secret: with/signs"];
  const grants = new Map<string, Grant>();
  const refused: string[] = [];
  const claims = { sub: "1", email: "ada@example.com", email_verified: true };
  const manners: ProviderManners = {
    ...{ claims, forged: {}, hasOtherKey: false, returnedIssuer: undefined, error: undefined, silent: undefined, endless: undefined },
  };
  let issuer = "";
  const json = (res: ServerResponse, body: unknown, status = 200): void =>
    void res.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body));
  const paths: Readonly<Record<string, (req: IncomingMessage, res: ServerResponse, url: URL) => Promise<void> | void>> = {
    "/.well-known/openid-configuration": (_req, res) =>
      json(res, {
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/keys` },
        ...{ userinfo_endpoint: `${issuer}/userinfo`, response_types_supported: ["code"], subject_types_supported: ["public"] },
        ...{ id_token_signing_alg_values_supported: ["RS256"], code_challenge_methods_supported: ["S256"] },
        authorization_response_iss_parameter_supported: true,
      }),
    "/keys": (_req, res) => json(res, { keys: [jwk] }),
    "/authorize": (_req, res, { searchParams }) => {
      const at = (name: string): string => searchParams.get(name) ?? "";
      const back = new URL(at("redirect_uri"));
      back.searchParams.set("state", at("state"));
      back.searchParams.set("iss", manners.returnedIssuer ?? issuer);
      if (manners.error === undefined) {
        const code = randomBytes(16).toString("hex");
        grants.set(code, { challenge: at("code_challenge"), nonce: at("nonce"), redirectUri: at("redirect_uri") });
        back.searchParams.set("code", code);
      } else back.searchParams.set("error", manners.error);
      res.writeHead(302, { location: back.href }).end();
    },
    "/token": async (req, res) => {
      const form = new URLSearchParams(await textOf(req));
      const grant = grants.get(form.get("code") ?? "");
      grants.delete(form.get("code") ?? "");
      const problem = problemOf(grant, form, req.headers.authorization ?? "");
      if (grant === undefined || problem !== undefined) {
        refused.push(problem ?? "");
        return json(res, { error: "invalid_grant" }, 400);
      }
      const now = Math.floor(Date.now() / 1000);
      const token = { iss: issuer, aud: clientId, iat: now, exp: now + 300, nonce: grant.nonce, ...manners.claims, ...manners.forged };
      const signer = manners.hasOtherKey ? other.privateKey : key.privateKey;
      const id_token = await new SignJWT(token).setProtectedHeader({ alg: "RS256", kid: "one" }).sign(signer);
      return json(res, { access_token: "opaque", token_type: "Bearer", id_token, expires_in: 300 });
    },
    "/userinfo": (_req, res) => json(res, manners.claims),
  };
  const problemOf = (grant: Grant | undefined, form: URLSearchParams, authorization: string): string | undefined => {
    if (grant === undefined) return "the code is unknown or used";
    const [id = "", secret = ""] = Buffer.from(authorization.replace("Basic ", ""), "base64").toString().split(":").map(formDecoded);
    if (id !== clientId || secret !== clientSecret) return "the client is wrong";
    if (form.get("redirect_uri") !== grant.redirectUri) return "the redirect is another";
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    return verifier === grant.challenge ? undefined : "the verifier is wrong";
  };
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? "/", issuer);
    if (url.pathname === manners.silent) return;
    if (url.pathname === manners.endless) {
      res.writeHead(200, { "content-type": "application/json" }).write("[");
      const timer = setInterval(() => res.write('"…",'.repeat(10_000)), 1);
      res.once("close", () => clearInterval(timer));
      return;
    }
    const answer = paths[url.pathname];
    if (answer === undefined) res.writeHead(404).end();
    else void answer(req, res, url);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ issuer, manners, clientId, clientSecret, refused },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

/** RFC 6749 §2.3.1. */
const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));

async function textOf(req: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
