import { CHAIN_LENGTH_MAX, isIssued, pemOf, readPemCertificates } from "#wire/x509/pem-certificates.ts";
import { AcmeError } from "./acme-error.ts";
import { type CertificateFacts, certificateFacts, isKeyOf } from "./certificate-facts.ts";

/** Authorities date certificates back, some by minutes only; a server's clock may be behind. */
const CLOCK_SKEW_MS = 3_600_000;

/**
 * Checks what an authority has sent for an order: visitors get it instead of a certificate that works. Returns the
 * certificates that lead from the leaf upward, without anything else of the text. Throws AcmeError.
 */
export async function issuedChain(
  text: string,
  { hosts, privateKey, nowMs }: { readonly hosts: readonly string[]; readonly privateKey: string; readonly nowMs: number },
): Promise<{ readonly chain: string; readonly facts: CertificateFacts }> {
  const all = readPemCertificates(text);
  if (all === null || all.length > CHAIN_LENGTH_MAX) throw bad("the certificate cannot be read, or its chain is too long");
  const end = all.findIndex((one, index) => index > 0 && !isFrom(all[index - 1]!, one));
  const chain = pemOf(end === -1 ? all : all.slice(0, end));
  const facts = await certificateFacts(chain).catch(() => null);
  if (facts === null || !isOwn(chain, privateKey) || !hosts.every((host) => facts.hosts.includes(host)))
    throw bad("the certificate is for another key or other names");
  if (Date.parse(facts.notAfter) <= nowMs || Date.parse(facts.notBefore) > nowMs + CLOCK_SKEW_MS)
    throw bad(`the certificate is valid from ${facts.notBefore} to ${facts.notAfter}`);
  return { chain, facts };
}

function isFrom(...[lower, upper]: Parameters<typeof isIssued>): boolean {
  try {
    return isIssued(lower, upper);
  } catch {
    return false;
  }
}

function isOwn(chain: string, privateKey: string): boolean {
  try {
    return isKeyOf(chain, privateKey);
  } catch {
    return false;
  }
}

const bad = (detail: string): AcmeError => new AcmeError({ type: "badCertificate", detail });
