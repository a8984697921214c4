import type { AccessApp, AccessAppType, AccessAppWrite, AccessDestination } from "#model/access/access-app.ts";

/** The types of the API, in the order of a list. */
export const TYPE_WORDS: Readonly<Record<string, string>> = {
  self_hosted: "Site",
  bookmark: "Bookmark",
  ssh: "SSH",
  vnc: "VNC",
  rdp: "RDP",
  app_launcher: "App launcher",
  warp: "Device enrolment",
  biso: "Browser isolation",
  proxy_endpoint: "Proxy endpoint",
  mcp: "MCP server",
  mcp_portal: "MCP portal",
} satisfies Readonly<Record<AccessAppType, string>>;

/** Those that the form makes; Terraform and the API make the others, which need more than addresses. */
export const FORM_TYPES = ["self_hosted", "ssh", "vnc", "bookmark"] as const;
export type FormType = (typeof FORM_TYPES)[number];

const placeOf = (destination: AccessDestination): string =>
  "uri" in destination
    ? destination.uri
    : "worker_id" in destination
      ? destination.worker_id
      : "mcp_server_id" in destination
        ? destination.mcp_server_id
        : "hostname" in destination || "cidr" in destination
          ? [destination.hostname ?? destination.cidr, destination.port_range].filter(Boolean).join(":")
          : (destination.type ?? "").replaceAll("_", " ");

export const placesOf = ({ destinations, domain }: Pick<AccessApp, "destinations" | "domain">): readonly string[] =>
  destinations ? destinations.map(placeOf) : domain === undefined ? [] : [domain];

/** A replacement has all fields but those that the server sets. */
export function writtenOf(app: AccessApp | undefined, change: AccessAppWrite): AccessAppWrite {
  if (!app) return change;
  const { id: _id, aud: _aud, policies: _policies, created_at: _created, updated_at: _updated, ...kept } = app;
  return { ...kept, ...change };
}
