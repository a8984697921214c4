import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

/** The end of systemd that services write to. */
const RECEIVER = `
import socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(receiver.recv(4096).decode().replace("\\n", " "), flush=True)
`;

test("systemd is notified that the server is ready, alive and stopping", { skip: toolOrSkip("systemd-notify") }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-notify-"));
  t.after(() => removeDirectory(directory));
  const path = join(directory, "notify");
  const receiver = spawn("python3", ["-c", RECEIVER, path], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => receiver.kill());
  let heard = "";
  receiver.stdout.setEncoding("utf8").on("data", (text: string) => (heard += text));
  await eventually(async () => heard.includes("listening"));
  const server = await startSelvedge({ env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: "2000000" } });
  await eventually(async () => (heard.match(/WATCHDOG=1/g)?.length ?? 0) >= 2);
  assert.match(heard, /^listening\nREADY=1 STATUS=serving\s*\n/);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  await eventually(async () => heard.includes("STOPPING=1 STATUS=draining"));
  receiver.kill();
  await once(receiver, "exit");
});
