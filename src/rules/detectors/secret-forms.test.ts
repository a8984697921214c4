import assert from "node:assert/strict";
import { test } from "node:test";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { pick, seeded, SURROUNDINGS, textOf } from "#rules/detectors/testing/forms.ts";

// The forms of keys from their makers and from public lists, written independently of our patterns, because our own
// patterns cannot show what they miss. `|` separates forms, as in a regular expression.
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const FORMS: readonly (readonly [service: string, form: string, label?: string])[] = [
  [
    "1Password secret key",
    "A3-[A-Z0-9]{6}-[A-Z0-9]{11}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}|A3-[A-Z0-9]{6}(?:-[A-Z0-9]{6})(?:-[A-Z0-9]{5}){4}",
  ],
  ["1Password service account", "ops_eyJ[a-zA-Z0-9+/]{250}"],
  ["1Password service account, long", "ops_eyJ[a-zA-Z0-9+/]{600}"],
  ["Adobe client secret", "p8e-[a-z0-9]{32}"],
  ["age", "AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"],
  ["Airtable", "pat[a-zA-Z0-9]{14}\\.[a-f0-9]{64}"],
  ["Alibaba", "LTAI[a-zA-Z0-9]{20}"],
  ["Anthropic", "sk-ant-api03-[a-zA-Z0-9_\\-]{93}AA|sk-ant-admin01-[a-zA-Z0-9_\\-]{93}AA"],
  ["Anthropic refresh", "sk-ant-ort01-[a-zA-Z0-9_\\-]{93}AA"],
  ["Artifactory", "AKCp[A-Za-z0-9]{69}|cmVmdGtu[A-Za-z0-9]{56}"],
  ["Atlassian", "ATATT3xFfGF0[A-Za-z0-9_\\-]{171}=[A-F0-9]{8}"],
  ["Authress", "(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9\\-]{10,32}\\.[a-z0-9+/_=\\-]{30,120}"],
  ["AWS", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}"],
  ["AWS Bedrock", "ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/]{88,180}"],
  ["AWS Bedrock, short-lived", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/]{900}"],
  ["Azure client secret", "[a-zA-Z0-9_~.]{3}[0-9]Q~[a-zA-Z0-9_~.]{30,33}[a-zA-Z0-9]"],
  ["Brevo", "xkeysib-[a-f0-9]{64}-[a-zA-Z0-9]{16}"],
  ["Brevo SMTP", "xsmtpsib-[a-f0-9]{64}-[a-zA-Z0-9]{16}"],
  ["ClickHouse", "4b1d[A-Za-z0-9]{38}"],
  ["Clojars", "CLOJARS_[a-z0-9]{60}"],
  ["Cloudflare origin CA", "v1\\.0-[a-f0-9]{24}-[a-f0-9]{146}"],
  ["Databricks", "dapi[a-f0-9]{32}|dapi[a-f0-9]{32}-[0-9]"],
  ["DigitalOcean", "(?:dop|doo|dor)_v1_[a-f0-9]{64}"],
  ["Doppler", "dp\\.pt\\.[a-zA-Z0-9]{43}"],
  ["Duffel", "duffel_(?:test|live)_[a-zA-Z0-9_\\-]{43}"],
  ["Dynatrace", "dt0c01\\.[A-Z0-9]{24}\\.[A-Z0-9]{64}"],
  ["EasyPost", "EZ[AT]K[a-zA-Z0-9]{54}"],
  ["Facebook", "EAA[MC][a-zA-Z0-9]{100,250}"],
  ["Flutterwave", "FLWSECK_TEST-[a-h0-9]{32}-X"],
  ["Fly", "fo1_[a-zA-Z0-9_\\-]{43}|fm1[ar]_[a-zA-Z0-9+/]{100,140}|fm2_[a-zA-Z0-9+/]{100,140}"],
  ["Frame.io", "fio-u-[a-zA-Z0-9_\\-]{64}"],
  ["GitHub, fine-grained", "github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}"],
  ["GitLab", "(?:glpat|gldt|glft|glsoat|glffct|glrt)-[0-9a-zA-Z_\\-]{19}[0-9a-zA-Z]"],
  [
    "GitLab, mail and agents",
    "glimt-[0-9a-zA-Z_\\-]{24}[a-z]|glagent-[0-9a-zA-Z_\\-]{49}[a-z]|gloas-[0-9a-zA-Z_\\-]{63}[a-z]|glptt-[0-9a-f]{40}",
  ],
  ["GitLab jobs", "glcbt-[0-9a-zA-Z]{1,5}_[0-9a-zA-Z_\\-]{19}[a-z]"],
  [
    "GitLab, routable",
    "glpat-[0-9a-zA-Z_\\-]{27}\\.[0-9a-z]{9}|glpat-[0-9a-zA-Z_\\-]{180}\\.[0-9a-z]{9}|glrt-t[0-9]_[0-9a-zA-Z_\\-]{27}\\.[0-9a-z]{9}",
  ],
  ["GitLab, routable with a version", "glpat-[0-9a-zA-Z_\\-]{120}\\.[0-9a-z]{2}\\.[0-9a-z]{9}"],
  ["GitLab runner registration", "GR1348941[0-9a-zA-Z_\\-]{19}[a-z]"],
  ["Google API", "AIza[0-9a-zA-Z_\\-]{34}[a-z]"],
  ["Google OAuth refresh", "1//0[0-9a-zA-Z_\\-]{60,99}[a-z]"],
  ["Grafana", "glc_[A-Za-z0-9+/]{32,200}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,200}"],
  ["Harness", "(?:pat|sat)\\.[a-zA-Z0-9_\\-]{22}\\.[a-z0-9]{24}\\.[a-zA-Z0-9]{20}"],
  ["Heroku", "HRKU-AA[0-9a-zA-Z_\\-]{57}[a-z]"],
  ["Hugging Face", "hf_[a-zA-Z]{34}|api_org_[a-zA-Z]{34}"],
  ["Infracost", "ico-[a-zA-Z0-9]{32}"],
  ["Intra 42", "s-s4t2(?:ud|af)-[a-f0-9]{64}"],
  ["Linear", "lin_api_[a-zA-Z0-9]{40}"],
  ["MaxMind", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"],
  ["New Relic", "NRAK-[A-Z0-9]{27}|NRII-[a-zA-Z0-9\\-]{31}[a-z]"],
  ["Notion", "ntn_[0-9]{11}[A-Za-z0-9]{35}"],
  ["Octopus Deploy", "API-[A-Z0-9]{26}"],
  [
    "OpenAI",
    "sk-(?:proj|svcacct|admin)-[A-Za-z0-9_\\-]{74}T3BlbkFJ[A-Za-z0-9_\\-]{73}[a-z]|sk-proj-[A-Za-z0-9_\\-]{58}T3BlbkFJ[A-Za-z0-9_\\-]{57}[a-z]|sk-[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20}",
  ],
  ["OpenShift", "sha256~[a-zA-Z0-9_\\-]{42}[a-z]"],
  ["Perplexity", "pplx-[a-zA-Z0-9]{48}"],
  ["Plaid", `access-(?:sandbox|development|production)-${UUID}`],
  ["PlanetScale", "pscale_(?:tkn|pw|oauth)_[a-zA-Z0-9_.=\\-]{31,63}[a-z]"],
  ["Postman", "PMAK-[a-f0-9]{24}-[a-f0-9]{34}"],
  ["Prefect", "pnu_[a-zA-Z0-9]{36}"],
  ["Pulumi", "pul-[a-f0-9]{40}"],
  ["PyPI", "pypi-AgEIcHlwaS5vcmc[a-zA-Z0-9_\\-]{120}[a-z]"],
  ["PyPI for tests", "pypi-AgENdGVzdC5weXBpLm9yZw[a-zA-Z0-9_\\-]{120}[a-z]"],
  ["ReadMe", "rdme_[a-z0-9]{70}"],
  ["RubyGems", "rubygems_[a-f0-9]{48}"],
  ["Scalingo", "tk-us-[a-zA-Z0-9_\\-]{47}[a-z]"],
  ["SendGrid", "SG\\.[a-zA-Z0-9_\\-]{22}\\.[a-zA-Z0-9_\\-]{42}[a-z]"],
  ["Sentry", "sntryu_[a-f0-9]{64}|sntrys_eyJpYXQiO[a-zA-Z0-9+/]{80}LCJyZWdpb25fdXJs[a-zA-Z0-9+/]{40}={0,2}_[a-zA-Z0-9+/]{43}"],
  ["SettleMint", "sm_[aps]at_[a-zA-Z0-9]{16}"],
  ["Shippo", "shippo_(?:live|test)_[a-f0-9]{40}"],
  ["Shopify", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"],
  [
    "Slack, bots and people",
    "xoxb-[0-9]{11,13}-[0-9]{11,13}-[a-zA-Z0-9]{24}|xox[pe](?:-[0-9]{11,13}){3}-[a-f0-9]{32}|xapp-1-[A-Z0-9]{11}-[0-9]{13}-[a-f0-9]{64}",
  ],
  ["Slack, configuration", "xoxe\\.xox[bp]-1-[A-Za-z0-9]{163,166}|xoxe-1-[A-Za-z0-9]{146}"],
  ["Slack, from before", "xox[os]-[0-9]{11}-[0-9]{11}-[0-9]{11}-[a-f0-9]{10}|xoxb-[0-9]{12}-[a-zA-Z0-9]{24}|xox[ar]-2-[0-9a-zA-Z]{30,46}"],
  ["Slack webhook", "https://hooks\\.slack\\.com/services/T[A-Z0-9]{10}/B[A-Z0-9]{10}/[A-Za-z0-9]{24}"],
  ["Sonar", "sq[upa]_[a-f0-9]{40}"],
  ["Sourcegraph", "sgp_[a-f0-9]{40}|sgp_[a-f0-9]{16}_[a-f0-9]{40}|sgp_local_[a-f0-9]{40}"],
  ["Square", "EAAA[a-zA-Z0-9_\\-]{59}[a-z]|sq0atp-[a-zA-Z0-9_\\-]{21}[a-z]|sq0csp-[a-zA-Z0-9_\\-]{42}[a-z]"],
  ["Stripe", "(?:sk|rk)_(?:test|live)_[a-zA-Z0-9]{24,99}|whsec_[a-zA-Z0-9]{32}"],
  ["Standard Webhooks", "whsec_[A-Za-z0-9+/]{31,43}[A-Za-z0-9]=?"],
  ["Terraform Cloud", "[a-zA-Z0-9]{14}\\.atlasv1\\.[a-zA-Z0-9_\\-]{60,67}"],
  ["Twilio", "SK[0-9a-f]{32}"],
  ["Typeform", "tfp_[a-zA-Z0-9_\\-.]{58}[a-z]"],
  ["Vault", "hvs\\.[a-zA-Z0-9_\\-]{90,120}|hvb\\.[a-zA-Z0-9_\\-]{138,178}"],
  ["Vault, long batch tokens", "hvb\\.[a-zA-Z0-9_\\-]{260,299}[a-z]"],
  ["Yandex API", "AQVN[A-Za-z0-9_\\-]{35,37}[a-z]"],
  ["Yandex IAM", "t1\\.9euelZ[A-Za-z0-9_\\-]{90,130}\\.[A-Za-z0-9_\\-]{86}"],
  ["Beside its name: Cloudflare", "[a-zA-Z0-9_\\-]{39}[a-z]", "CLOUDFLARE_API_TOKEN"],
  ["Beside its name: Cohere", "[a-zA-Z0-9]{40}", "COHERE_API_KEY"],
  ["Beside its name: Datadog", "[a-f0-9]{32}", "datadog_api_key"],
  ["Beside its name: Fastly", "[a-zA-Z0-9_\\-]{31}[a-z]", "FASTLY_API_TOKEN"],
  ["Beside its name: Twitch", "[a-z0-9]{30}", "twitch_client_secret"],
];

const compiled = compileDetectors(DETECTORS.filter(({ enabled }) => enabled));
const ASSIGNED = [SURROUNDINGS[1], (value: string, label: string) => `export ${label}=${value}\n`];
const SHOWN = [...ASSIGNED, SURROUNDINGS[3], SURROUNDINGS[9]];
const ROUNDS = 100;

test("documented key formats are found, whatever our own patterns say", (t) => {
  const random = seeded(20_261_123);
  const weak: string[] = [];
  for (const [service, form, label] of FORMS) {
    const missed: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const value = textOf(form, random);
      const text = pick(random, label === undefined ? SHOWN : ASSIGNED)?.(value, label ?? "token") ?? "";
      if (scanText(compiled, text).findings.every(({ detector }) => detector.category !== "secrets")) missed.push(text);
    }
    if (missed.length > 0) t.diagnostic(`${service}: ${ROUNDS - missed.length} of ${ROUNDS}, not ${missed[0]}`);
    if (missed.length / ROUNDS > 0.05) weak.push(service);
  }
  assert.deepEqual(weak, []);
});
