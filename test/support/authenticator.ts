import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** How an authenticator and its browser answer; defaults are honest. */
export interface SoftAnswer {
  readonly origin: string;
  readonly rpId?: string;
  readonly isVerified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Format of the attestation; its statement is empty. */
  readonly format?: string;
}

/** An authenticator and browser in software, which may also lie (WebAuthn §6, §7). */
export interface SoftAuthenticator {
  readonly id: string;
  create(options: { readonly challenge: string; readonly user: { readonly id: string } }, answer: SoftAnswer): object;
  get(challenge: string, answer: SoftAnswer): { readonly id: string; readonly response: Readonly<Record<string, string>> };
}

const HOST = "localhost";
const [USER_PRESENT, USER_VERIFIED, HAS_CREDENTIAL] = [0x01, 0x04, 0x40];

/** `counts`: signatures, as hardware keys do; otherwise the count stays 0. */
export function createAuthenticator({ counts = false }: { readonly counts?: boolean } = {}): SoftAuthenticator {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const id = randomBytes(32);
  let [counter, user] = [0, ""];
  const dataOf = (flags: number, answer: SoftAnswer, rest: Uint8Array = Buffer.alloc(0)): Buffer => {
    const fixed = Buffer.alloc(5);
    fixed.writeUInt8(flags | USER_PRESENT | (answer.isVerified === false ? 0 : USER_VERIFIED));
    if (counts) counter++;
    fixed.writeUInt32BE(answer.counter ?? counter, 1);
    return Buffer.concat([sha256(answer.rpId ?? HOST), fixed, rest]);
  };
  const clientData = (type: string, challenge: string, { origin }: SoftAnswer): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  return {
    id: id.toString("base64url"),
    create: (options, answer) => {
      user = options.user.id;
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      // COSE (RFC 9053): EC2, ES256, P-256.
      const key = Buffer.concat([
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y, "base64url"),
      ]);
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const data = dataOf(HAS_CREDENTIAL, answer, attested);
      // {"fmt": text, "attStmt": {}, "authData": bytes}
      const format = answer.format ?? "none";
      const object = Buffer.concat([
        Buffer.from("a363666d74", "hex"),
        Buffer.from([0x60 + format.length]),
        Buffer.from(format),
        Buffer.from("6761747453746d74a068617574684461746158", "hex"),
        Buffer.from([data.length]),
        data,
      ]);
      return {
        id: id.toString("base64url"),
        response: {
          clientDataJSON: clientData("webauthn.create", options.challenge, answer).toString("base64url"),
          attestationObject: object.toString("base64url"),
          transports: ["internal"],
        },
      };
    },
    get: (challenge, answer) => {
      const data = dataOf(0, answer);
      const client = clientData("webauthn.get", challenge, answer);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      return {
        id: id.toString("base64url"),
        response: {
          clientDataJSON: client.toString("base64url"),
          authenticatorData: data.toString("base64url"),
          signature: signature.toString("base64url"),
          userHandle: answer.userHandle ?? user,
        },
      };
    },
  };
}

const sha256 = (bytes: string | Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
