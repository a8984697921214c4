/** Every page that navigation and palette lead to, in order. */
export const ZONE_PAGES = [
  { group: "", pages: [{ title: "Overview", to: "/zones/$zone" }] },
  {
    group: "DNS",
    pages: [
      { title: "Records", to: "/zones/$zone/dns/records" },
      { title: "Import and export", to: "/zones/$zone/dns/import" },
      { title: "Ask the nameserver", to: "/zones/$zone/dns/ask" },
      { title: "Versions", to: "/zones/$zone/dns/versions" },
      { title: "DNSSEC", to: "/zones/$zone/dns/dnssec" },
      { title: "Zone transfers", to: "/zones/$zone/dns/transfers" },
      { title: "DNS settings", to: "/zones/$zone/dns/settings" },
    ],
  },
  {
    group: "SSL/TLS",
    pages: [
      { title: "Certificates", to: "/zones/$zone/certificates" },
      { title: "Custom hostnames", to: "/zones/$zone/hostnames" },
    ],
  },
  {
    group: "Security",
    pages: [
      { title: "Events", to: "/zones/$zone/security/events" },
      { title: "Rules", to: "/zones/$zone/security/rules" },
      { title: "Managed rules", to: "/zones/$zone/security/managed" },
      { title: "Sensitive data", to: "/zones/$zone/security/sensitive-data" },
      { title: "Addresses and agents", to: "/zones/$zone/security/visitors" },
      { title: "Page Shield", to: "/zones/$zone/security/page-shield" },
      { title: "Try a request", to: "/zones/$zone/security/try" },
    ],
  },
  {
    group: "Traffic",
    pages: [
      { title: "Requests", to: "/zones/$zone/traffic" },
      { title: "Purge the cache", to: "/zones/$zone/cache" },
      { title: "Site settings", to: "/zones/$zone/settings" },
    ],
  },
] as const;

export const ACCOUNT_PAGES = [
  { title: "Home", to: "/", exact: true },
  { title: "Zones", to: "/zones", exact: true },
  { title: "AI gateway", to: "/gateways", exact: false },
  { title: "Tunnels", to: "/tunnels", exact: false },
  { title: "Images", to: "/images", exact: false },
  { title: "Access applications", to: "/access", exact: false },
  { title: "Nodes", to: "/nodes", exact: true },
  { title: "Deprecations", to: "/deprecations", exact: false },
  { title: "Account", to: "/account", exact: false },
] as const;

/** Further places that the palette leads to. */
export const ACCOUNT_PLACES = [
  { title: "API tokens", to: "/account" },
  { title: "Members and invitations", to: "/account/members" },
  { title: "Account name and identifier", to: "/account/settings" },
  { title: "Variants of images", to: "/images/variants" },
  { title: "Signing keys of images", to: "/images/keys" },
  { title: "Sign-in methods, passkeys and password", to: "/account/sign-in" },
  { title: "Sessions", to: "/account/sessions" },
  { title: "Audit log", to: "/account/audit" },
  { title: "Notifications, webhooks and alerts", to: "/account/notifications" },
  { title: "Addresses that all zones admit or block", to: "/account/addresses" },
  { title: "Lists of addresses and names", to: "/account/lists" },
] as const;

/** Forms that the palette opens, those of a zone while one is at it. */
export const ZONE_ACTIONS = [{ title: "Add a record", to: "/zones/$zone/dns/records", search: { record: "new" } }] as const;

export const ACCOUNT_ACTIONS = [
  { title: "Add a zone", to: "/zones", search: { add: "1" } },
  { title: "Create an API token", to: "/account", search: { add: "1" } },
  { title: "Admit or block addresses in all zones", to: "/account/addresses", search: { add: "1" } },
  { title: "Invite a member", to: "/account/members", search: { add: "1" } },
  { title: "Create a gateway", to: "/gateways", search: { add: "1" } },
  { title: "Upload images", to: "/images", search: { add: "1" } },
  { title: "Add an Access application", to: "/access", search: { add: "1" } },
  { title: "Create a tunnel", to: "/tunnels", search: { add: "1" } },
] as const;
