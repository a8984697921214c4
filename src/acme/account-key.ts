import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** Signs requests to an authority with a P-256 key (ES256, RFC 7518 §3.4). */
export interface AccountKey {
  /** Public half, in the form and order that the thumbprint is computed from (RFC 7638 §3). */
  readonly jwk: Jwk;
  /** A challenge's token is joined with it (RFC 8555 §8.1). */
  readonly thumbprint: string;
  /** A JWS in flattened JSON (RFC 7515 §7.2.2); an empty payload is POST-as-GET (RFC 8555 §6.3). */
  sign(header: Readonly<Record<string, unknown>>, payload: object | ""): SignedRequest;
}

export interface Jwk {
  readonly crv: string;
  readonly kty: string;
  readonly x: string;
  readonly y: string;
}

export interface SignedRequest {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

/** A new P-256 key as PKCS #8 PEM. */
export const newPrivateKey = (): string =>
  generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** Throws on anything but a P-256 key. */
export function openAccountKey(pem: string): AccountKey {
  const key = createPrivateKey(pem);
  const jwk = publicJwk(key);
  return {
    jwk,
    thumbprint: createHash("sha256").update(JSON.stringify(jwk)).digest("base64url"),
    sign: (header, payload) => {
      const protectedPart = encode({ alg: "ES256", ...header });
      const body = payload === "" ? "" : encode(payload);
      const signature = sign("sha256", Buffer.from(`${protectedPart}.${body}`), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
      return { protected: protectedPart, payload: body, signature };
    },
  };
}

function publicJwk(key: KeyObject): Jwk {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: "jwk" });
  if (kty !== "EC" || crv !== "P-256" || x === undefined || y === undefined) throw new TypeError("not a P-256 key");
  return { crv, kty, x, y };
}

export const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
