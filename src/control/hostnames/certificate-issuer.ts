/** Obtains certificates for custom hostnames, and reports results to `HostnameCertificates`. */
export interface CertificateIssuer {
  /**
   * Requests certificates for hostnames that were created or edited, or have become active. Idempotent, because the same
   * hostname may be passed repeatedly. Resolves when the immediate work is done; problems of authorities never reject.
   */
  request(ids: readonly string[]): Promise<void>;
}
