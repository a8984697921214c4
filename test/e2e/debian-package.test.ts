import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { CONFIG_ROWS, variableName } from "#app/config/config-schema.ts";
import { stranger } from "../support/installed-package.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const ROOT = join(import.meta.dirname, "../..");
const MS_MAX = 900_000;

interface Packages {
  readonly tarball: string;
  readonly tarball_mb: number;
  readonly deb: string;
  readonly deb_mb: number;
  readonly unpacked_mb: number;
  readonly packages: number;
}

/** The machine with a layer over its disk, which goes with the process: what is installed there is installed nowhere else. */
const IN_A_COPY = `
set -eu
mount -t tmpfs tmpfs "$PLACE"
mkdir "$PLACE/upper" "$PLACE/work" "$PLACE/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$PLACE/upper,workdir=$PLACE/work" "$PLACE/root"
mount -t proc proc "$PLACE/root/proc"
mount --bind /dev "$PLACE/root/dev"
ip link set lo up
cp "$FILE" "$PLACE/root/root/$(basename "$FILE")"
exec chroot "$PLACE/root" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -euc "$1"
`;

/** Installed, judged, started as its user by what its unit starts, removed and purged. */
const STORY = `
dpkg -i /root/selvedge_*.deb >&2
systemd-analyze verify selvedge.service 2>&1 | sed 's/^/verify: /'
systemd-analyze security --offline=true --threshold=20 selvedge.service | tail -1 | sed 's/^/security: /'
stat -c 'state: %U %a' /var/lib/selvedge
stat -c 'config: %U %G %a' /etc/selvedge/selvedge.toml
start="$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/selvedge.service) --ops-port 0 --api-port 0 --gateway-port 0 --dns-port 0 --http-port 0 --https-port 0 --json"
setpriv --reuid=selvedge --regid=selvedge --clear-groups --no-new-privs $start > /tmp/ready 2> /tmp/log &
pid=$!
until grep -q '"event":"ready"' /tmp/ready; do kill -0 $pid || { cat /tmp/log >&2; exit 1; }; sleep 0.2; done
api=$(sed 's/.*"api":"\\([^"]*\\)".*/\\1/' /tmp/ready)
token=$(sed 's/.*"token":"\\([^"]*\\)".*/\\1/' /tmp/ready)
echo "answer: $(curl -sS -H "Authorization: Bearer $token" "$api/user/tokens/verify")"
echo "owner: $(stat -c %U /proc/$pid)"
echo "found: $(cd /; selvedge status | head -1)"
selvedge backup /root/by-root.tar.gz 2>/dev/null >&2
echo "files of others: $(find /var/lib/selvedge ! -user selvedge | tr '\\n' ' ')"
echo "backup: $(setpriv --reuid=selvedge --regid=selvedge --clear-groups selvedge backup /var/backups/selvedge/one.tar.gz --data /var/lib/selvedge 2>/dev/null)"
kill $pid
wait $pid && echo 'ended: 0'
install -d -o selvedge -g selvedge -m 700 /var/lib/restored
selvedge restore /root/by-root.tar.gz --data /var/lib/restored >&2
echo "restored: $(find /var/lib/restored ! -user selvedge | tr '\\n' ' ')"
sed -i 's/8782/8783/' /etc/selvedge/selvedge.toml
dpkg --remove selvedge >&2
echo "removed: $(ls -d /usr/lib/selvedge /usr/bin/selvedge /etc/selvedge/selvedge.toml /var/lib/selvedge/control.db 2>/dev/null | tr '\\n' ' ')"
dpkg -i /root/selvedge_*.deb >&2
echo "again: $(grep -c 8783 /etc/selvedge/selvedge.toml)"
dpkg --purge selvedge >&2
echo "purged: $(ls -d /usr/lib/selvedge /etc/selvedge /var/lib/selvedge /var/backups/selvedge/* 2>/dev/null | tr '\\n' ' ')"
getent passwd selvedge || echo 'user: gone'
`;

