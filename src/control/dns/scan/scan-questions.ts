/** One query of a scan; the name is relative to the zone, `@` for the apex. */
export interface ScanQuestion {
  readonly name: string;
  readonly type: ScanType;
}

export const SCAN_TYPES = ["CNAME", "A", "AAAA", "MX", "TXT", "CAA", "SRV"] as const;
export type ScanType = (typeof SCAN_TYPES)[number];

/** A host is an alias or has addresses. */
export const HOST_TYPES = ["CNAME", "A", "AAAA"] as const;

/** Names that many zones have; a zone cannot be listed from outside, so a scan tries usual names. */
const HOSTS =
  "www mail webmail smtp imap pop pop3 mx mx1 mx2 relay ftp sftp ssh vpn remote gateway api app apps dev staging stage test beta demo " +
  "blog shop store news support help docs wiki status static assets cdn img images media video m mobile portal login auth sso id admin " +
  "dashboard panel cpanel whm webdisk ns1 ns2 dns db git gitlab ci jenkins grafana autodiscover autoconfig calendar drive cloud files " +
  "intranet extranet web www2 secure pay download chat meet sip lyncdiscover enterpriseregistration enterpriseenrollment";

const TEXTS = "_dmarc _mta-sts _smtp._tls default._bimi _atproto _acme-challenge";
/** Selectors of DKIM keys, as an alias or as text. */
const KEYS = "default google k1 k2 s1 s2 selector1 selector2 mail dkim fm1 fm2 fm3 mandrill mxvault zoho";
const SERVICES =
  "_sip._tcp _sip._udp _sips._tcp _sipfederationtls._tcp _xmpp-client._tcp _xmpp-server._tcp _autodiscover._tcp _submission._tcp " +
  "_submissions._tcp _imap._tcp _imaps._tcp _caldavs._tcp _carddavs._tcp _minecraft._tcp _matrix._tcp _ldap._tcp _kerberos._tcp";

const words = (text: string): readonly string[] => text.split(" ");

export const SCAN_QUESTIONS: readonly ScanQuestion[] = [
  ...(["A", "AAAA", "MX", "TXT", "CAA"] as const).map((type) => ({ name: "@", type })),
  ...words(HOSTS).flatMap((name) => HOST_TYPES.map((type) => ({ name, type }))),
  ...words(TEXTS).flatMap((name) => (["CNAME", "TXT"] as const).map((type) => ({ name, type }))),
  ...words(KEYS).flatMap((key) => (["CNAME", "TXT"] as const).map((type) => ({ name: `${key}._domainkey`, type }))),
  ...words(SERVICES).map((name) => ({ name, type: "SRV" as const })),
];
