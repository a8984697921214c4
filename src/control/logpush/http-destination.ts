import { isSendable } from "#control/gateways/header-fields.ts";
import { type OutboundAddressAllowed, readOutboundUrl } from "#control/outbound.ts";
import { invalidDestination, type LogDestination } from "./destination.ts";

const HEADER = "header_";

/**
 * Parses `https://host/path?header_Authorization=…`: files are sent by POST; parameters that begin with `header_` become
 * header fields, the others stay in the URL. Throws `logpush_invalid`.
 */
export function readHttpDestination(text: string, allowed: OutboundAddressAllowed): LogDestination {
  const url = readOutboundUrl(text, allowed);
  if (!(url instanceof URL)) {
    const hint = url.problem === "must not carry credentials" ? "; set header_Authorization instead" : "";
    throw invalidDestination(`${url.problem}${hint}`);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of [...url.searchParams]) {
    if (!name.startsWith(HEADER)) continue;
    const field = name.slice(HEADER.length);
    if (!isSendable(field, value))
      throw invalidDestination(
        `has ${name}, which is not an allowed header: use printable ASCII in names and values; hop-by-hop fields are not allowed`,
      );
    headers[field.toLowerCase()] = value;
    url.searchParams.delete(name);
  }
  url.hash = "";
  return { request: ({ form }) => ({ method: "POST", url, headers: { ...FORMS[form], ...headers } }) };
}

const FORMS = {
  gzip: { "content-type": "application/x-ndjson", "content-encoding": "gzip" },
  text: { "content-type": "text/plain; charset=utf-8" },
} as const;
