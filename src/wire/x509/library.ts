/** The X.509 library takes about 90 ms to load, so it is only loaded when needed. */
export type X509 = typeof import("@peculiar/x509");

let loading: Promise<X509> | undefined;

/** The library, loaded once, with Node.js's Web Crypto. */
export function loadX509(): Promise<X509> {
  loading ??= load();
  return loading;
}

async function load(): Promise<X509> {
  // Its dependency container requires this polyfill.
  await import("reflect-metadata");
  const library = await import("@peculiar/x509");
  library.cryptoProvider.set(globalThis.crypto);
  return library;
}
