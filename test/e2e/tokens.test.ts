import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../support/eventually.ts";
import { layNetwork } from "../support/network-namespaces.ts";
import { startPostgres } from "../support/postgres.ts";
import { api, FREE_PORTS, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the program to its end. */
const selvedge = (...args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_")));
    execFile(process.execPath, [PROGRAM, ...args], { env, timeout: 120_000, killSignal: "SIGKILL" }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const directory = async (t: TestContext): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), "selvedge-tokens-"));
  t.after(() => removeDirectory(path));
  return path;
};

interface Listed {
  readonly tokens: readonly { readonly id: string; readonly name: string; readonly status: string; readonly first: boolean }[];
}

test("a lost first token can be listed, replaced and revoked beside a running server, which applies it at once", async (t) => {
  const data = await directory(t);
  const server = await startSelvedge({ dataDir: data });
  t.after(() => server.stop());
  const lost = server.ready.token ?? "";
  const status = async (token: string): Promise<number> => (await api(server, token, "GET", "/user/tokens/verify")).status;
  assert.equal(await status(lost), 200);

  const listed = JSON.parse((await selvedge("token", "list", "--data", data, "--json")).out) as Listed;
  assert.deepEqual(
    listed.tokens.map(({ name, status: state, first }) => [name, state, first]),
    [["First token", "active", true]],
  );
  const id = listed.tokens[0]?.id ?? "";
  const text = await selvedge("token", "list", "--data", data);
  assert.match(
    text.out,
    new RegExp(`^${id} +First token \\(as printed\\) +active +user admin@selvedge\\.local +\\d{4}-\\d\\d-\\d\\d +never$`, "m"),
  );
  assert.ok(!text.out.includes(lost));

  const reset = await selvedge("token", "reset", "--data", data);
  assert.deepEqual([reset.code, reset.out.trim().length], [0, 40], reset.err);
  assert.match(reset.err, /new secret for the first token .* within a second/);
  const secret = reset.out.trim();
  await eventually(async () => (await status(secret)) === 200 && (await status(lost)) === 403);

  const other = JSON.parse((await selvedge("token", "create", "--name", "ci", "--all", "--data", data, "--json")).out) as {
    id: string;
    token: string;
  };
  await eventually(async () => (await api(server, other.token, "GET", "/accounts")).status === 200);
  const rolled = await selvedge("token", "reset", other.id, "--data", data);
  assert.equal(rolled.code, 0, rolled.err);
  await eventually(async () => (await api(server, other.token, "GET", "/accounts")).status === 403);
  assert.equal((await api(server, rolled.out.trim(), "GET", "/accounts")).status, 200);
  const revoked = await selvedge("token", "revoke", id, "--data", data);
  assert.match(`${revoked.code} ${revoked.out}`, /^0 token "First token" .* was deleted/);
  await eventually(async () => (await status(secret)) === 403);
  const absent = await selvedge("token", "revoke", id, "--data", data);
  assert.match(`${absent.code} ${absent.err}`, /^1 .*the token .* does not exist.*token list shows/);
  const again = await selvedge("token", "reset", "--data", data);
  await eventually(async () => (await status(again.out.trim())) === 200);
});

test("token commands work without a server, and on an external database", async (t) => {
  const data = await directory(t);
  const nowhere = await selvedge("token", "reset", "--data", data);
  assert.match(`${nowhere.code} ${nowhere.err}`, /^1 .*the database at .* does not exist/);
  const first = await startSelvedge({ dataDir: data });
  await first.stop();
  const reset = await selvedge("token", "reset", "--data", data);
  assert.equal(reset.code, 0, reset.err);
  assert.doesNotMatch(reset.err, /within a second/);
  const second = await startSelvedge({ dataDir: data, env: { SELVEDGE_BOOTSTRAP_TOKEN: "preset-too-late" } });
  assert.equal((await api(second, reset.out.trim(), "GET", "/user/tokens/verify")).status, 200);
  assert.equal((await api(second, first.ready.token ?? "", "GET", "/user/tokens/verify")).status, 403);
  await second.logged(/"level":40[^\n]*bootstrap\.token is ignored because it applies only to the first start/);
  assert.equal((await api(second, "preset-too-late", "GET", "/user/tokens/verify")).status, 403);
  await second.stop();
  const third = await startSelvedge({ dataDir: data, env: { SELVEDGE_BOOTSTRAP_TOKEN: reset.out.trim() } });
  await third.logged(
    /"level":30[^\n]*bootstrap\.token is ignored because it applies only to the first start: the database has this value already/,
  );
  await third.stop();

  const skip = toolOrSkip("postgres");
  if (skip) return t.diagnostic(skip);
  const postgres = startPostgres();
  t.after(() => postgres.stop());
  const url = await postgres.createDatabase();
  const node = await startSelvedge({ env: { SELVEDGE_DATABASE_URL: url } });
  t.after(() => node.stop());
  const elsewhere = await directory(t);
  const there = await selvedge("token", "reset", "--database-url", url, "--data", join(elsewhere, "none"));
  assert.equal(there.code, 0, there.err);
  await eventually(async () => (await api(node, there.out.trim(), "GET", "/user/tokens/verify")).status === 200);
  assert.equal((await api(node, node.ready.token ?? "", "GET", "/user/tokens/verify")).status, 403);
});

/** A pair for any name. */
function makePair(dir: string): readonly string[] {
  const [certificate, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
  const request = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  execFileSync(
    "openssl",
    [...request, "-subj", "/CN=api.example.com", "-addext", "subjectAltName=DNS:api.example.com", "-out", certificate, "-keyout", key],
    {
      stdio: "pipe",
    },
  );
  return ["--tls-certificate", certificate, "--tls-key", key];
}

test("with TLS the first start may be public with a preset token, or with a printed one once the advice was followed", async (t) => {
  const skip = toolOrSkip("openssl");
  if (skip) return t.skip(skip);
  // Listeners there are not reachable from outside.
  const network = await layNetwork(t, ["host"], []);
  if ("skip" in network) return t.skip(network.skip);
  const dir = await directory(t);
  const tls = makePair(dir);
  const publicly = async (data: string, environment: string): Promise<string> => {
    const start = [
      process.execPath,
      PROGRAM,
      "start",
      "--data",
      data,
      ...FREE_PORTS,
      "--json",
      "--api-host",
      "0.0.0.0",
      "--gateway-host",
      "0.0.0.0",
      ...tls,
    ];
    const script = `${environment} ${start.join(" ")} > ${data}.out 2> ${data}.err & server=$!
      for i in $(seq 600); do grep -q ready ${data}.out && break; kill -0 $server || break; sleep 0.1; done; kill $server; wait $server`;
    // A server that is refused ends with 1.
    await network.host.run("sh", "-c", script).catch(() => undefined);
    return (await readFile(`${data}.out`, "utf8")) + (await readFile(`${data}.err`, "utf8"));
  };
  assert.match(await publicly(join(dir, "preset"), "SELVEDGE_BOOTSTRAP_TOKEN=chosen-by-the-operator"), /"event":"ready"/);

  const printed = join(dir, "printed");
  const refused = await publicly(printed, "");
  const advice = /give it a new secret with: selvedge (token reset --data \S+?)\. /.exec(refused)?.[1] ?? refused;
  const followed = await selvedge(...advice.split(" "));
  assert.equal(followed.code, 0, followed.err);
  assert.match(await publicly(printed, ""), /"event":"ready"/);
});
