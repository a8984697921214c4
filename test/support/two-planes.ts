import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect, type PeerCertificate } from "node:tls";
import { createMetrics } from "#kernel/process/metrics.ts";
import { startEdge, type TestEdge } from "#edge/testing/edge.ts";
import { createNameserver } from "#nameserver/nameserver.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica, type MemoryReplica } from "#snapshot/memory-replica.ts";
import { RCODE, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage } from "#wire/dns/message.ts";
import { formatName } from "#wire/dns/name.ts";
import { presentationText, recordTypeByCode, typeCode } from "#wire/dns/record-types.ts";
import { askUdp, queryFor } from "./dns-client.ts";
import { NAMESERVER_PARTS, nameserverConfig, SEALER } from "./nameserver.ts";

/** Nameserver and edge over the same entries, and a nameserver elsewhere that both ask for names of the world; all on real sockets. */
export interface TwoPlanes {
  readonly edge: TestEdge;
  readonly dnsPort: number;
  /** `127.0.0.1:{port}` of the nameserver elsewhere. */
  readonly resolver: string;
  /** Of the origins, which say the address that they were reached at. */
  readonly originPort: number;
  readonly world: MemoryReplica;
  /** IDs of secondary zones whose NOTIFY was accepted. */
  readonly notified: string[];
  apply(...ops: readonly Op[]): void;
  replace(ops: readonly Op[]): void;
  /** The RCODE's name, then a line for each record: section, owner, type and content, without TTLs and signatures. */
  ask(name: string, type: string, dnssec?: boolean): Promise<readonly string[]>;
  /** The response to a client: status and body, or the error number of the edge's own pages. */
  get(host: string, path?: string): Promise<string>;
  /** The serial number of the certificate in the handshake, or the TLS alert. */
  certificateFor(host: string): Promise<string>;
  close(): Promise<void>;
}

/** Addresses of the edge and of origins: of the outside world, of the two accounts. */
export const EDGE_ADDRESS = "127.0.0.1";
export const OUTSIDE = "127.0.0.2";
export const OF_B = "127.0.0.3";
export const OF_A = "127.0.0.4";

export async function startTwoPlanes(ops: readonly Op[], elsewhere: readonly Op[]): Promise<TwoPlanes> {
  const origins = await startOrigins();
  const world = createMemoryReplica(elsewhere);
  const outside = createNameserver({ replica: world, metrics: createMetrics(), config: nameserverConfig(), ...NAMESERVER_PARTS });
  const resolver = `127.0.0.1:${(await outside.listen()).udp}`;
  const replica = createMemoryReplica(ops);
  const notified: string[] = [];
  const nameserver = createNameserver({
    replica,
    metrics: createMetrics(),
    config: nameserverConfig({ resolvers: [resolver], edgeAddresses: [EDGE_ADDRESS] }),
    ...NAMESERVER_PARTS,
    onNotified: (zoneId) => void notified.push(zoneId),
  });
  const dnsPort = (await nameserver.listen()).udp;
  const edge = await startEdge(ops, { resolvers: [resolver], originPort: origins.port, gatewayPort: origins.port, sealer: SEALER });
  return {
    ...{ edge, dnsPort, resolver, originPort: origins.port, world, notified },
    apply: (...more) => {
      replica.apply(more);
      edge.replica.apply(more);
    },
    replace: (all) => {
      replica.replace(all);
      edge.replica.replace(all);
    },
    ask: async (name, type, dnssec = false) => {
      const plain = queryFor(name, codeOf(type), 1);
      const [response] = await askUdp(dnsPort, [dnssec ? withDnssec(plain) : plain]);
      return linesOf(response as Buffer);
    },
    get: (host, path = "/") => get(edge.http, host, path),
    certificateFor: (host) => certificateFor(edge.https, host),
    close: async () => {
      await edge.close();
      await nameserver.close(100);
      await outside.close(100);
      for (const server of origins.servers) {
        server.close();
        server.closeAllConnections();
      }
      assert.deepEqual(edge.errors, []);
    },
  };
}

const PORT_TRIES = 20;

/** One port on all addresses: another process may have the port that the first address got on one of the others. */
async function startOrigins(): Promise<{ readonly port: number; readonly servers: readonly Server[] }> {
  for (let tries = 1; ; tries++) {
    const servers: Server[] = [];
    let port = 0;
    try {
      for (const address of [OUTSIDE, OF_B, OF_A, EDGE_ADDRESS]) {
        const server = createServer((req, res) => res.end(`${req.socket.localAddress} for ${req.headers.host}`)).listen(port, address);
        servers.push(server);
        await once(server, "listening");
        ({ port } = server.address() as AddressInfo);
      }
      return { port, servers };
    } catch (error) {
      for (const server of servers) server.close();
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || tries === PORT_TRIES) throw error;
    }
  }
}

/** RFC 6891 §6.1.2, with the DO bit (RFC 3225). */
function withDnssec(query: Buffer): Buffer {
  const bytes = Buffer.concat([query, Buffer.from("00002904d0000080000000", "hex")]);
  bytes.writeUInt16BE(1, 10);
  return bytes;
}

function codeOf(type: string): number {
  const code = typeCode(type) ?? (TYPE as Readonly<Record<string, number>>)[type];
  assert.ok(code !== undefined, type);
  return code;
}

const OPT = 41;
const RRSIG = 46;

function linesOf(response: Buffer): readonly string[] {
  const { flags, answers, authorities, additionals } = decodeMessage(response);
  const rcode = Object.entries(RCODE).find(([, code]) => code === (flags & 0xf))?.[0] ?? "";
  const lines = (section: string, records: typeof answers): string[] =>
    records
      .filter(({ type }) => type !== OPT && type !== RRSIG)
      .map(({ name, type, rdata }) => {
        const row = recordTypeByCode(type);
        return `${section} ${formatName(name)} ${row?.name ?? type} ${row ? presentationText(row.name, rdata) : Buffer.from(rdata).toString("hex")}`;
      })
      .sort();
  return [rcode, ...lines("an", answers), ...lines("ns", authorities), ...lines("ad", additionals)];
}

const get = (port: number, host: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = httpRequest({ host: "127.0.0.1", port, path, headers: { host }, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text: string) => (body += text));
      res.on("end", () => resolve(`${res.statusCode} ${/Error \d+/.exec(body)?.[0] ?? body}`));
    });
    asked.on("error", reject).end();
  });

const certificateFor = (port: number, servername: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false }, () => {
      const { serialNumber }: PeerCertificate = socket.getPeerCertificate();
      socket.destroy();
      resolve(serialNumber.toLowerCase());
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
