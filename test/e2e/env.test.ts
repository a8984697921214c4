import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ENV_TOOLS } from "#app/cli/env/tools.ts";
import { ROOT } from "../../tools/steps.ts";
import { runClient } from "../support/client.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const PROGRAM = join(ROOT, "bin/selvedge.js");

function env(args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, "env", ...args], {
    encoding: "utf8",
    timeout: 120_000,
    env: { PATH: process.env["PATH"], ...variables },
  });
  return { code: status, out: stdout, err: stderr };
}

describe("the settings that env prints work with the tools", { skip: toolOrSkip("openssl") }, () => {
  let directory = "";
  let selvedge: Selvedge;
  let variables: Readonly<Record<string, string>>;

  /** Commands for a shell that has the token, and that trusts the certificate of the API. */
  const shell = (commands: string): Promise<string> => runClient("bash", ["-e", "-c", `cd '${directory}'\n${commands}`], variables);
  const printed = (tool: string): string => {
    const { code, out, err } = env([tool, "--data", selvedge.dataDir], variables);
    assert.equal(code, 0, err);
    return out;
  };

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "selvedge-env-"));
    const [certificate, key] = [join(directory, "tls.pem"), join(directory, "tls.key")];
    await runClient("openssl", [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=selvedge"],
      ...["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
    ]);
    selvedge = await startSelvedge({ args: ["--tls-certificate", certificate, "--tls-key", key, "--dns-txt-content", "as_sent"] });
    variables = {
      SELVEDGE_TOKEN: selvedge.ready.token ?? "",
      REQUESTS_CA_BUNDLE: certificate,
      NODE_EXTRA_CA_CERTS: certificate,
      HOME: directory,
    };
  });
  after(async () => {
    await selvedge?.stop();
    removeDirectory(directory);
  });

  test("the official SDK for Node.js reads the variables of the shell", async () => {
    const program = `import Cloudflare from "cloudflare";
      const zone = await new Cloudflare().zones.create({ name: "example.com", account: { id: "${selvedge.ready.account_id}" } });
      console.log(zone.name);`;
    const made = await shell(
      `eval "$(cat <<'END'\n${printed("shell")}END\n)"\ncd '${ROOT}'\n'${process.execPath}' --input-type=module -e '${program}'`,
    );
    assert.equal(made.trim(), "example.com");
  });

  test("python3-cloudflare reads the variables of the shell", { skip: toolOrSkip("python3-cloudflare") }, async () => {
    const program = `import CloudFlare; print([zone["name"] for zone in CloudFlare.CloudFlare().zones.get()])`;
    assert.equal((await shell(`${printed("shell")}/usr/bin/python3 -c '${program}'`)).trim(), "['example.com']");
  });

  test("certbot's plugin writes a challenge", { skip: toolOrSkip("certbot-dns-cloudflare") }, async () => {
    const program = `
from certbot.plugins.dns_common import CredentialsConfiguration
from certbot_dns_cloudflare._internal.dns_cloudflare import _CloudflareClient
token = CredentialsConfiguration("selvedge-certbot.ini").conf("dns_cloudflare_api_token")
_CloudflareClient(api_token=token).add_txt_record("example.com", "_acme-challenge.example.com", "challenge", 120)
`;
    await shell(`${printed("certbot")}/usr/bin/python3 -c '${program}'`);
    const file = join(directory, "selvedge-certbot.ini");
    assert.equal(statSync(file).mode & 0o077, 0, "others cannot read the token");
    assert.ok(readFileSync(file, "utf8").includes(selvedge.ready.token ?? "?"));
  });

  test("lexicon lists and writes records", { skip: toolOrSkip("python3-lexicon") }, async () => {
    writeFileSync(join(directory, "lexicon.py.txt"), printed("lexicon"));
    const lexicon = `LEXICON_CLOUDFLARE_TOKEN="$SELVEDGE_TOKEN" /usr/bin/python3 lexicon.py.txt cloudflare`;
    await shell(`${lexicon} create example.com A --name home --content 192.0.2.1`);
    assert.match(await shell(`${lexicon} list example.com A`), /home\.example\.com +192\.0\.2\.1/);
  });

  test("ddclient updates a record", { skip: toolOrSkip("ddclient") }, async () => {
    const settings = printed("ddclient").replace("$SELVEDGE_TOKEN", selvedge.ready.token ?? "");
    writeFileSync(
      join(directory, "ddclient.conf"),
      `ssl_ca_file=${variables["REQUESTS_CA_BUNDLE"]}\nuse=ip, ip=192.0.2.77\ntimeout=60\n${settings}`,
      { mode: 0o600 },
    );
    const shown = await shell("ddclient -file ddclient.conf -cache ddclient.cache -daemon=0 -noquiet");
    assert.match(shown, /SUCCESS:\s+.*home\.example\.com.*192\.0\.2\.77/);
  });

  test("the official SDKs of model providers call the gateway", async () => {
    const { account_id: account, gateway } = selvedge.ready;
    for (const [tool, SDK] of [
      ["openai", "openai"],
      ["anthropic", "@anthropic-ai/sdk"],
    ] as const) {
      const { out } = env([tool, "--data", selvedge.dataDir, "--account", account, "--gateway", "absent", "--json"]);
      const { settings, gateway: base } = JSON.parse(out) as { readonly settings: string; readonly gateway: string };
      assert.equal(base, `${gateway}/v1/${account}/absent`);
      const program = `import SDK from "${SDK}";
        const client = new SDK({ apiKey: "key", maxRetries: 0 });
        await client.models.list().catch((error) => console.log(client.baseURL, error.message));`;
      const seen = await shell(`${settings}\ncd '${ROOT}'\n'${process.execPath}' --input-type=module -e '${program}'`);
      assert.ok(seen.startsWith(`${base}/${tool} 4`), seen);
      assert.match(seen, /absent/);
    }
    const { code, err } = env(["openai", "--data", selvedge.dataDir]);
    assert.deepEqual(
      [code, err],
      [2, "selvedge: set the account of the gateway with --account ID, or SELVEDGE_TOKEN to find the only one\n"],
    );
    const found = printed("openai");
    assert.ok(found.includes(`${gateway}/v1/${account}/main`), found);
  });

  test("no settings contain the token, and all name the server", () => {
    for (const [tool, { calls }] of Object.entries(ENV_TOOLS).filter(([, one]) => one.calls === "api")) {
      const settings = printed(tool);
      assert.ok(!settings.includes(selvedge.ready.token ?? ""), tool);
      assert.ok(settings.includes(selvedge.ready[calls].replace("https://", "")), tool);
    }
  });
});

