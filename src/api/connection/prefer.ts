/** Wishes of a client for its answer (RFC 7240); unknown preferences are ignored. */
export interface Preferences {
  /** The answer may come before the work is done. */
  readonly isAsync: boolean;
  /** How long the client waits for planes that are behind; undefined without a wish. */
  readonly waitSeconds: number | undefined;
}

/** A client that wishes more waits this long. */
const WAIT_SECONDS_MAX = 60;

export function readPreferences(field: string | readonly string[] | undefined): Preferences {
  if (field === undefined) return { isAsync: false, waitSeconds: undefined };
  const wishes = String(field)
    .split(",")
    // Parameters of a preference follow a semicolon; neither of these has any.
    .map((one) => (one.split(";", 1)[0] ?? "").trim().toLowerCase());
  // The first of equal names counts (RFC 7240 §2).
  const wait = wishes.map((one) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(one)?.[1]).find((seconds) => seconds !== undefined);
  return {
    isAsync: wishes.includes("respond-async"),
    waitSeconds: wait === undefined ? undefined : Math.min(Number(wait), WAIT_SECONDS_MAX),
  };
}
