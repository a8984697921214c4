/** TLS's name of the protocol between connectors of tunnels and the edge (RFC 7301). */
export const TUNNEL_ALPN = "selvedge-tunnel/1";
