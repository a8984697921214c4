/**
 * The path and query of a target in absolute form, which clients send to proxies and every server must accept (RFC 9112
 * §3.2.2); other targets stay unchanged. Undefined if it names another host than the Host field.
 */
export function originForm(target: string, host: string | undefined): string | undefined {
  if (target.startsWith("/")) return target;
  const [, authority, rest = ""] = /^https?:\/\/([^/?#@]+)([/?][^]*)?$/i.exec(target) ?? [];
  if (authority === undefined) return target;
  if (host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return undefined;
  return rest.startsWith("/") ? rest : `/${rest}`;
}
