import { randomBytes } from "node:crypto";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { exportPrivateKey, generateKeyPair } from "#wire/x509/key-pair.ts";
import { selfSignedRoot } from "#wire/x509/self-signed.ts";
import { type Issuer, openIssuer, serverCertificate } from "#wire/x509/server-certificate.ts";

/** A certificate and its key: both PEM, the key PKCS #8 and unsealed. */
export interface RootPair {
  readonly certificate: string;
  readonly privateKey: string;
}

export interface IssuedCertificate {
  /** PEM, leaf first. The root is left out, because clients that trust it have it (RFC 8446 §4.4.2). */
  readonly chain: string;
  /** PKCS #8 PEM, unsealed: the caller seals it before it is stored. */
  readonly privateKey: string;
  /** ISO 8601 in UTC with microseconds, as in the certificate's row. */
  readonly notBefore: string;
  readonly notAfter: string;
}

/** The authority of this installation: its certificates are trusted wherever its root is installed. */
export interface LocalCa {
  /** A P-256 server certificate for the hosts, valid 90 days. Throws a TypeError on an invalid name. */
  issue(hosts: readonly string[]): Promise<IssuedCertificate>;
}

const DAY_MS = 86_400_000;
const ROOT_VALIDITY_MS = 3653 * DAY_MS;
/** The longest validity of a certificate that it issues for names. */
export const LEAF_VALIDITY_MS = 90 * DAY_MS;
/** Clients with slow clocks still accept a certificate that was issued just now. */
const BACKDATE_MS = 3_600_000;
/** RFC 5280 appendix A.1, ub-common-name. */
const COMMON_NAME_LENGTH_MAX = 64;
const HOSTS_MAX = 100;
// linear: pumped
const HOST = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Makes a self-signed P-256 root that may sign server certificates but no further authorities. */
export async function createRoot(clock: Clock): Promise<RootPair> {
  const keys = await generateKeyPair();
  const certificate = selfSignedRoot({
    // The number distinguishes the roots of two installations in a trust store.
    commonName: `Selvedge local CA ${randomBytes(4).toString("hex")}`,
    organization: "Selvedge",
    serialNumber: newSerialNumber(),
    ...validity(clock, ROOT_VALIDITY_MS),
    keys,
  });
  return { certificate, privateKey: await exportPrivateKey(keys.privateKey) };
}

export function createLocalCa(deps: { readonly root: RootPair; readonly clock: Clock }): LocalCa {
  let issuer: Issuer | undefined;
  return {
    issue: async (hosts) => {
      for (const host of hosts) if (host.length > 253 || !HOST.test(host)) throw new TypeError(`not a host name: ${JSON.stringify(host)}`);
      const first = hosts[0];
      if (first === undefined || hosts.length > HOSTS_MAX) throw new TypeError(`a certificate can have 1 to ${HOSTS_MAX} host names`);
      issuer ??= openIssuer(deps.root.certificate, deps.root.privateKey);
      const { publicKey, privateKey } = await generateKeyPair();
      const valid = validity(deps.clock, LEAF_VALIDITY_MS);
      const commonName = first.length <= COMMON_NAME_LENGTH_MAX ? first : null;
      const chain = serverCertificate({ hosts, commonName, serialNumber: newSerialNumber(), ...valid, publicKey }, issuer);
      return {
        chain,
        privateKey: await exportPrivateKey(privateKey),
        notBefore: isoMicros(valid.notBefore.getTime() * 1000),
        notAfter: isoMicros(valid.notAfter.getTime() * 1000),
      };
    },
  };
}

/** Whole seconds, because the encoding stores no fractions. */
function validity(clock: Clock, lengthMs: number): { readonly notBefore: Date; readonly notAfter: Date } {
  const startMs = Math.floor(clock.nowMs() / 1000) * 1000 - BACKDATE_MS;
  return { notBefore: new Date(startMs), notAfter: new Date(startMs + lengthMs) };
}

/** 127 random bits, positive (RFC 5280 §4.1.2.2). */
function newSerialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40;
  return bytes;
}
