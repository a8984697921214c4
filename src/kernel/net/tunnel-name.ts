const ID_CHARACTERS = 36;
/**
 * A CNAME leads to a tunnel by its id below one of these: ours, which cannot exist in public DNS (ICANN, 2024), or the one that
 * published clients write.
 */
const SUFFIXES = [".tunnel.internal", ".cfargotunnel.com"] as const;
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The tunnel that the host name, in lower case, stands for; undefined for every other name. */
export function tunnelIdOf(name: string): string | undefined {
  if (!SUFFIXES.some((suffix) => name.length === ID_CHARACTERS + suffix.length && name.endsWith(suffix))) return undefined;
  const id = name.slice(0, ID_CHARACTERS);
  return ID.test(id) ? id : undefined;
}
