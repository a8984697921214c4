export const nameKinds = new Map<string, boolean>();

export const NAME_KINDS_MAX = 1000;

/** Whether a header holds a credential. Clients choose the names, so the memory of known names is bounded. */
export function isSecretName(name: string): boolean {
  let kind = nameKinds.get(name);
  if (kind === undefined) {
    if (nameKinds.size >= NAME_KINDS_MAX) nameKinds.clear();
    kind =
      /auth|key|token|secret|cookie|passw|credential|signature|session/.test(name) &&
      !/-aig-(cache-key|metadata)$|^sec-websocket-key$/.test(name);
    nameKinds.set(name, kind);
  }
  return kind;
}
