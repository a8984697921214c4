import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Server, startTool } from "./program.ts";

export interface NginxSpec {
  /** Of this server's own directory. */
  readonly name: string;
  /** A plain HTTP URL that shows whether the server is ready. */
  readonly port: number;
  /** Directives outside of any block. */
  readonly main?: string;
  /** Directives of the `http` block; `access_log` is off unless they say otherwise. */
  readonly http?: string;
  /** Directives of the `server` block besides its `listen`. */
  readonly server: string;
}

/** Starts an nginx with one worker and default settings except the given ones, and waits until it answers. */
export async function startNginx(directory: string, { name, port, main = "", http = "", server }: NginxSpec): Promise<Server> {
  const home = join(directory, name);
  await mkdir(home);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${home}/${kind};`);
  const config = `
    ${process.getuid?.() === 0 ? "user root;" : ""} daemon off; worker_processes 1; ${main} pid ${home}/pid; error_log stderr warn;
    events { worker_connections 4096; }
    http {
      ${http.includes("access_log") ? "" : "access_log off;"}
      keepalive_requests 1000000000; default_type text/plain; sendfile on; tcp_nodelay on;
      ${temporary.join(" ")} ${http}
      server { listen 127.0.0.1:${port}; ${server} }
    }`;
  const path = join(home, "nginx.conf");
  await writeFile(path, config);
  return startTool("nginx", ["-p", home, "-c", path], () => fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(500) }));
}
