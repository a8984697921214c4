import type { Detector } from "#rules/detectors/engine/detector.ts";
import { valueAtEnd, valueBehind } from "#rules/detectors/engine/value-range.ts";
import { looksRandom } from "#rules/detectors/checks/secret-checks.ts";
import { END, END_WORD, secretDetectors } from "./secret-row.ts";

/** A key without an identifying beginning: the name of its service must be shortly before it. */
interface NamedKey {
  readonly id: string;
  readonly rule_id: string;
  readonly name: string;
  /** In lower case. */
  readonly service: string;
  readonly value: string;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

const UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

const NAMED_KEYS: readonly NamedKey[] = [
  {
    id: "secret.ghost_key",
    rule_id: "5d0e3a72c9b14f6893e7d4a6120fc58b",
    name: "Ghost key, beside its name",
    service: "ghost",
    // Of the Admin API, and of the Content API.
    value: "[0-9a-f]{24}:[0-9a-f]{64}|[0-9a-f]{26}",
    hits: [
      "GHOST_ADMIN_API_KEY=62a1f3b7c9d04e5f8a7b6c31:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      'ghost: { url, key: "9f86d081884c7d659a2feaa0c5" }',
    ],
    misses: ["9f86d081884c7d659a2feaa0c5", "ghost key 9f86d081884c7d659a2feaa0c"],
  },
  {
    id: "secret.postmark_token",
    rule_id: "6e1f4b83dac25079a4f8e5b72310d69c",
    name: "Postmark token, beside its name",
    service: "postmark",
    value: UUID,
    hits: ["X-Postmark-Server-Token: 453d29bd-bdfb-48e9-ae3e-c7f47845fe57", "POSTMARK_API_TOKEN=453d29bd-bdfb-48e9-ae3e-c7f47845fe57"],
    misses: ["453d29bd-bdfb-48e9-ae3e-c7f47845fe57", "postmark token 00000000-0000-0000-0000-000000000000"],
  },
];

const WITHIN = String.raw`[^\n]{0,48}?[^A-Za-z0-9_\n]`;
const valueIn = valueAtEnd(/(?<![0-9a-fA-F:-])[0-9a-fA-F:-]+$/);

const namedKey = ({ service, value, ...row }: NamedKey): Detector => {
  const spellings = [service, service.toUpperCase(), `${service.charAt(0).toUpperCase()}${service.slice(1)}`];
  return {
    ...row,
    category: "secrets",
    tags: ["communication"],
    anchors: spellings.map((text) => ({ kind: "literal", text, word: false })),
    patterns: [new RegExp(`(?:${spellings.join("|")})${WITHIN}(?:${value})${END_WORD}`, "y")],
    accepts: (text) => looksRandom(text.slice(...valueIn(text))),
    valueIn,
    confidence: "medium",
    enabled: true,
  };
};

/** First bytes of a number in base64: its first two digits, and four bits that are equal in all digits. */
const NUMBER_STARTS = [..."123456789"].flatMap((first) =>
  [..."0123456789"].map((second) => Buffer.from(`${first}${second}0`).toString("base64").slice(0, 3)),
);

/** A bot token: it begins with the bot's id, as digits in base64. */
const isBotToken = (text: string): boolean =>
  /^\d{17,20}$/.test(Buffer.from(text.split(".", 1)[0] ?? "", "base64url").toString("latin1")) && looksRandom(text);

/** Ends of names of variables of the environment; in YAML a space follows the colon. */
const NAMES_OF_VARIABLES = ["PASSWORD", "PASSWD", "_PASS", "_SECRET"].flatMap((name) => [`${name}=`, `${name}: `]);

/** Not a reference, a path, an address or code, as `SECRET=$OTHER`, `PASSWORD=/run/secrets/db` and `SECRET=config.value1;`. */
const isOwnValue = (value: string): boolean =>
  /\d/.test(value) && /[A-Za-z]/.test(value) && !/[{}([\]]|^[$/~.]|:\/\/|^[A-Za-z_]+\.[A-Za-z_.]+\d*$|^[a-z]+\d?\d?$/.test(value);

const valueOfVariable = valueBehind(/^[A-Z_]+(?:=|: )/);

/** A file such as `.env` that was published by accident. */
const PASSWORD_OF_ENVIRONMENT: Detector = {
  id: "secret.environment_password",
  rule_id: "c07d5e92ab364f18b1e9730d68f2a54c",
  name: "Password or secret of an environment file",
  category: "secrets",
  tags: ["generic", "password"],
  anchors: NAMES_OF_VARIABLES.map((text) => ({ kind: "literal", text, word: false })),
  patterns: [new RegExp(String.raw`(?:${NAMES_OF_VARIABLES.join("|")})[^\s"'&<>\\,;)]{8,64}(?![^\s"'&<>\\,;)])`, "y")],
  accepts: (text) => {
    const value = text.slice(...valueOfVariable(text));
    return isOwnValue(value) && looksRandom(value, 2.7);
  },
  valueIn: valueOfVariable,
  confidence: "medium",
  enabled: true,
  hits: ["DB_PASSWORD=xK9#mPq2vL8z", "MYSQL_ROOT_PASSWORD: 9fj3KfL2mQ\n", "SMTP_PASS=kd83jfKQ02ld\r\n", "JWT_SECRET=8f3b6c2d9a714e05"],
  misses: [
    "DB_PASSWORD=changeme123",
    "DB_PASSWORD=${VAULT_PASSWORD1}",
    "PASSWORD=$DB_PASSWORD_1",
    "PASSWORD=/run/secrets/db1",
    "window.APP_SECRET=config.secretValue1;",
    "CLIENT_SECRET=process.env.SECRET2",
    "MAIL_PASSWORD=null",
    "PASSWORD: required1",
  ],
};
/** Keys that are not identified by their beginning or end alone. */
export const NAMED_SECRETS: readonly Detector[] = [
  PASSWORD_OF_ENVIRONMENT,
  ...NAMED_KEYS.map(namedKey),
  ...secretDetectors(
    ["communication"],
    [
      {
        id: "secret.discord_bot_token",
        rule_id: "7f205c94ebd3618ab509f6c83421e7ad",
        name: "Discord bot token",
        starts: NUMBER_STARTS,
        rest: String.raw`[A-Za-z0-9_\-]{20,24}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,38}${END}`,
        needs: ".",
        accepts: isBotToken,
        hits: [
          "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
          'token: "NjgzNzkxODQ5MzE1OTQyNDE3.Gx7Qaa.Zr8wQm41xkt9Kq2vLx7wPd0sHc3nBe5uYf6aTg"',
        ],
        misses: ["MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.short", "MTkAAAAAAAAAAAAAAAAAAAAA.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs"],
      },
      {
        id: "secret.asana_token",
        rule_id: "80316da5fce4729bc61a07d94532f8be",
        name: "Asana personal access token",
        starts: ["1/1", "2/1"],
        rest: String.raw`\d{12,18}(?:/\d{13,19})?:[0-9a-f]{32}${END_WORD}`,
        hits: [
          "1/1204839201748392:9f86d081884c7d659a2feaa0c55ad015",
          "2/1204839201748392/1207743920174839:9f86d081884c7d659a2feaa0c55ad015",
        ],
        misses: ["1/1204839201748392", "1/12/2024 10:30"],
      },
    ],
  ),
  {
    id: "secret.mailchimp_key",
    rule_id: "91427eb60df583acd72b18ea5643a9cf",
    name: "Mailchimp key",
    category: "secrets",
    tags: ["communication"],
    // The key ends with the data centre.
    anchors: [..."123456789"].map((digit) => ({ kind: "literal", text: `-us${digit}`, word: false, behindName: true })),
    patterns: [new RegExp(String.raw`[0-9a-f]{32}-us[1-9]\d?${END_WORD}`, "y")],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["apikey=9f86d081884c7d659a2feaa0c55ad015-us12", '"3bf4f1b2b0b822cd15d6c15b0f00a08d-us6"'],
    misses: ["9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015-us123", "ec2-us1"],
  },
  {
    id: "secret.maxmind_key",
    rule_id: "698f5604ea7282302f9e8e1fab257449",
    name: "MaxMind licence key",
    category: "secrets",
    tags: ["data"],
    anchors: [{ kind: "literal", text: "_mmk", word: false, behindName: true }],
    patterns: [new RegExp(String.raw`[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk${END_WORD}`, "y")],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["LicenseKey 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"],
    misses: ["amount_mmk", "xxxxxx_xxxxxxxxxxxxxxxxxxxxxxxxxxxxx_mmk"],
  },
];
