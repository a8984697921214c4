import { CONFIG_ROWS, type ConfigKeyName } from "./config-schema.ts";

type Section = ConfigKeyName extends infer K ? (K extends `${infer S}.${string}` ? S : K) : never;

/** Subjects of keys, by the section before the dot, in the order of help and reference. */
const TITLES: { readonly [S in Section]: string } = {
  data: "State",
  database: "State",
  bus: "Nodes on other machines",
  counters: "Nodes on other machines",
  settle: "Nodes on other machines",
  rollout: "Order of changes on nodes",
  http: "HTTP edge",
  https: "HTTP edge",
  edge: "HTTP edge",
  rules: "Rules",
  waf: "Rules",
  certificates: "Certificates and custom hostnames",
  custom_hostnames: "Certificates and custom hostnames",
  dns: "Nameserver",
  zones: "Ownership of names",
  gateway: "AI gateway",
  api: "Management API",
  sign_in: "Management API",
  tls: "Management API",
  ops: "Operations",
  bootstrap: "First start",
  deprecations: "API date and names",
  vendor: "API date and names",
  backup: "Backups",
  s3: "Backups",
  events: "Events and logs",
  audit_log: "Events and logs",
  images: "Images",
  notifications: "Notifications",
  roles: "Process",
  log: "Process",
  runtime: "Process",
  json: "Process",
  insecure_bind: "Process",
};

/** All keys, by subject. */
export const CONFIG_PARTS: ReadonlyMap<string, readonly ConfigKeyName[]> = (() => {
  const parts = new Map<string, ConfigKeyName[]>();
  for (const [section, title] of Object.entries(TITLES)) {
    const part = parts.get(title) ?? [];
    for (const key of CONFIG_ROWS.keys()) if (key === section || key.startsWith(`${section}.`)) part.push(key);
    parts.set(title, part);
  }
  return parts;
})();
