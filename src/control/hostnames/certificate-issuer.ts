/** Whoever gets certificates for custom hostnames. What it achieves it tells `HostnameCertificates`. */
export interface CertificateIssuer {
  /**
   * Hostnames that want a certificate again: just made, edited, or active since a moment. Idempotent, since the same hostname
   * may be named again and again. Resolves when what can be done at once is done; what
   * authorities do never makes it reject.
   */
  request(ids: readonly string[]): Promise<void>;
}
