import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { PlatformError } from "#kernel/errors/errors.ts";

/** RFC 9106 §4 with the OWASP minimum for servers: 19 MiB, two passes, one lane; about 50 ms in a thread of the pool. */
const COST = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const HASH_BYTES = 32;
const SALT_BYTES = 16;
/** Number of hashes in progress at once, so that sign-ins take neither all memory nor all threads of the pool. */
const CONCURRENT_MAX = 2;
const WAITING_MAX = 64;

/** `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`, in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${salt.toString("base64url")}$${hash.toString("base64url")}`;
}

/**
 * Whether the password matches the hash. Without a hash it takes the same time and returns false, so that timing does not
 * reveal who has one.
 */
export async function fitsPassword(password: string, encoded: string | null): Promise<boolean> {
  const parts = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w-]{1,64})\$([\w-]{1,128})$/.exec(encoded ?? "");
  const [, memory, passes, parallelism, salt, hash] = parts ?? [];
  const cost = parts === null ? COST : { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const wanted = Buffer.from(hash ?? "", "base64url");
  const found = await derive(password, Buffer.from(salt ?? "no salt for nobody", "base64url"), cost);
  return parts !== null && wanted.length === found.length && timingSafeEqual(wanted, found);
}

type Cost = { readonly [K in keyof typeof COST]: number };

let running = 0;
const waiting: (() => void)[] = [];

async function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  if (running >= CONCURRENT_MAX) {
    if (waiting.length >= WAITING_MAX) throw new PlatformError("passwords_busy");
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await new Promise((resolve, reject) => {
      argon2("argon2id", { message: password.normalize("NFKC"), nonce: salt, tagLength: HASH_BYTES, ...cost }, (error, hash) =>
        error ? reject(error) : resolve(hash),
      );
    });
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
