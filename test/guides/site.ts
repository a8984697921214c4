import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SMTPServer } from "smtp-server";
import { LLMock } from "@copilotkit/aimock";
import { ROOT } from "../../tools/steps.ts";
import { api, startSelvedge } from "../support/selvedge.ts";
import { freePort } from "../bench/program.ts";

/** Environment of the guides' commands: a server, and ports for servers that pages start. */
export interface Site {
  readonly ports: Readonly<Record<"api" | "gateway" | "dns" | "http" | "https", number>>;
  readonly token: string;
  readonly account_id: string;
  /** A token that a page may reset and revoke. */
  readonly spareTokenId: string;
  /** Free ones, for the origin, the model provider and the receiver of webhooks. */
  readonly originPort: number;
  readonly providerPort: number;
  readonly receiverPort: number;
  /** Free ones, for the operations listener of a server, and for the other nameserver in guides to transfers. */
  readonly opsPort: number;
  readonly peerPort: number;
  /** Of a server that accepts every request. */
  readonly logsPort: number;
}

export interface OpenSite extends Site {
  /**
   * Calls `use` with an empty directory in which the server seems to have been started. Afterwards the objects that the
   * page created at the server are deleted, so that the next page starts without them.
   */
  visit(page: { readonly bringsProvider: boolean }, use: (directory: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const PROVIDERS = ["openai", "anthropic", "groq"];
const run = promisify(execFile);

export async function openSite(): Promise<OpenSite> {
  const [originPort, providerPort, receiverPort, opsPort, peerPort] = await Promise.all([
    freePort(),
    freePort(),
    freePort(),
    freePort(),
    freePort(),
  ]);
  const logs = createHttpServer((req, res) => void req.resume().on("end", () => res.end()));
  await new Promise<void>((resolve) => logs.listen(0, "127.0.0.1", resolve));
  const mail = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, _, done) => void stream.resume().on("end", () => done()),
  });
  await new Promise<void>((resolve) => mail.listen(0, "127.0.0.1", resolve));
  const selvedge = await startSelvedge({
    args: [
      ...["--notifications-email-from", "Edge alerts <edge@example.com>"],
      ...["--notifications-smtp-host", "127.0.0.1", "--notifications-smtp-port", String((mail.server.address() as AddressInfo).port)],
      ...PROVIDERS.flatMap((name) => ["--provider", `${name}=http://127.0.0.1:${providerPort}/v1`]),
      ...["--dns-scan-resolvers", `127.0.0.1:${peerPort}`, "--deprecations-negotiate"],
    ],
  });
  const { ready, dataDir } = selvedge;
  // Not the first token: a page resets it.
  const guides = await createToken(dataDir, "guides");
  const spare = await createToken(dataDir, "spare");

  const clear = async (): Promise<void> => {
    const gateways = `/accounts/${ready.account_id}/ai-gateway/gateways`;
    for (const path of ["/zones", gateways]) {
      const { body } = await api(selvedge, guides.secret, "GET", path);
      for (const { id } of body.result) await api(selvedge, guides.secret, "DELETE", `${path}/${id}`);
    }
  };

  return {
    ports: {
      api: portOf(ready.api),
      gateway: portOf(ready.gateway),
      dns: portOf(`dns://${ready.dns}`),
      http: portOf(ready.http),
      https: portOf(ready.https),
    },
    token: guides.secret,
    account_id: ready.account_id,
    spareTokenId: spare.id,
    originPort,
    providerPort,
    receiverPort,
    opsPort,
    peerPort,
    logsPort: (logs.address() as AddressInfo).port,
    visit: async ({ bringsProvider }, use) => {
      const directory = await mkdtemp(join(tmpdir(), "selvedge-guide-"));
      await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
      await symlink(dataDir, join(directory, ".selvedge"));
      await writeFile(join(directory, ".curlrc"), "max-time = 60\n");
      const provider = bringsProvider ? undefined : new LLMock({ port: providerPort });
      provider?.onMessage(/./, { content: "Hi there!" });
      await provider?.start();
      try {
        await use(directory);
      } finally {
        await provider?.stop();
        await clear();
        await rm(directory, { recursive: true, force: true });
      }
    },
    close: async () => {
      await selvedge.stop();
      logs.close();
      await new Promise<void>((resolve) => mail.close(resolve));
    },
  };
}

async function createToken(dataDir: string, name: string): Promise<{ readonly id: string; readonly secret: string }> {
  const program = join(ROOT, "bin/selvedge.js");
  const { stdout, stderr } = await run(process.execPath, [program, "token", "create", "--name", name, "--all", "--data", dataDir]);
  return { id: /\((?<id>[0-9a-f]{32})\)/.exec(stderr)?.groups?.["id"] ?? assert.fail(stderr), secret: stdout.trim() };
}

const portOf = (url: string): number => Number(new URL(url).port);