/** A machine with systemd, of which only its records of the calls exist here: an upgrade of a running service, and a removal. */
const UPGRADES = `
mkdir -p /run/systemd/system
cat > /usr/local/sbin/systemctl <<'EOF'
#!/bin/sh
echo "$*" >> /tmp/calls
EOF
chmod 755 /usr/local/sbin/systemctl
said() { sed '/daemon-reload\\|is-enabled\\|is-active/d' /tmp/calls | tr '\\n' ','; rm /tmp/calls; }
served() { sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' /var/lib/selvedge/run.json; }
dpkg -i /root/selvedge_*.deb >&2
echo "installed: $(said)"
start="$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/selvedge.service) --ops-port 0 --api-port 0 --gateway-port 0 --dns-port 0 --http-port 0 --https-port 0 --json"
setpriv --reuid=selvedge --regid=selvedge --clear-groups --no-new-privs $start > /tmp/ready 2> /tmp/log &
until grep -q '"event":"ready"' /tmp/ready; do kill -0 $! || { cat /tmp/log >&2; exit 1; }; sleep 0.2; done
before=$(served)
dpkg -i /root/selvedge_*.deb >&2
after=$(served)
echo "upgraded: $(said) by another process: $([ "$before" != "$after" ] && echo yes)"
mv /var/lib/selvedge/seal.key /root/
dpkg -i /root/selvedge_*.deb 2> /tmp/problem >&2
echo "refused: $(said) still served: $([ "$after" = "$(served)" ] && echo yes) told: $(grep -c 'seal.key is missing' /tmp/problem)"
mv /root/seal.key /var/lib/selvedge/
dpkg --remove selvedge >&2
echo "removed: $(said)"
dpkg -i /root/selvedge_*.deb >&2
echo "again: $(said) $(ls -A /var/lib/selvedge | grep enabled || echo clean)"
kill $!
`;

