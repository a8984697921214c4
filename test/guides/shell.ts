import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "../../tools/steps.ts";
import { FREE_PORTS } from "../support/selvedge.ts";

const PAGE_TIMEOUT_MS = 300_000;

/**
 * The names that commands in guides use, with replacements for the test: a server that a page starts gets free ports
 * and its own directory, and ends when it is ready; a command that a reader ends with Ctrl-C ends by itself.
 */
const PRELUDE = `
set -euo pipefail
shopt -s inherit_errexit
selvedge() { node "$ROOT/bin/selvedge.js" "$@"; }
npx() {
  [ "$1" = selvedge ] || { echo "npx $1: guides use npx for selvedge only"; return 1; }
  shift
  case "$1 \${2:-}" in
    start*) shift; starts "$@" ;;
    "events tail") selvedge "$@" --for 2 ;;
    *) selvedge "$@" ;;
  esac
}
npm() {
  case "$1 \${2:-}" in
    "ci "*) ;; # this installation is the one that it makes
    "start ") ;; # the server that the pages share has started so
    "start --") shift 2; selvedge config check "$@" > flags.txt ;;
    *) echo "npm $*: what should the test of guides do?"; return 1 ;;
  esac
}
starts() {
  local directory log pid
  directory=$(mktemp -d "$PWD/started-XXXX")
  log=$directory/log
  node "$ROOT/bin/selvedge.js" start --data "$directory" ${FREE_PORTS.join(" ")} --json "$@" > "$log" 2>&1 &
  pid=$!
  until grep -q '"event":"ready"' "$log"; do kill -0 $pid || { cat "$log"; return 1; }; sleep 0.1; done
  kill $pid
  wait $pid
}
# It warns of what it does not know, and exits with 0.
unit() {
  local warnings
  warnings=$(systemd-analyze verify "./$1" 2>&1) || { echo "$warnings"; return 1; }
  [ -z "$warnings" ] || { echo "$warnings"; return 1; }
}
# The unit of the page is started as its file says, on free ports.
sudo() { [ "$1" != -u ] || shift 2; "$@"; }
systemctl() {
  case "$1" in
    enable|start)
      mkdir -p var/lib/selvedge backup
      : > journal
      $(sed -n 's/^ExecStart=//p' selvedge.service) ${FREE_PORTS.join(" ")} > journal 2>&1 &
      service=$!
      until grep -q 'Selvedge is ready' journal; do kill -0 $service || { cat journal; return 1; }; sleep 0.1; done ;;
    reload) kill -HUP $service; until grep -q reload journal; do sleep 0.1; done ;;
    stop) kill $service; wait $service ;;
    *) echo "systemctl $*: what should the test of guides do?"; return 1 ;;
  esac
}
journalctl() { cat journal; }
prints() {
  local output
  output=$(cat)
  printf '%s\\n' "$output"
  [[ $output == $1 ]] || { echo "the guide says that this prints $1"; return 1; }
}
# With the key that the page has made, and where this machine has room.
knot_secondary() {
  mkdir -p knot
  sed -i "s|secret: .*|secret: $SECRET|" "$1"
  { printf 'server:\\n  rundir: "%s/knot"\\n  listen: 127.0.0.1@%s\\ndatabase:\\n  storage: "%s/knot"\\n' "$PWD" "$PEER_PORT" "$PWD"; cat "$1"; } > knot/knot.conf
  knotd -c knot/knot.conf > knot/log 2>&1 &
  until dig +short @127.0.0.1 -p "$PEER_PORT" SOA example.com | grep -q .; do kill -0 $! || { cat knot/log; return 1; }; sleep 0.1; done
}
bind_primary() {
  printf '$TTL 300\\n@ SOA ns hostmaster 1 3600 600 86400 300\\n@ NS ns\\nns A 192.0.2.10\\nwww A 192.0.2.11\\n' > example.com.zone
  printf 'options { directory "%s"; pid-file none; listen-on port %s { 127.0.0.1; }; listen-on-v6 { none; }; recursion no; }; controls {}; include "%s";\\n' "$PWD" "$PEER_PORT" "$1" > named-all.conf
  named -f -c named-all.conf > named.log 2>&1 &
  until dig +short @127.0.0.1 -p "$PEER_PORT" SOA example.com | grep -q .; do kill -0 $! || { cat named.log; return 1; }; sleep 0.1; done
}
`;

export interface Step {
  readonly name: string;
  readonly commands: string;
}

/** Runs the steps in one shell, as a reader does in one terminal. Throws with the output of the step that fails. */
export async function runSteps(steps: readonly Step[], directory: string, env: Readonly<Record<string, string>>): Promise<void> {
  const script = steps.map(({ commands }, i) => `printf '\\n@@ ${i}\\n'\n${commands}\n`).join("");
  const file = join(directory, ".page.sh");
  await writeFile(file, `exec 2>&1\n${PRELUDE}\n${script}\nprintf '\\n@@ end\\n'\nexit 0\n`);
  const shell = spawn("bash", [file], {
    cwd: directory,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${process.env["PATH"]}:/usr/sbin`, HOME: directory, LANG: "C.UTF-8", ROOT, ...env },
  });
  let output = "";
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding("utf8").on("data", (part: string) => (output += part));
  const end = (): void => endGroup(shell.pid);
  process.once("exit", end);
  const closed = once(shell, "close");
  const timer = new AbortController();
  const late = delay(PAGE_TIMEOUT_MS, "late", { signal: timer.signal }).catch(() => "ended");
  const ended = await Promise.race([once(shell, "exit"), late]);
  timer.abort();
  end();
  // Background commands hold the pipes open, so the output is complete only now.
  await closed;
  process.off("exit", end);
  const parts = output.split(/^@@ (?:\d+|end)\n/m).slice(1);
  for (const [i, { name }] of steps.entries()) {
    const part = parts[i] ?? "";
    if (parts.length <= i + 1) throw new Error(`${name} failed${ended === "late" ? " (it took too long)" : ""}:\n${part || output}`);
    if (/"success": ?false/.test(part)) throw new Error(`${name}: the API refused a call:\n${part}`);
  }
}

/** Ends the shell and its background processes. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The process group has ended.
  }
}
