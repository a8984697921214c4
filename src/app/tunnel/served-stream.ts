import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import { errorPage } from "#edge/pages/error-page.ts";
import { upgradeProtocol } from "#edge/origin/origin-head.ts";
import { webSocketKeyOf } from "#edge/origin/switched-protocol.ts";
import { ingressFor } from "#model/tunnels/ingress-rules.ts";
import { Http1Connection } from "#wire/connections/http/http1-connection.ts";
import type { RequestService } from "#wire/connections/http/request-service.ts";
import type { Trailer } from "#wire/http/chunked.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { readTarget } from "#wire/http/target.ts";
import { forwardedFields, framingField } from "#wire/http/write.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import type { AnsweredStream, Answering, Serving } from "./serving.ts";
import { ServiceCall } from "./service-call.ts";
import { TcpBridge } from "./tcp-bridge.ts";

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  204: "No Content",
  404: "Not Found",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

/** A stream of a tunnel: the edge sends requests on it, one after the other, and each goes where the rules say. */
export class ServedStream implements RequestService, AnsweredStream {
  readonly connection: Http1Connection;
  hasBegun = false;
  private readonly connector: Serving;
  private answering: Answering | null = null;
  private isHead = false;

  constructor(connector: Serving, stream: Transport) {
    this.connector = connector;
    this.connection = new Http1Connection(connector.owner, stream);
    this.connection.serve(this);
  }

  onHead(buffer: Buffer, head: Head): void {
    this.hasBegun = false;
    this.isHead = head.method === "HEAD";
    const target = readTarget(buffer, head, "http");
    if (target === null) return this.answer(400, "The request has no valid target.");
    const rule = ingressFor(this.connector.rules(), target.authority.host, target.path);
    if (rule === undefined) return this.answer(503, "No rule of the tunnel matches.");
    const { service, origin } = rule;
    const hasBody = !this.connection.reader.isComplete;
    const upgrade = upgradeProtocol(buffer, head);
    if (service.kind === "status") return this.answer(service.status, "");
    if (service.kind === "unset") return this.answerUnset(buffer, head);
    if (service.kind === "tcp") {
      const key = upgrade.toLowerCase() === "websocket" ? webSocketKeyOf(buffer, head) : "";
      if (key === "") return this.answer(400, "This service takes WebSocket requests only.");
      this.answering = new TcpBridge(this, service, key, (origin.connectTimeout ?? CONNECT_SECONDS) * 1000);
      return;
    }
    const { host, port } = target.authority;
    const own = origin.httpHostHeader || (port === null ? host : `${host}:${port}`);
    const serverName = origin.originServerName || (origin.matchSNItoHost === true ? host : service.host);
    const pools = this.connector.pools(origin.caPool ?? "");
    if (pools === null) return this.answer(502, "The connector cannot read the authorities of this service.");
    const call = new ServiceCall(this, {
      pools,
      address: service.host,
      port: service.port,
      tls: service.kind === "https" ? { serverName, verified: origin.noTLSVerify !== true } : null,
      method: head.method,
      wanted: upgrade === "" ? null : { name: upgrade, webSocketKey: webSocketKeyOf(buffer, head) },
      isChunked: head.chunked,
      hasBody,
      head:
        `${head.method} ${target.originForm} HTTP/1.1\r\nHost: ${own}\r\n${forwardedFields(buffer, head)}` +
        // The reader takes it out of the fields, since an edge writes its own; without it a service that is the edge itself would get the request again and again.
        (head.loopIndex < 0 ? "" : `CDN-Loop: ${head.value(buffer, head.loopIndex)}\r\n`) +
        (head.takesTrailers && upgrade === "" ? "TE: trailers\r\nConnection: TE\r\n" : "") +
        (upgrade === "" ? "" : `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\n`) +
        `${head.chunked ? framingField(null) : head.contentLength >= 0 ? framingField(head.contentLength) : ""}\r\n`,
    });
    this.answering = call;
    call.start(false);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.answering?.onRequestBody(buffer, start, end);
  }

  onRequestEnd(trailers: readonly Trailer[]): void {
    this.answering?.onRequestEnd(trailers);
  }

  onRefused(status: number): void {
    this.answering?.abort();
    this.answer(status, "The request is not valid.", false);
  }

  flushBody(): boolean {
    return this.answering?.flushRequest() ?? true;
  }

  onDrain(): void {
    this.answering?.onEdgeDrain();
  }

  onRaw(buffer: Buffer, start: number, end: number): boolean {
    return this.answering?.onRaw(buffer, start, end) ?? true;
  }

  onRawEnd(): void {
    this.answering?.onRawEnd();
  }

  onClosed(): void {
    this.answering?.abort();
    this.answering = null;
  }

  /** The connector's own answer; once another has begun, the stream can only be cut. */
  answer(status: number, text: string, keepsAlive = true, mediaType = "text/plain"): void {
    if (this.hasBegun) return this.connection.transport.destroy();
    this.hasBegun = true;
    const body = status === 204 || status === 304 || this.isHead ? "" : text;
    const length = status === 204 || status === 304 ? "" : framingField(text.length);
    const type = text === "" ? "" : `Content-Type: ${mediaType}\r\n`;
    const ends = this.closing() || !keepsAlive ? "Connection: close\r\n" : "";
    this.connection.writer.string(`HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n${type}${length}${ends}\r\n${body}`);
    this.finish(keepsAlive);
  }

  private answerUnset(buffer: Buffer, head: Head): void {
    this.connector.onUnset();
    const { status, body, contentType } = errorPage(EDGE_ERRORS.tunnel_unset, head.value(buffer, head.acceptIndex), rayIn(buffer, head));
    this.answer(status, body, true, contentType);
  }

  /** The response is written. */
  finish(keepsAlive: boolean): void {
    this.answering = null;
    this.connection.writer.flush();
    this.connection.answered(keepsAlive && !this.closing());
  }

  /** Whether the edge should send nothing more on this stream. */
  closing(): boolean {
    return this.connector.owner.isDraining() || !this.connection.reader.isComplete;
  }
}

/** The edge's number of the request, in a field whose name begins with a prefix that the operator sets; the edge's own fields come last. */
function rayIn(buffer: Buffer, head: Head): string {
  for (let index = head.fieldCount - 1; index >= 0; index--)
    if (head.name(buffer, index).toLowerCase().endsWith("-ray") && RAY.test(head.value(buffer, index))) return head.value(buffer, index);
  return "";
}
const RAY = /^[0-9a-f]{16}$/;

/** As long as published connectors wait. */
const CONNECT_SECONDS = 30;
