import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, startTool } from "../bench/program.ts";
import { runClient } from "./client.ts";

/** A certificate authority that validates like public ones, and forgets everything at its end. */
export interface Pebble {
  readonly directoryUrl: string;
  /** PEM file of the root that signs its own server certificate. */
  readonly rootsPath: string;
  readonly roots: string;
  readonly key: string;
  stop(): Promise<void>;
}

export interface PebbleOptions {
  /** Port that it connects to for HTTP validation; 80 in production. */
  readonly httpPort?: number;
  /** `HOST:PORT` of the nameserver that it queries for everything. */
  readonly dns?: string;
  /** Of a hundred nonces, so many are refused. */
  readonly nonceReject?: number;
  /** Accepts every proof without validation. */
  readonly alwaysValid?: boolean;
  /** Accounts must be bound to this one. */
  readonly binding?: { readonly keyId: string; readonly hmacKey: string };
  /** Starts again on the port of a former one. */
  readonly port?: number;
  /** Its server has the certificate of that one, which may have ended. */
  readonly certificateOf?: Pebble;
}

export async function startPebble(options: PebbleOptions = {}): Promise<Pebble> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-pebble-"));
  const { binding } = options;
  const [port, managementPort] = [options.port ?? (await freePort()), await freePort()];
  const [certificate, privateKey] = [join(directory, "authority.pem"), join(directory, "authority.key")];
  const { certificateOf } = options;
  if (certificateOf) {
    writeFileSync(certificate, certificateOf.roots);
    writeFileSync(privateKey, certificateOf.key);
  } else
    await runClient("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=authority"],
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", privateKey, "-out", certificate],
    ]);
  const listenAddress = `127.0.0.1:${port}`;
  const pebble = {
    ...{ listenAddress, managementListenAddress: `127.0.0.1:${managementPort}`, certificate, privateKey },
    ...(options.httpPort === undefined ? {} : { httpPort: options.httpPort }),
    ...(binding ? { externalAccountBindingRequired: true, externalAccountMACKeys: { [binding.keyId]: binding.hmacKey } } : {}),
  };
  const configuration = join(directory, "authority.json");
  writeFileSync(configuration, JSON.stringify({ pebble }));
  const probe = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.destroy();
  };
  const settings = {
    PEBBLE_VA_NOSLEEP: "1",
    PEBBLE_WFE_NONCEREJECT: String(options.nonceReject ?? 0),
    // Proofs are required each time.
    PEBBLE_AUTHZREUSE: "0",
    ...(options.alwaysValid === true ? { PEBBLE_VA_ALWAYS_VALID: "1" } : {}),
  };
  const server = await startTool(
    "pebble",
    ["-strict", "-config", configuration, ...(options.dns ? ["-dnsserver", options.dns] : [])],
    probe,
    settings,
  );
  return {
    directoryUrl: `https://${listenAddress}/dir`,
    rootsPath: certificate,
    roots: readFileSync(certificate, "utf8"),
    key: readFileSync(privateKey, "utf8"),
    stop: async () => {
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
