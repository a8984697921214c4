/** A connector's first frame. */
export interface Hello {
  readonly account: string;
  readonly tunnel: string;
  readonly secret: string;
  readonly connector: {
    readonly id: string;
    readonly version: string;
    readonly arch: string;
    readonly features: readonly string[];
    readonly run_at: string;
  };
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TEXT_MAX = 64;
const FEATURES_MAX = 16;

/** Undefined if it is not one: the sender is not known yet, and could send anything. */
export function readHello(payload: Buffer): Hello | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload.toString("utf8"));
  } catch {
    return undefined;
  }
  const { a: account, t: tunnel, s: secret, connector } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const { id, version, arch, features, run_at: runAt } = (connector ?? {}) as Readonly<Record<string, unknown>>;
  const isText = (text: unknown): text is string => typeof text === "string" && text.length <= TEXT_MAX;
  if (typeof secret !== "string" || !isText(account) || !isText(tunnel) || !isText(id) || !ID.test(id) || !isText(version) || !isText(arch))
    return undefined;
  if (
    !isText(runAt) ||
    Number.isNaN(Date.parse(runAt)) ||
    !Array.isArray(features) ||
    features.length > FEATURES_MAX ||
    !features.every(isText)
  )
    return undefined;
  return { account, tunnel, secret, connector: { id, version, arch, features, run_at: new Date(runAt).toISOString() } };
}
