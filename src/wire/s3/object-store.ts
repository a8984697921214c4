import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import type { Clock } from "#kernel/clock.ts";
import { signAws } from "#wire/http/sign-aws.ts";

/** A bucket of S3, or of another server with its API, below a prefix. Methods throw `ObjectStoreError`. */
export interface ObjectStore {
  /** Resolves once the server has the whole object, whose SHA-256 it has compared. */
  put(key: string, body: Buffer): Promise<void>;
  /** The same for a file of at most 5 GiB, which S3 takes in one piece. */
  putFile(key: string, path: string): Promise<void>;
  /** Null if the object does not exist. */
  get(key: string, bytesMax: number): Promise<Buffer | null>;
  /** Also resolves if the object does not exist. */
  remove(key: string): Promise<void>;
  /** The objects whose keys begin with the text, in pages of up to 1,000. */
  list(start: string): AsyncGenerator<readonly StoredObject[]>;
}

export interface StoredObject {
  readonly key: string;
  /** Unix milliseconds. */
  readonly modifiedMs: number;
}

export interface ObjectStoreConfig {
  /** `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Before all keys; empty or ending with a slash. */
  readonly prefix: string;
  readonly access_key_id: string;
  readonly secret_access_key: string;
}

/** The server refused a request or did not answer. The message names the server's code and never the credentials. */
export class ObjectStoreError extends Error {}

const ANSWER_MS = 30_000;
const BYTES_PER_MS_MIN = 100;
const FILE_BYTES_MAX = 5 * 1024 ** 3;
const ANSWER_BYTES_MAX = 4 * 1024 ** 2;

interface Sending {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly key: string;
  readonly query?: string;
  readonly body?: Buffer | Blob;
  /** SHA-256 of the body, hexadecimal. */
  readonly digest?: string;
}

export function createObjectStore(config: ObjectStoreConfig, clock: Pick<Clock, "nowMs">): ObjectStore {
  const { endpoint, region, bucket, prefix, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = config;
  const ask = async ({ method, key, query = "", body, digest = EMPTY_DIGEST }: Sending): Promise<Response> => {
    const path = key === "" ? [bucket] : [bucket, ...`${prefix}${key}`.split("/")];
    const target = `/${path.map(encoded).join("/")}${query}`;
    const fields = { "x-amz-content-sha256": digest };
    const asked = {
      method,
      host: new URL(endpoint).host,
      target,
      headers: fields,
      body: NOTHING,
      digest,
      region,
      service: "s3",
      atMs: clock.nowMs(),
    };
    const headers = { ...fields, ...signAws(asked, { accessKeyId, secretAccessKey }) };
    const bytes = body === undefined ? 0 : body instanceof Blob ? body.size : body.length;
    const signal = AbortSignal.timeout(ANSWER_MS + Math.ceil(bytes / BYTES_PER_MS_MIN));
    const request = { method, headers, signal, redirect: "error", ...(body === undefined ? {} : { body }) } as const;
    return fetch(`${endpoint}${target}`, request as RequestInit).catch((error: unknown) => {
      throw new ObjectStoreError(`${method} ${key} of bucket ${bucket}: ${reasonOf(error)}`, { cause: error });
    });
  };
  const refused = async (what: string, response: Response): Promise<never> => {
    const code = between((await textOf(response)).slice(0, 10_000), "<Code>", "</Code>") ?? "";
    throw new ObjectStoreError(`${what} of bucket ${bucket}: the server responded with ${response.status} ${code}`.trimEnd());
  };
  const put = async (key: string, body: Buffer | Blob, digest: string): Promise<void> => {
    const response = await ask({ method: "PUT", key, body, digest });
    if (response.status !== 200) await refused(`PUT ${key}`, response);
    await response.body?.cancel();
  };

  return {
    put: (key, body) => put(key, body, createHash("sha256").update(body).digest("hex")),
    putFile: async (key, path) => {
      const { size } = await stat(path);
      if (size > FILE_BYTES_MAX) throw new ObjectStoreError(`${path} has more than 5 GiB, which S3 does not take in one piece`);
      const hash = createHash("sha256");
      for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
      await put(key, await openAsBlob(path), hash.digest("hex"));
    },
    get: async (key, bytesMax) => {
      const response = await ask({ method: "GET", key });
      if (response.status === 404) {
        await response.body?.cancel();
        return null;
      }
      if (response.status !== 200) await refused(`GET ${key}`, response);
      const bytes = await bytesOf(response, bytesMax);
      if (bytes === null) throw new ObjectStoreError(`GET ${key} of bucket ${bucket}: the object has more than ${bytesMax} bytes`);
      return bytes;
    },
    remove: async (key) => {
      const response = await ask({ method: "DELETE", key });
      if (response.status !== 204 && response.status !== 200 && response.status !== 404) await refused(`DELETE ${key}`, response);
      await response.body?.cancel();
    },
    list: async function* (start) {
      for (let token: string | null = null; ;) {
        const parameters = { "list-type": "2", prefix: `${prefix}${start}`, ...(token === null ? {} : { "continuation-token": token }) };
        const query = Object.entries(parameters)
          .map(([name, value]) => `${name}=${encoded(value)}`)
          .join("&");
        const response: Response = await ask({ method: "GET", key: "", query: `?${query}` });
        if (response.status !== 200) await refused("the list", response);
        const text = await textOf(response);
        yield objectsIn(text).flatMap(({ key, ...more }) => (key.startsWith(prefix) ? [{ key: key.slice(prefix.length), ...more }] : []));
        token = between(text, "<NextContinuationToken>", "</NextContinuationToken>");
        if (token === null) return;
      }
    },
  };
}

const NOTHING = new Uint8Array();

/** RFC 3986 §2.3: S3 signs all characters but these in their encoded form. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const EMPTY_DIGEST = createHash("sha256").digest("hex");

const reasonOf = (error: unknown): string => {
  const { cause, message } = error as { readonly cause?: { readonly code?: string; readonly message?: string }; readonly message: string };
  return cause?.code ?? cause?.message ?? message;
};

/** Null if the response has more bytes. */
async function bytesOf(response: Response, bytesMax: number): Promise<Buffer | null> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body ?? []) {
    length += (piece as Uint8Array).length;
    if (length > bytesMax) return null;
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces);
}

const textOf = async (response: Response): Promise<string> =>
  (await bytesOf(response, ANSWER_BYTES_MAX).catch(() => null))?.toString() ?? "";

/** The text between two tags, for values that need no XML escapes: keys and tokens of ours, codes and times. */
function between(text: string, open: string, close: string, from = 0): string | null {
  const start = text.indexOf(open, from);
  const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
  return end < 0 ? null : text.slice(start + open.length, end);
}

function objectsIn(text: string): readonly StoredObject[] {
  const objects: StoredObject[] = [];
  for (let at = text.indexOf("<Contents>"); at >= 0; at = text.indexOf("<Contents>", at + 1)) {
    const key = between(text, "<Key>", "</Key>", at);
    const modifiedMs = Date.parse(between(text, "<LastModified>", "</LastModified>", at) ?? "");
    if (key !== null && !Number.isNaN(modifiedMs)) objects.push({ key, modifiedMs });
  }
  return objects;
}
