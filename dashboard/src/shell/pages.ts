/** Every page that navigation and palette lead to, in order. */
export const ZONE_PAGES = [
  { group: "", pages: [{ title: "Overview", to: "/zones/$zone" }] },
  {
    group: "DNS",
    pages: [
      { title: "Records", to: "/zones/$zone/dns/records" },
      { title: "Import and export", to: "/zones/$zone/dns/import" },
      { title: "DNSSEC", to: "/zones/$zone/dns/dnssec" },
    ],
  },
  {
    group: "Security",
    pages: [
      { title: "Events", to: "/zones/$zone/security/events" },
      { title: "Custom rules", to: "/zones/$zone/security/rules" },
      { title: "Managed rules", to: "/zones/$zone/security/managed" },
    ],
  },
  {
    group: "Traffic",
    pages: [
      { title: "Requests", to: "/zones/$zone/traffic" },
      { title: "Custom hostnames", to: "/zones/$zone/hostnames" },
    ],
  },
] as const;

export const ACCOUNT_PAGES = [
  { title: "Home", to: "/", exact: true },
  { title: "Zones", to: "/zones", exact: true },
  { title: "AI gateway", to: "/gateways", exact: false },
  { title: "Deprecations", to: "/deprecations", exact: false },
  { title: "Account", to: "/account", exact: false },
] as const;
