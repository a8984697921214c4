import { createPublicKey } from "node:crypto";
import { importPrivateKey, KEY_ALGORITHM, SIGNING_ALGORITHM } from "#wire/x509/key-pair.ts";
import { loadX509 } from "#wire/x509/library.ts";

/** RFC 5280 appendix A.1, ub-common-name. */
const COMMON_NAME_LENGTH_MAX = 64;

/**
 * A certificate request for the hosts (RFC 2986), in DER, signed with a P-256 key that is given as PKCS #8 PEM. The
 * common name is the first host that fits, because old clients read it; if none fits, it is empty.
 */
export async function signingRequest(hosts: readonly string[], privateKey: string): Promise<Uint8Array> {
  const x509 = await loadX509();
  const publicKey = await crypto.subtle.importKey("jwk", createPublicKey(privateKey).export({ format: "jwk" }), KEY_ALGORITHM, true, [
    "verify",
  ]);
  const named = hosts.find((host) => host.length <= COMMON_NAME_LENGTH_MAX);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    ...(named === undefined ? {} : { name: [{ CN: [named] }] }),
    keys: { privateKey: await importPrivateKey(privateKey), publicKey },
    signingAlgorithm: SIGNING_ALGORITHM,
    extensions: [new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: "dns" as const, value })))],
  });
  return new Uint8Array(request.rawData);
}
