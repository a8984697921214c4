import { existsSync } from "node:fs";
import { createUser } from "@nats-io/nkeys";
import { Agent, fetch, type Response } from "undici";
import { loadConfig } from "#app/config/config.ts";
import { isLoopbackUrl } from "#app/config/bind-safety.ts";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import { lockDataDirectory } from "#app/control/data-lock.ts";
import type { JoinAnswer } from "#app/fleet/join-answer.ts";
import { readNodeState, writeNodeState } from "#app/fleet/node-state.ts";
import { JOIN_PATH } from "#app/operations/joining.ts";
import { planeFiles } from "#app/planes/plane-files.ts";
import { authorityAdvice, readAuthority } from "#app/cli/authority.ts";
import { configInput } from "#app/cli/config-input.ts";
import { CliError, complain, EXIT, type ExitCode, print } from "#app/cli/outcome.ts";

const TIMEOUT_MS = 30_000;

export interface JoinOptions {
  /** PEM file of the authority that issued the certificate of control's API. */
  readonly ca?: string;
}

/** Joins with a token. The private key of the node's bus user is created here and never leaves this machine. */
export async function join(text: string, token: string, { ca }: JoinOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json } = loadConfig(configInput(flags));
  const url = controlUrl(text);
  const root = ca === undefined ? null : readAuthority("--ca", ca);
  const lock = locked(data);
  try {
    const before = readNodeState(data);
    if (before !== null)
      throw new CliError(`${data} has joined already, as the node ${before.name}. A node that was removed joins in an empty directory`);
    if (existsSync(planeFiles(data).sealKey))
      throw new CliError(`${data} is that of a server with control; choose another directory with --data`);
    const user = createUser();
    const answer = await ask(url, root, { token, public_key: user.getPublicKey(), signs_events: true });
    const seed = Buffer.from(user.getSeed()).toString();
    writeNodeState(data, answer, { seed, control_url: url.origin, control_root: root });
    giveToOwner(data);
    if (isLoopbackUrl(answer.bus.url) && !isLoopbackUrl(url.href)) complain([loopbackBus(answer.bus.url)]);
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
  if (url.protocol === "http:" && !isLoopbackUrl(url.href))
    throw new CliError("keys must not cross a network in clear text: use https:// for a server on another machine", EXIT.usage);
  return new URL(JOIN_PATH, url);
}

/** A configuration of control for one machine names the bus as only that machine can reach it. */
const loopbackBus = (bus: string): string =>
  `warning: control says that the bus is at ${bus}, which on this machine is this machine itself. Set bus.url in the configuration of this node, and bus.node_url at control for nodes that join later`;

function locked(data: string): ReturnType<typeof lockDataDirectory> {
  try {
    return lockDataDirectory(data);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

async function ask(url: URL, root: string | null, body: object): Promise<JoinAnswer> {
  const dispatcher = new Agent({ connect: root === null ? {} : { ca: root } });
  try {
    return await answerOf(url, await send(url, root, body, dispatcher));
  } finally {
    await dispatcher.destroy();
  }
}

async function send(url: URL, root: string | null, body: object, dispatcher: Agent): Promise<Response> {
  try {
    return await fetch(url, {
      ...{ method: "POST", redirect: "error", dispatcher },
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    const { cause } = error as { readonly cause?: Partial<NodeJS.ErrnoException> };
    const reason = cause?.message ?? (error as Error).message;
    throw new CliError(`cannot reach control at ${url.origin}: ${reason}${authorityAdvice(cause, root !== null)}`);
  }
}

/** Servers refuse a wrong token with 400 and 401; all other answers say nothing about it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 403]);
const NOT_CONTROL = "is not a server with the role control: check the URL, which has neither a path nor the port of a plane";

async function answerOf(url: URL, response: Response): Promise<JoinAnswer> {
  const text = await response.text();
  if (response.ok) return readAnswer(url, text);
  if (response.status === 404) throw new CliError(`${url.origin} does not admit nodes: it ${NOT_CONTROL}`);
  if (!REFUSALS.has(response.status))
    throw new CliError(`control at ${url.origin} cannot admit nodes now (HTTP ${response.status}). Try again with the same token`);
  throw new CliError(
    "control does not accept the token: it is wrong, was used or has expired, or the server has no bus.url. Make another with selvedge node token",
  );
}

function readAnswer({ origin }: URL, text: string): JoinAnswer {
  let answer: Partial<JoinAnswer> | null = null;
  try {
    answer = JSON.parse(text) as Partial<JoinAnswer> | null;
  } catch {
    // Another server's page.
  }
  if (typeof answer?.name === "string" && typeof answer.jwt === "string" && Array.isArray(answer.planes)) return answer as JoinAnswer;
  throw new CliError(`${origin} ${NOT_CONTROL}`);
}
