/** The characters of RFC 6750's b64token; shorter than 8 would be guessed. */
export const isTokenSecret = (text: string): boolean => /^[A-Za-z0-9._~+/=-]{8,256}$/.test(text);

/** The form of an account holder's API key. */
export const isApiKey = (text: string): boolean => /^[A-Za-z0-9_-]{16,128}$/.test(text);
