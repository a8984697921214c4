import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:tls";

// Node's own TLS server without an application: the lower bound of an edge on Node's API. Arguments: its port, and the
// directory of its key and certificate.

const [port = "", directory = ""] = process.argv.slice(2);
const [key, cert] = ["key.pem", "certificate.pem"].map((name) => readFileSync(join(directory, name)));
const server = createServer({ key, cert, ALPNProtocols: ["h2", "http/1.1"], noDelay: true }, (socket) => {
  socket.on("error", () => undefined).on("data", () => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
});
server.on("tlsClientError", () => undefined);
server.listen({ port: Number(port), host: "127.0.0.1", backlog: 4096 });
process.once("SIGTERM", () => process.exit(0));
