import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CLASS, FLAG, OPTION, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { eventually, settled } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

// The operator's settings must hold across threads and restarts: threads share the budgets of networks, and a cookie is
// valid on each of them and after the next start.

const PER_SECOND = 20;
const SOCKETS = 16;
const QUESTIONS_PER_SOCKET = 25;
const CLIENT_COOKIE = "0102030405060708";

/** A question for a name outside of all zones, with a cookie. */
function question(cookie: string): Buffer {
  const rdata = Buffer.concat([Buffer.of(0, OPTION.COOKIE, 0, cookie.length / 2), Buffer.from(cookie, "hex")]);
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: 1232, ttl: 0, rdata };
  const questions = [{ name: parseAbsoluteName("www.nowhere.example"), type: TYPE.A, class: CLASS.IN }];
  return encodeMessage({ id: 1, flags: 0, questions, answers: [], authorities: [], additionals: [opt] }) as Buffer;
}

interface Found {
  readonly answers: number;
  /** The last cookie that came, in hexadecimal. */
  readonly cookie: string;
  /** The amount that the limit allows during the test: if threads counted separately, each would allow as much. */
  readonly most: number;
}

/** Asks from many ports, which the kernel spreads over the server's threads, and waits until at least so many are answered. */
async function flood(t: TestContext, selvedge: Selvedge, cookie: string, least = 0): Promise<Found> {
  const port = Number(selvedge.ready.dns.split(":")[1]);
  let answers = 0;
  let last = "";
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, async () => {
      const socket = createSocket("udp4");
      t.after(() => socket.close());
      socket.on("message", (response) => {
        const { additionals, flags } = decodeMessage(response);
        assert.equal(flags & FLAG.QR, FLAG.QR);
        answers += 1;
        last = Buffer.from(additionals[0]?.rdata ?? [])
          .toString("hex")
          .slice(-48);
      });
      socket.bind(0, "127.0.0.1");
      await once(socket, "listening");
      return socket;
    }),
  );
  const began = performance.now();
  for (let i = 0; i < QUESTIONS_PER_SOCKET; i++) {
    for (const socket of sockets) socket.send(question(cookie), port, "127.0.0.1");
    await sleep(1);
  }
  await eventually(() => answers >= least);
  await settled(300);
  const most = PER_SECOND * ((performance.now() - began) / 1000 + 1) + 1;
  return { answers, cookie: last, most };
}

test("the response rate limit counts over all threads, and cookies are valid in all threads and after restarts", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-abuse-"));
  t.after(() => removeDirectory(dataDir));
  const args = ["--dns-workers", "2", "--dns-rate-limit-per-second", String(PER_SECOND), "--dns-rate-limit-slip", "0"];
  const first = await startSelvedge({ args, dataDir });
  t.after(() => first.kill());
  // Without any, the first questions would wait for the threads.
  const { ready } = first;
  await succeed(apiCaller(ready)("POST", "/zones", { name: "example.com", account: { id: ready.account_id }, type: "full" }));
  const unknown = await flood(t, first, CLIENT_COOKIE, PER_SECOND - 1);
  assert.ok(unknown.answers <= unknown.most, `${unknown.answers} answers, ${unknown.most} allowed`);
  assert.match(unknown.cookie, new RegExp(`^${CLIENT_COOKIE}01000000`));
  // The system may drop some on the way, but not nine of ten.
  const total = SOCKETS * QUESTIONS_PER_SOCKET;
  await flood(t, first, unknown.cookie, total / 2);
  const metrics = async (): Promise<string> => (await fetch(new URL("/metrics", first.ready.api))).text();
  // A thread that is busy for a second reports no metrics.
  await eventually(async () => /selvedge_dns_rate_limited_total\{action="dropped"\} [1-9]/.test(await metrics()), 100);
  await first.stop();

  const second = await startSelvedge({ args, dataDir });
  t.after(() => second.kill());
  await flood(t, second, unknown.cookie, total / 2);
  const again = await flood(t, second, CLIENT_COOKIE);
  assert.ok(again.answers <= again.most, `${again.answers} answers, ${again.most} allowed`);
});
