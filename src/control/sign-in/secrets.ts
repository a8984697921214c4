import { hash } from "node:crypto";
/** The characters of b64token (RFC 6750); fewer than 8 could be guessed. */
export const isTokenSecret = (text: string): boolean => /^[A-Za-z0-9._~+/=-]{8,256}$/.test(text);

/** The format of a user's API key. */
export const isApiKey = (text: string): boolean => /^[A-Za-z0-9_-]{16,128}$/.test(text);

/** A secret as the store holds it. Secrets are random and long, so one round is enough. */
export const hashSecret = (secret: string): string => hash("sha256", secret, "hex");