describe("npm run package", { skip: toolOrSkip("dpkg-deb") || toolOrSkip("systemd-analyze") }, () => {
  let place: string;
  let made: Packages;
  before(() => {
    place = mkdtempSync(join(tmpdir(), "selvedge-packages-"));
    const out = execFileSync(process.execPath, [join(ROOT, "tools/package.ts"), place], { encoding: "utf8", timeout: MS_MAX });
    made = JSON.parse(out.trim().split("\n").at(-1) ?? "") as Packages;
  });
  after(() => removeDirectory(place));

  test("the tarball runs where it is unpacked, with its own Node.js and without test dependencies", (t) => {
    t.diagnostic(JSON.stringify(made));
    const unpacked = join(place, "unpacked here");
    execFileSync("sh", ["-c", 'mkdir "$1" && tar -xzf "$2" -C "$1" --strip-components=1', "sh", unpacked, made.tarball]);
    const run = (...args: readonly string[]): string =>
      execFileSync(join(unpacked, "bin/selvedge"), args, { encoding: "utf8", env: { PATH: "/usr/bin:/bin" }, timeout: MS_MAX });
    assert.match(run("--version"), /^\d+\.\d+\.\d+\n$/);
    assert.equal(run("rules", "fmt", 'http.host=="a"'), 'http.host eq "a"\n');
    const modules = readdirSync(join(unpacked, "lib/node_modules"));
    for (const needed of ["selvedge", "fastify", `node-linux-${process.arch}`]) assert.ok(modules.includes(needed), needed);
    for (const other of ["fast-check", "typescript", "esbuild", "react", "oxlint"]) assert.ok(!modules.includes(other), other);
    const ofTests = readdirSync(join(unpacked, "lib/node_modules"), { recursive: true, encoding: "utf8" }).filter(
      (path) => !path.startsWith("selvedge/") && /\.(?:test\.\w+|[cm]?ts|snap)$|\/(?:__tests__|tests?|testing)$/.test(path),
    );
    assert.deepEqual(ofTests, []);
    assert.ok(made.unpacked_mb < 240, `${made.unpacked_mb} MB`);
    const told = /with (\d+) packages of (\d+) MB/
      .exec(readFileSync(join(ROOT, "README.md"), "utf8"))
      ?.slice(1)
      .map(Number);
    const [packages = 0, megabytes = 0] = told ?? [];
    // Each processor has packages of its own.
    if (process.arch === "x64") assert.equal(packages, made.packages, "the README's number of packages");
    assert.ok(Math.abs(megabytes - made.unpacked_mb) <= 3, `the README says ${megabytes} MB, and it has ${made.unpacked_mb}`);
  });

  test(
    "the Debian package installs and serves as its user, keeps configuration and state on removal, and deletes them on purge",
    { skip: stranger() === undefined && "only root can lay a layer over the disk" },
    () => {
      const lines = toldBy(inCopy(place, made.deb, STORY));
      assert.match(lines["answer"] ?? "", /"success":true/);
      assert.match(lines["backup"] ?? "", /^\/var\/backups\/selvedge\/one\.tar\.gz {2}\d+ bytes$/);
      assert.match(lines["security"] ?? "", /exposure level for selvedge\.service: [01]\.\d OK/);
      assert.deepEqual(without(lines, ["answer", "backup", "security"]), {
        state: "selvedge 700",
        config: "root selvedge 640",
        found: "status      ready",
        "files of others": "",
        restored: "",
        owner: "selvedge",
        ended: "0",
        removed: "/etc/selvedge/selvedge.toml /var/lib/selvedge/control.db ",
        again: "1",
        purged: "/var/backups/selvedge/one.tar.gz ",
        user: "gone",
      });
    },
  );

  test(
    "an upgrade of the Debian package lets the new version take over or leaves the old one running, and a removal can be undone",
    { skip: stranger() === undefined && "only root can lay a layer over the disk" },
    () => {
      assert.deepEqual(toldBy(inCopy(place, made.deb, UPGRADES)), {
        installed: "enable --now selvedge.service,",
        upgraded: " by another process: yes",
        refused: " still served: yes told: 1",
        removed: "disable --now selvedge.service,",
        again: "enable --now selvedge.service, clean",
      });
    },
  );

  test(
    "the steps of the Containerfile build a server that its user can run, and every setting in compose.yaml exists",
    { skip: stranger() === undefined && "only root can lay a layer over the disk" },
    () => {
      const steps = readFileSync(join(ROOT, "deploy/Containerfile"), "utf8")
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)] as const);
      const of = (name: string): string => steps.find(([step]) => step === name)?.[1] ?? assert.fail(`no ${name}`);
      const built = steps.flatMap(([step, text]) => {
        if (step === "RUN" || step === "ARG") return [text];
        if (step !== "ADD") return [];
        const [from = "", to = ""] = text.split(" ");
        return [`tar -xzf /root/${from} -C ${to}`];
      });
      const command = [...JSON.parse(of("ENTRYPOINT")), ...JSON.parse(of("CMD"))].join(" ");
      const user = of("USER");
      const script = `${built.join("\n")}
cd ${of("WORKDIR")}
${command.split(" ")[0]} --version >&2
env ${of("ENV")} setpriv --reuid=${user} --regid=${user} --clear-groups ${command} --json > /tmp/ready 2> /tmp/log &
pid=$!
until grep -q '"event":"ready"' /tmp/ready; do kill -0 $pid || { cat /tmp/log >&2; exit 1; }; sleep 0.2; done
echo "owner: $(stat -c %U /proc/$pid)"
echo "status: $(env ${of("ENV")} setpriv --reuid=${user} --regid=${user} --clear-groups selvedge status | head -1)"
kill $pid
wait $pid && echo 'ended: 0'`;
      assert.deepEqual(toldBy(inCopy(place, made.tarball, script)), { owner: "selvedge", status: "status      ready", ended: "0" });
      const variables = new Set(Array.from(CONFIG_ROWS.keys(), variableName));
      const compose = readFileSync(join(ROOT, "deploy/compose.yaml"), "utf8");
      const named = Array.from(compose.matchAll(/^ {6}(SELVEDGE_\w+):/gm), ([, name = ""]) => name);
      assert.ok(named.length > 8);
      assert.deepEqual(
        named.filter((name) => !variables.has(name)),
        [],
      );
    },
  );
});

/** Runs the script as root of a copy of this machine, where the file is in /root; what it prints. */
function inCopy(place: string, file: string, script: string): string {
  const copy = mkdtempSync(join(place, "copy-"));
  const args = ["--mount", "--pid", "--fork", "--kill-child", "--net", "sh", "-c", IN_A_COPY, "sh", script];
  return execFileSync("unshare", args, { encoding: "utf8", env: { ...process.env, PLACE: copy, FILE: file }, timeout: MS_MAX });
}

/** Lines of `name: value`. */
const toldBy = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );

const without = (lines: Readonly<Record<string, string>>, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(lines).filter(([name]) => !names.includes(name)));
