import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { SignatureV4 } from "@smithy/signature-v4";

export const CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret/of+the/bucket/EXAMPLEKEY" } as const;
export const BUCKET = "bucket";
const REGION = "eu-central-1";

export interface ObjectServer {
  readonly url: string;
  readonly objects: Map<string, { readonly bytes: Buffer; modified: Date }>;
  /** Answers with this status instead. */
  fails: number;
  config(prefix?: string): {
    readonly endpoint: string;
    readonly region: string;
    readonly bucket: string;
    readonly prefix: string;
    readonly access_key_id: string;
    readonly secret_access_key: string;
  };
  close(): void;
}

/** The items of an iterable, in order. */
export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

class NodeSha256 {
  readonly #hash;
  constructor(key?: unknown) {
    this.#hash = key === undefined ? createHash("sha256") : createHmac("sha256", Buffer.from(key as Uint8Array));
  }
  update(data: Uint8Array | string): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {}
}

const signer = new SignatureV4({
  ...{ service: "s3", region: REGION, credentials: CREDENTIALS, sha256: NodeSha256 as never },
  ...{ uriEscapePath: false, applyChecksum: false },
});

/** S3's API for whole objects, with the checks of signatures by the SDK of AWS, and of digests. Lists have two keys a page. */
export async function startObjectServer(): Promise<ObjectServer> {
  const objects: ObjectServer["objects"] = new Map();
  const server = createServer(async (req, res) => {
    const body = Buffer.concat(await allOf(req as AsyncIterable<Buffer>));
    const answer = (status: number, text: string | Buffer = ""): void =>
      void res.writeHead(status, { "content-type": "application/xml" }).end(text);
    const refuse = (status: number, code: string): void => answer(status, `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
    if (state.fails !== 0) return refuse(state.fails, "SlowDown");
    const url = new URL(req.url ?? "/", "http://host");
    if (!(await isSigned(req, url))) return refuse(403, "SignatureDoesNotMatch");
    if (createHash("sha256").update(body).digest("hex") !== req.headers["x-amz-content-sha256"])
      return refuse(400, "XAmzContentSHA256Mismatch");
    const [, bucket = "", ...parts] = url.pathname.split("/");
    if (bucket !== BUCKET) return refuse(404, "NoSuchBucket");
    const key = parts.map(decodeURIComponent).join("/");
    if (key === "") return answer(200, listOf(url.searchParams));
    if (req.method === "PUT") objects.set(key, { bytes: body, modified: new Date() });
    if (req.method === "DELETE") return void (objects.delete(key), answer(204));
    const found = objects.get(key);
    return found === undefined ? refuse(404, "NoSuchKey") : answer(200, req.method === "PUT" ? "" : found.bytes);
  });
  const listOf = (query: URLSearchParams): string => {
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "")).toSorted();
    const from = Number(query.get("continuation-token") ?? 0);
    const contents = keys
      .slice(from, from + 2)
      .map((key) => `<Contents><Key>${key}</Key><LastModified>${objects.get(key)!.modified.toISOString()}</LastModified></Contents>`);
    const next = from + 2 < keys.length ? `<NextContinuationToken>${from + 2}</NextContinuationToken>` : "";
    return `<?xml version="1.0"?><ListBucketResult>${contents.join("")}${next}</ListBucketResult>`;
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: ObjectServer = {
    ...{ url, objects, fails: 0 },
    config: (prefix = "") => ({
      ...{ endpoint: url, region: REGION, bucket: BUCKET, prefix },
      ...{ access_key_id: CREDENTIALS.accessKeyId, secret_access_key: CREDENTIALS.secretAccessKey },
    }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return state;
}

/** Signs the request again, with the headers that its signature names. */
async function isSigned({ method = "", headers }: IncomingMessage, url: URL): Promise<boolean> {
  const given = headers.authorization ?? "";
  const named = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(";") ?? [];
  const date = String(headers["x-amz-date"]).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
  if (!named.includes("host") || !named.includes("x-amz-content-sha256") || Number.isNaN(Date.parse(date))) return false;
  const signed = await signer.sign(
    {
      ...{ method, protocol: "http:", hostname: "", path: url.pathname, query: Object.fromEntries(url.searchParams) },
      headers: Object.fromEntries(named.map((name) => [name, String(headers[name])])),
    },
    { signingDate: new Date(date) },
  );
  const signatureOf = (text: string): string | undefined => /Signature=([0-9a-f]{64})/.exec(text)?.[1];
  return signatureOf(signed.headers["authorization"] ?? "") === signatureOf(given);
}
