import { type EnvTool, file, fixedAddress, SHELL_TOKEN, shell } from "./env-tool.ts";

const certManager = (api: string): string => `# ${fixedAddress("cert-manager", api)}
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata:
  name: selvedge
spec:
  acme:
    server: https://acme-v02.api.letsencrypt.org/directory
    privateKeySecretRef:
      name: selvedge-account
    solvers:
      - dns01:
          cloudflare:
            apiTokenSecretRef:
              name: selvedge
              key: token`;

/** The plugin reads its token from a file only. */
const certbot = (api: string): string => `export CLOUDFLARE_API_URL='${api}'
(umask 077 && printf 'dns_cloudflare_api_token = %s\\n' ${SHELL_TOKEN} > selvedge-certbot.ini)
# certbot certonly --dns-cloudflare --dns-cloudflare-credentials selvedge-certbot.ini -d example.com`;

const lego = (api: string): string => `export CLOUDFLARE_DNS_API_TOKEN=${SHELL_TOKEN}
export CLOUDFLARE_BASE_URL='${api}'
# lego run --dns cloudflare -d example.com`;

const acmeSh = (api: string): string => `export CF_Token=${SHELL_TOKEN}
# The address is in the code of acme.sh: change it again after an upgrade.
sed -i 's|^CF_Api=.*|CF_Api="${api}"|' ~/.acme.sh/dnsapi/dns_cf.sh
# acme.sh --issue --dns dns_cf -d example.com`;

const caddy = (api: string): string => `# ${fixedAddress("Caddy's module", api)}
{
	acme_dns cloudflare {env.SELVEDGE_TOKEN}
}`;

const traefik = (api: string): string => `# The container of Traefik; it uses the code of lego.
command:
  - --certificatesresolvers.selvedge.acme.storage=/acme.json
  - --certificatesresolvers.selvedge.acme.dnschallenge.provider=cloudflare
environment:
  CLOUDFLARE_BASE_URL: "${api}"
  CLOUDFLARE_DNS_API_TOKEN: "\${SELVEDGE_TOKEN}"`;

/** Its command has no option for the address, but its class has an attribute. */
const lexicon = (
  api: string,
): string => `# Save this program and call it as you would call lexicon; LEXICON_CLOUDFLARE_TOKEN contains the token.
from lexicon.cli import main
from lexicon.providers.cloudflare import Provider

create = Provider.__init__


def create_for_selvedge(provider, config):
    create(provider, config)
    provider.api_endpoint = "${api}"


Provider.__init__ = create_for_selvedge
main()`;

/** Tools that prove to a certificate authority that they control a name. */
export const ACME_TOOLS: Readonly<Record<string, EnvTool>> = {
  "cert-manager": file("yaml", certManager),
  certbot: shell(certbot),
  lego: shell(lego),
  "acme.sh": shell(acmeSh),
  caddy: file("caddyfile", caddy),
  traefik: file("yaml", traefik),
  lexicon: file("python", lexicon),
};