const API = ["--api", "https://dns.example.com/client/v4/"];

test("without a token, the shell stops before it sets a variable", () => {
  for (const tool of ["shell", "lego", "acme.sh"]) {
    const { out } = env([tool, ...API]);
    const { status, stdout, stderr } = spawnSync("bash", ["-c", `${out}\necho "$CLOUDFLARE_BASE_URL"`], { encoding: "utf8", env: {} });
    assert.deepEqual([status === 0, stdout], [false, ""], tool);
    assert.match(stderr, /SELVEDGE_TOKEN: must contain an API token/);
  }
});

test("every shell text is valid, and the slash at the end of the address is left out", () => {
  for (const [tool, { format, text }] of Object.entries(ENV_TOOLS).filter(([, one]) => one.format === "sh")) {
    const { status, stderr } = spawnSync("bash", ["-n", "-c", text("http://127.0.0.1:1/client/v4")], { encoding: "utf8" });
    assert.equal(status, 0, `${tool} (${format}): ${stderr}`);
  }
  assert.match(env(API).out, /^export CLOUDFLARE_BASE_URL='https:\/\/dns\.example\.com\/client\/v4'$/m);
});

test("env without a server exits 3, and 2 for an unknown tool or an address that a shell would interpret", () => {
  const none = env(["--data", "/nonexistent"]);
  assert.deepEqual([none.code, none.out], [3, ""]);
  assert.match(none.err, /no server runs on \/nonexistent/);
  const unknown = env(["toString", ...API]);
  assert.deepEqual([unknown.code, unknown.out], [2, ""]);
  assert.match(unknown.err, /settings exist for shell, terraform, .*, not for toString\n/);
  assert.match(env(["teraform", ...API]).err, /, not for teraform; did you mean terraform\?\n/);
  for (const api of ["https://a/'$(id)'", "https://a/$(id)", "ftp://a", "a", "https://a/\n"])
    assert.equal(env(["--api", api]).code, 2, api);
});
