import { readFileSync } from "node:fs";
import { type IpAddress, parseIp } from "#kernel/net/ip.ts";
import { type Config, ConfigError } from "#app/config/config.ts";
import { type ListenPlace, socketName } from "#kernel/net/listen-place.ts";
import { type PassedSocket, placesOf, wantedPort } from "./inherited-sockets.ts";

/** Names of sockets in systemd's units (`FileDescriptorName=`, systemd.socket(5)): whose each is, and the key of its address. */
const NAMES: Readonly<Record<string, { readonly socket: string; readonly hostKey: string }>> = {
  api: { socket: "api/tcp", hostKey: "api.host" },
  ops: { socket: "ops/tcp", hostKey: "ops.host" },
  gateway: { socket: "gateway/http", hostKey: "gateway.host" },
  http: { socket: "edge-1/http", hostKey: "edge.host" },
  https: { socket: "edge-1/https", hostKey: "edge.host" },
  "dns-udp": { socket: "nameserver-1/udp", hostKey: "dns.host" },
  "dns-tcp": { socket: "nameserver-1/tcp", hostKey: "dns.host" },
  dot: { socket: "nameserver-1/dot", hostKey: "dns.host" },
};

/** SD_LISTEN_FDS_START of sd_listen_fds(3). */
const FIRST = 3;

/** Whether systemd has opened sockets for this process. */
export const isActivated = (env: NodeJS.ProcessEnv, pid: number): boolean => env["LISTEN_PID"] === String(pid);

/**
 * The listening sockets that systemd has opened for this process (sd_listen_fds(3)). Each replaces the port that the
 * configuration gives its listener. The address must be the same, because permissions of clients and origins depend on
 * it. `localEnd`: the address and port of a descriptor. Throws ConfigError for a socket that no listener can use.
 */
export function activatedSockets(
  env: NodeJS.ProcessEnv,
  config: Config,
  localEnd: (fd: number) => { readonly address: string; readonly port: number },
): readonly PassedSocket[] {
  const names = (env["LISTEN_FDNAMES"] ?? "").split(":");
  const problems: string[] = [];
  const seen = new Set<string>();
  const sockets = Array.from({ length: Number(env["LISTEN_FDS"] ?? 0) }, (_, i) => i + FIRST).flatMap((fd, i): PassedSocket[] => {
    const name = names[i] ?? "unknown";
    const listener = NAMES[name];
    const places = listener === undefined ? [] : placesOf(config, listener.socket);
    if (listener === undefined || places.length === 0) {
      problems.push(`systemd passed a socket with the name ${name}: set FileDescriptorName= to one of ${Object.keys(NAMES).join(", ")}`);
      return [];
    }
    const end = localEnd(fd);
    const index = places.findIndex((place) => isAt(place, end, places));
    const place = places[index];
    if (place === undefined) {
      const wanted = places.map(({ host }) => host).join(" and ");
      problems.push(
        `systemd's socket ${name} listens on ${end.address}, and ${listener.hostKey} is ${wanted}: set both to the same address`,
      );
      return [];
    }
    const socket = socketName(listener.socket, index);
    if (seen.has(socket)) problems.push(`systemd passed two sockets with the name ${name} at ${end.address}: one address has one socket`);
    else if (!isNonBlocking(fd))
      problems.push(`systemd passed the socket ${name} as a blocking one: set NonBlocking=true in the unit of the service`);
    seen.add(socket);
    return [{ name: socket, fd, host: place.host, port: wantedPort(place), boundPort: end.port }];
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return sockets;
}

/** Several places at one address differ in their ports. */
function isAt(place: ListenPlace, end: { readonly address: string; readonly port: number }, all: readonly ListenPlace[]): boolean {
  if (!isSame(parseIp(end.address), parseIp(place.host))) return false;
  return place.port === end.port || all.filter(({ host }) => host === place.host).length === 1;
}

const isSame = (one: IpAddress | undefined, other: IpAddress | undefined): boolean =>
  one !== undefined && other !== undefined && Buffer.compare(one.bytes, other.bytes) === 0;

const O_NONBLOCK = 0o4000;

/** A thread that accepts from a blocking socket would wait for its next client only (proc_pid_fdinfo(5)). */
function isNonBlocking(fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & O_NONBLOCK) !== 0;
}
