import { existsSync } from "node:fs";
import { createUser } from "@nats-io/nkeys";
import { loadConfig } from "#app/config/config.ts";
import { isLoopbackHost } from "#app/config/bind-safety.ts";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import { lockDataDirectory } from "#app/control/data-lock.ts";
import type { JoinAnswer } from "#app/fleet/join-answer.ts";
import { readNodeState, writeNodeState } from "#app/fleet/node-state.ts";
import { JOIN_PATH } from "#app/operations/joining.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";

const TIMEOUT_MS = 30_000;

/** Joins with a token. The private key of the node's bus user is created here and never leaves this machine. */
export async function join(text: string, token: string, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const url = controlUrl(text);
  const lock = locked(data);
  try {
    const before = readNodeState(data);
    if (before !== null) throw new CliError(`${data} has joined already, as the node ${before.name}`);
    if (existsSync(planeFiles(data).sealKey))
      throw new CliError(`${data} is that of a server with control; choose another directory with --data`);
    const user = createUser();
    const answer = await ask(url, { token, public_key: user.getPublicKey() });
    writeNodeState(data, answer, { seed: Buffer.from(user.getSeed()).toString(), control_url: url.origin });
    giveToOwner(data);
    print(json, { name: answer.name, planes: answer.planes, data }, [
      `joined as ${answer.name} (${answer.planes.join(", ")}); run it with: selvedge start --data ${data}`,
    ]);
    return EXIT.ok;
  } finally {
    lock.release();
  }
}

function controlUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new CliError(`${JSON.stringify(text)} is not the URL of a server, such as https://control.example.net:8780`, EXIT.usage);
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname))
    throw new CliError("keys must not cross a network in clear text: use https:// for a server on another machine", EXIT.usage);
  return new URL(JOIN_PATH, url);
}

function locked(data: string): ReturnType<typeof lockDataDirectory> {
  try {
    return lockDataDirectory(data);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

async function ask(url: URL, body: object): Promise<JoinAnswer> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const { cause } = error as Error;
    throw new CliError(`cannot reach control at ${url.origin}: ${cause instanceof Error ? cause.message : (error as Error).message}`);
  }
  if (response.ok) return (await response.json()) as JoinAnswer;
  await response.body?.cancel();
  throw new CliError(
    response.status === 404
      ? `${url.origin} does not admit nodes: it is not a server with the role control`
      : "control does not accept the token: it is wrong, was used or has expired, or the server has no bus.url. Make another with selvedge node token",
  );
}
