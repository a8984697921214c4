import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { PATIENCE_MS } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const VISITS = 8;

function openssl(args: readonly string[], input = ""): Promise<string> {
  const child = spawn("openssl", args, { stdio: ["pipe", "pipe", "ignore"], timeout: PATIENCE_MS });
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()));
  // One that has ended without reading its input is judged by what it said.
  child.stdin.on("error", () => undefined);
  if (input !== "") child.stdin.write(input);
  return new Promise((resolve) => child.on("close", () => resolve(text)));
}

/**
 * The output of `openssl s_client` for one connection. It ends when the server closes, and has received the tickets of
 * TLS 1.3 by then, which come after the handshake.
 */
const shakeHands = (args: readonly string[]): Promise<string> =>
  openssl(["s_client", ...args], "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");

interface Stage {
  readonly selvedge: Selvedge;
  /** Begins a session that a file of this name then holds. */
  begin(version: string, name: string): Promise<string>;
  /** How many of the next visits go on with it. The kernel spreads them: that all meet one thread has a chance of one in 3^7. */
  goOn(version: string, name: string): Promise<number>;
  /** The name of the key of its ticket, the first 16 bytes of that (RFC 5077 §4). */
  keyOf(name: string): Promise<string>;
}

async function stage(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const selvedge = await startSelvedge({ env: { SELVEDGE_EDGE_WORKERS: "3", ...env } });
  t.after(() => selvedge.stop());
  const { ready, dataDir } = selvedge;
  await succeed(apiCaller(ready)("POST", "/zones", { name: "example.com", account: { id: ready.account_id } }));
  const to = ["-connect", new URL(ready.https).host, "-servername", "www.example.com"];
  return {
    selvedge,
    begin: (version, name) => shakeHands([...to, version, "-sess_out", join(dataDir, name)]),
    goOn: async (version, name) => {
      let reused = 0;
      for (let i = 0; i < VISITS; i++) {
        const text = await shakeHands([...to, version, "-sess_in", join(dataDir, name)]);
        assert.match(text, /^(New|Reused), /m);
        if (/^Reused, /m.test(text)) reused++;
      }
      return reused;
    },
    keyOf: async (name) => {
      const text = await openssl(["sess_id", "-in", join(dataDir, name), "-noout", "-text"]);
      const key = /TLS session ticket:\s+0000 - ((?:[0-9a-f]{2}[ -]){16})/.exec(text)?.[1];
      assert.ok(key !== undefined, text);
      return key;
    },
  };
}

const skip = toolOrSkip("openssl");

test("every thread of the edge resumes a TLS session", { skip }, async (t) => {
  const { begin, goOn } = await stage(t);
  for (const version of ["-tls1_2", "-tls1_3"]) {
    assert.match(await begin(version, version), /^New, /m);
    assert.equal(await goOn(version, version), VISITS, version);
  }
});

/** Has a signal bring about what else happens every six hours. */
const SIX_HOURS_BY_SIGNAL = `
  import { isMainThread } from "node:worker_threads";
  const { setInterval: set } = globalThis;
  globalThis.setInterval = (work, ms, ...rest) => {
    if (isMainThread && ms === 6 * 3_600_000) process.on("SIGUSR1", work);
    return set(work, ms, ...rest);
  };
`;

test(
  "after a renewal of the ticket keys every thread still resumes older sessions, and starts new ones with the new key",
  { skip },
  async (t) => {
    const preload = `--import=data:text/javascript,${encodeURIComponent(SIX_HOURS_BY_SIGNAL)}`;
    const { selvedge, begin, goOn, keyOf } = await stage(t, { NODE_OPTIONS: preload });
    const renew = (): boolean => process.kill(selvedge.pid, "SIGUSR1");
    const known = new Set<string>();
    // A thread that has not heard of the newest key yet begins with an older one, and cannot go on with what another one has begun.
    const beginAnew = async (version: string, name: string): Promise<void> => {
      do await begin(version, name);
      while (known.has(await keyOf(name)) || (await goOn(version, name)) < VISITS);
      known.add(await keyOf(name));
    };
    for (const version of ["-tls1_2", "-tls1_3"]) {
      await beginAnew(version, "first");
      renew();
      await beginAnew(version, "second");
      assert.equal(await goOn(version, "first"), VISITS, `${version}, the key before the newest`);
      renew();
      while ((await goOn(version, "first")) > 0);
      assert.equal(await goOn(version, "second"), VISITS, `${version}, a key later`);
    }
  },
);
