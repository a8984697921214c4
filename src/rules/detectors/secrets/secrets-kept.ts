import type { Detector } from "#rules/detectors/engine/detector.ts";
import { valueBehind } from "#rules/detectors/engine/value-range.ts";
import { looksRandom } from "#rules/detectors/checks/secret-checks.ts";
import { END_WORD, secretDetectors } from "./secret-row.ts";

/** Beginnings of hashed passwords, with their salts, as programs keep them. */
const HASH_STARTS = ["$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$apr1$", "$argon2i$v", "$argon2id$v"];
const HASHES = [
  String.raw`\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}`,
  String.raw`\$[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}`,
  String.raw`\$y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}`,
  String.raw`\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}`,
  String.raw`\$argon2id?\$v=\d{1,3}\$m=\d{1,9},t=\d{1,9},p=\d{1,4}\$[+/A-Za-z0-9]{8,88}\$[+/A-Za-z0-9]{20,171}`,
];

const PASSWORD_HASH: Detector = {
  id: "secret.password_hash",
  rule_id: "4be91d07c36f42a58d10f7359ac2e86b",
  name: "Hash of a password",
  category: "secrets",
  tags: ["generic", "password"],
  anchors: HASH_STARTS.map((text) => ({ kind: "literal", text, word: false })),
  patterns: [new RegExp(`(?:${HASHES.join("|")})(?![./A-Za-z0-9])`, "y")],
  accepts: looksRandom,
  confidence: "medium",
  enabled: true,
  hits: [
    '"password_hash":"$2b$12$VuErAs8YJCAwEDhvckGzFJNWIZGmW6fP1GIYNW0YiXPhhi9VHpmIw"',
    "admin:$apr1$jM29bSTq$aFCeVuYox7SYYDIJPVkhHZ",
    "root:$6$8pRFa84GVao0dVQT$tR8MTssN9Q6iGTEtpPqddlrl1lPwnB96LeIwmlWFUZezTRDe8PtkznikQOGcoRyTLlrq2imEElEOF4zJUWxAc.:19000",
    "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ4Zm9v$RdescudvJCsgt3ub+b6dWRWJTmaaJObG2kqWzN0fJ8k",
  ],
  misses: [
    "$2b$12$xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "costs $5$ or $6$ each",
    "s.replace(/a/,'$2a$1')",
    "$2b$12$VuErAs8YJCAwEDhvckGzFJN",
  ],
};

/** AWS gives temporary credentials three parts; signed addresses show only this one, under another name. */
const SESSION_NAMES = ["SessionToken", "sessionToken", "SESSION_TOKEN", "session_token"];
const valueOfSession = valueBehind(/^[A-Za-z_]+["']?\s{0,4}[:=>]\s{0,4}["']?/);

const AWS_SESSION_TOKEN: Detector = {
  id: "secret.aws_session_token",
  rule_id: "8d3f60b1e4c947d2a9be05f1c7642a1f",
  name: "AWS session token",
  category: "secrets",
  tags: ["cloud"],
  anchors: SESSION_NAMES.map((text) => ({ kind: "literal", text, word: false })),
  patterns: [
    new RegExp(String.raw`(?:${SESSION_NAMES.join("|")})["']?\s{0,4}[:=>]\s{0,4}["']?(?:IQoJ|FwoG|FQoG)[A-Za-z0-9+/=]{96,400}`, "y"),
  ],
  accepts: (text) => looksRandom(text.slice(...valueOfSession(text))),
  valueIn: valueOfSession,
  confidence: "high",
  enabled: true,
  hits: [
    `"SessionToken": "IQoJb3JpZ2luX2VjEAEamT8llmvd38cFeMZ5elqVaq2SATw5UFzwbm4FBtmcsdZSdRqbaBmfaGiLRLQUWlMn2JOKWEp5ALk49WbmdyHpt83Yq0Ho6WAV=="`,
    "AWS_SESSION_TOKEN=FwoGZXIvYXdzEJr8llmvd38cFeMZ5elqVaq2SATw5UFzwbm4FBtmcsdZSdRqbaBmfaGiLRLQUWlMn2JOKWEp5ALk49WbmdyHpt83Yq0Ho6WAV",
  ],
  misses: ["SessionToken: undefined", 'sessionToken: "IQoJshort"'],
};

/** Secrets as files of programs keep them, which servers deliver by mistake. */
export const KEPT_SECRETS: readonly Detector[] = [
  PASSWORD_HASH,
  AWS_SESSION_TOKEN,
  ...secretDetectors(
    ["generic", "password"],
    [
      {
        id: "secret.wordpress_config",
        rule_id: "a60c2f9be7d14538b2e1946df3087c5a",
        name: "Password or key of a WordPress configuration",
        starts: ["DB_PASSWORD', '", "AUTH_KEY', '", "AUTH_KEY',         '", "LOGGED_IN_KEY', '", "NONCE_KEY', '", "AUTH_SALT', '"],
        rest: String.raw`[\x21-\x26\x28-\x7e][\x20-\x26\x28-\x7e]{7,63}(?=')`,
        amidWord: true,
        startsWithName: true,
        confidence: "medium",
        accepts: (text) => {
          const value = text.slice(text.lastIndexOf("'") + 1);
          return /\d/.test(value) && looksRandom(value, 2.7);
        },
        hits: [
          "define('DB_PASSWORD', 'Zk39dkWpq2x9');",
          "define( 'AUTH_KEY', 'q*7F]x1 $Jd!oV9#Lw2z@Zm4^Tb8&Nc6Rk3~Ys5+Gp0-Hf}Xu;Ea:Qi<Dl>Mv?Bn' );",
        ],
        misses: ["define('DB_PASSWORD', 'password_here');", "define('AUTH_KEY', 'put your unique phrase here');"],
      },
    ],
  ),
  ...secretDetectors(
    ["payment"],
    [
      {
        id: "secret.hex_private_key",
        rule_id: "c5179ea2d80b4f63b7429ce1f60d385e",
        name: "Private key of a wallet",
        starts: [
          'rivateKey":"0x',
          'rivateKey": "0x',
          "RIVATE_KEY=0x",
          'RIVATE_KEY="0x',
          'rivate_key":"0x',
          'rivate_key": "0x',
          "rivate_key=0x",
        ],
        rest: String.raw`[0-9a-fA-F]{64}${END_WORD}`,
        amidWord: true,
        startsWithName: true,
        hits: [
          "private_key=0x5a5c6f9127110a793b85cccbc9f6de7761198e15460188bec7e997e10aa17d89",
          '"privateKey":"0x5a5c6f9127110a793b85cccbc9f6de7761198e15460188bec7e997e10aa17d89"',
        ],
        misses: ["private_key=0x0000000000000000000000000000000000000000000000000000000000000001", '"publicKey":"0x5a5c6f91"'],
      },
    ],
  ),
];
