import { isSameAuthority, parseAuthority } from "#wire/http/host.ts";

/**
 * The path and query of a target in absolute form, which clients send to proxies and every server must accept (RFC 9112
 * §3.2.2); other targets stay unchanged. Undefined if it names another host than the Host field.
 */
export function originForm(target: string, host: string | undefined): string | undefined {
  if (target.startsWith("/")) return target;
  const [, scheme = "", authority, rest = ""] = /^(https?):\/\/([^/?#@]+)([/?][^]*)?$/i.exec(target) ?? [];
  if (authority === undefined) return target;
  if (host !== undefined && !isSame(authority, host, scheme.toLowerCase() === "https" ? "https" : "http")) return undefined;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function isSame(authority: string, host: string, scheme: "http" | "https"): boolean {
  const [one, other] = [parseAuthority(authority), parseAuthority(host)];
  return one !== null && other !== null && isSameAuthority(one, other, scheme);
}
