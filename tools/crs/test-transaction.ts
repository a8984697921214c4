import type { NamedValue, TransactionRequest, TransactionResponse } from "#rules/seclang/transaction/transaction.ts";
import { processorOf, readArguments, readCookies, readPlainBody } from "./plain-reader.ts";
import type { StageInput } from "./regression-tests.ts";

/** A request as a test sends it. */
export function transactionOf(input: StageInput): TransactionRequest {
  const sent = input.encoded === "" ? fromFields(input) : fromBytes(Buffer.from(input.encoded, "base64").toString("latin1"));
  const header = (wanted: string): string => sent.headers.find(({ name }) => name.toLowerCase() === wanted)?.value ?? "";
  const question = sent.target.indexOf("?");
  const hash = sent.target.indexOf("#", question);
  const query = question === -1 ? "" : sent.target.slice(question + 1, hash === -1 ? undefined : hash);
  return {
    ...sent,
    cookies: readCookies(sent.headers),
    queryArguments: readArguments(query),
    remoteAddress: "127.0.0.1",
    remotePort: 40_000,
    serverAddress: "127.0.0.1",
    serverName: header("host"),
    serverPort: 80,
    uniqueId: "0123456789abcdef",
    timeMs: 0,
    country: "",
    bodyProcessor: processorOf(header("content-type")),
    readBody: (processor) => readPlainBody(sent.body, header("content-type"), processor),
  };
}

interface Sent extends Pick<TransactionRequest, "method" | "target" | "protocol" | "line" | "headers"> {
  readonly body: string;
}

function fromFields({ method, uri, version, headers, data, completesHeaders }: StageInput): Sent {
  const named: NamedValue[] = headers.map(([name, value]) => ({ name, value }));
  const has = (wanted: string): boolean => named.some(({ name }) => name.toLowerCase() === wanted);
  if (completesHeaders) {
    if (data !== "" && !has("content-type")) named.push({ name: "Content-Type", value: "application/x-www-form-urlencoded" });
    if (!has("connection")) named.push({ name: "Connection", value: "close" });
    if (data !== "" && !has("content-length") && !has("transfer-encoding"))
      named.push({ name: "Content-Length", value: String(data.length) });
  }
  return { method: method.trim(), target: uri, protocol: version, line: `${method} ${uri} ${version}`.trim(), headers: named, body: data };
}

function fromBytes(bytes: string): Sent {
  const end = bytes.search(/\r?\n\r?\n/);
  const [line = "", ...lines] = (end === -1 ? bytes : bytes.slice(0, end)).split(/\r?\n/);
  const [method = "", target = "", protocol = ""] = line.split(" ");
  const headers = lines.map((field) => {
    const colon = field.indexOf(":");
    return { name: field.slice(0, colon), value: field.slice(colon + 1).trim() };
  });
  return { method, target, protocol, line, headers, body: end === -1 ? "" : bytes.slice(end).replace(/^\r?\n\r?\n/, "") };
}

/** The response of the suite's own backend. */
export const responseOf = (request: TransactionRequest): TransactionResponse => reflected(request.target, request.readBody("").text);

/** The response of the backend: `/reflect` returns the response that the body describes. */
export function reflected(target: string, text: string): TransactionResponse {
  const plain = { status: 200, protocol: "HTTP/1.1", headers: [{ name: "Content-Type", value: "text/html" }], body: "" };
  if (/\/base64\//.test(target)) {
    const encoded = /\/base64\/([^?]*)/.exec(target)![1]!;
    return { ...plain, body: Buffer.from(decodeURIComponent(encoded), "base64").toString("latin1") };
  }
  if (!target.includes("/reflect")) return plain;
  try {
    const asked = JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Readonly<Record<string, unknown>>;
    const headers = Object.entries((asked["headers"] as Readonly<Record<string, string>> | undefined) ?? {});
    const encoded = asked["encodedBody"];
    return {
      ...plain,
      status: Number(asked["status"] ?? 200),
      headers: headers.map(([name, value]) => ({ name, value })),
      body:
        typeof encoded === "string"
          ? Buffer.from(encoded, "base64").toString("latin1")
          : Buffer.from(String((asked["body"] as string | undefined) ?? ""), "utf8").toString("latin1"),
    };
  } catch {
    return plain;
  }
}
