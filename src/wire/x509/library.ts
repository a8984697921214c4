/** The X.509 library takes about 90 ms to load, so nothing loads it before a certificate is needed. */
export type X509 = typeof import("@peculiar/x509");

let loading: Promise<X509> | undefined;

/** The library, loaded once, working on Node's own Web Crypto. */
export function loadX509(): Promise<X509> {
  loading ??= load();
  return loading;
}

async function load(): Promise<X509> {
  // Its dependency container asks for this polyfill to be there first.
  await import("reflect-metadata");
  const library = await import("@peculiar/x509");
  library.cryptoProvider.set(globalThis.crypto);
  return library;
}
