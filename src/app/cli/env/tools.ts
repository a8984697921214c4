import { ACME_TOOLS } from "./acme-tools.ts";
import { type EnvTool, file, fixedAddress, SHELL_TOKEN, shell } from "./env-tool.ts";

/** The variables of all tools that read the address of the API from one. */
const everyTool = (api: string): string => `export CLOUDFLARE_API_TOKEN=${SHELL_TOKEN}
export CLOUDFLARE_DNS_API_TOKEN="$SELVEDGE_TOKEN"
export CF_API_TOKEN="$SELVEDGE_TOKEN"
export CLOUDFLARE_BASE_URL='${api}'
export CLOUDFLARE_API_URL='${api}'
export SELVEDGE_API='${api}'`;

const terraform = (api: string): string => `terraform {
  required_providers {
    cloudflare = {
      source  = "cloudflare/cloudflare"
      version = "~> 5.0"
    }
  }
}

# export TF_VAR_selvedge_token="$SELVEDGE_TOKEN"
variable "selvedge_token" {
  type      = string
  sensitive = true
}

provider "cloudflare" {
  base_url  = "${api}"
  api_token = var.selvedge_token
}`;

const pulumi = (api: string): string => `pulumi config set --secret cloudflare:apiToken ${SHELL_TOKEN}
pulumi config set cloudflare:baseUrl '${api}'`;

const octodns = (api: string): string => `# ${fixedAddress("octoDNS", api)}
providers:
  selvedge:
    class: octodns_cloudflare.CloudflareProvider
    token: env/SELVEDGE_TOKEN`;

/** Its file of credentials may have such comments. */
const dnscontrol = (api: string): string => `// ${fixedAddress("DNSControl", api)}
{
  "selvedge": {
    "TYPE": "CLOUDFLAREAPI",
    "apitoken": "$SELVEDGE_TOKEN"
  }
}`;

const externalDns = (api: string): string => `# The container of external-dns, in a release that uses cloudflare-go 5 or later.
args:
  - --provider=cloudflare
env:
  - name: CLOUDFLARE_BASE_URL
    value: "${api}"
  - name: CF_API_TOKEN
    valueFrom:
      secretKeyRef:
        name: selvedge
        key: token`;

const ddclient = (
  api: string,
): string => `# ddclient requires HTTPS: the API needs a certificate (tls.certificate). Write the token in place of the variable.
ssl=yes
protocol=cloudflare
server=${api.replace(/^https?:\/\//, "")}
zone=example.com
login=token
password=$SELVEDGE_TOKEN
home.example.com`;

const modelClient = (variable: string, provider: string): EnvTool => ({
  calls: "gateway",
  format: "sh",
  text: (gateway) => `# ${variable}_API_KEY remains the provider's key.
export ${variable}_BASE_URL='${gateway}/${provider}'`,
});

/** The output of `selvedge env TOOL`; docs/guides/infrastructure-as-code.md says which tools have been tried. */
export const ENV_TOOLS: Readonly<Record<string, EnvTool>> = {
  shell: shell(everyTool),
  terraform: file("hcl", terraform),
  opentofu: file("hcl", terraform),
  pulumi: shell(pulumi),
  octodns: file("yaml", octodns),
  dnscontrol: file("json", dnscontrol),
  "external-dns": file("yaml", externalDns),
  ...ACME_TOOLS,
  ddclient: file("conf", ddclient),
  openai: modelClient("OPENAI", "openai"),
  anthropic: modelClient("ANTHROPIC", "anthropic"),
};
