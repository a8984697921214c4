import type { Detector, ValueRange } from "#rules/detectors/engine/detector.ts";
import { valueBehind } from "#rules/detectors/engine/value-range.ts";
import { isAnonymousJwt, isJwt, isPlaceholderSecret, looksRandom } from "#rules/detectors/checks/secret-checks.ts";

const words = (texts: readonly string[]): Detector["anchors"] => texts.map((text) => ({ kind: "literal", text, word: true }));
const beforeAtSign = (texts: readonly string[]): Detector["anchors"] =>
  texts.map((text) => ({ kind: "literal", text, word: true, needs: "@" }));
const anywhere = (texts: readonly string[]): Detector["anchors"] => texts.map((text) => ({ kind: "literal", text, word: false }));

/** Quotes, also of JSON within JSON and as an entity. */
const QUOTE = String.raw`(?:\\{0,3}["']|&(?:quot|#34|#x22);)`;

/** An assignment as in configuration files, JSON and code: the end of the name, the sign, and the quoted or bare value. */
const assigned = (value: string): string =>
  String.raw`[A-Za-z0-9_.\-]{0,20}${QUOTE}?\]?[ \t]{0,4}${SIGN}[ \t]{0,4}${QUOTE}?(?:${value})(?![A-Za-z0-9_/+])`;

/** The sign of an assignment; in XML, the end of the tag with the name. */
const SIGN = "(?:=>|:=|[:=>])";
const TO_VALUE = new RegExp(String.raw`^[^:=>]*${SIGN}[ \t]*${QUOTE}?`);
const valueIn = valueBehind(TO_VALUE);
/** The text after the first sign. */
const valueOf = (text: string): string => text.replace(TO_VALUE, "");

/** Range of the quoted text at the end. */
const quotedIn = (text: string): ValueRange => [text.search(/["'][^"'\s]+["']$/) + 1, text.length - 1];

/** A base64 character, whose signs pages, scripts and addresses may escape. */
const ESCAPED_BASE64 = String.raw`(?:[A-Za-z0-9+]|\\?/|\\u002[BbFf]|&#(?:43|47|x2[BbFf]);|%2[BbFf])`;

const NAMES_OF_KEYS = [
  "api_key",
  "apikey",
  "apiKey",
  "api-key",
  "API_KEY",
  "APIKEY",
  "client_secret",
  "clientSecret",
  "CLIENT_SECRET",
  "secret_key",
  "secretKey",
  "SECRET_KEY",
  "auth_token",
  "authToken",
  "AUTH_TOKEN",
  "access_token",
  "accessToken",
  "ACCESS_TOKEN",
  "api_token",
  "apiToken",
  "API_TOKEN",
  "api_secret",
  "apiSecret",
  "API_SECRET",
  "app_key",
  "appKey",
  "APP_KEY",
  "master_key",
  "masterKey",
  "MASTER_KEY",
  // After another word in camel case, and as some languages name members.
  "ApiKey",
  "ClientSecret",
  "SecretKey",
  "AuthToken",
  "AccessToken",
  "ApiToken",
  "ApiSecret",
  "AppKey",
  "MasterKey",
  "AUTHTOKEN",
  // As in an environment: in lower case, every form of a page would match.
  "_TOKEN=",
  "_SECRET=",
];
/** Spellings in environments, files, SDKs and answers of the service itself. */
const NAMES_OF_AWS_KEYS = [
  "secret_access_key",
  "SECRET_ACCESS_KEY",
  "SecretAccessKey",
  "secretAccessKey",
  "secretaccesskey",
  "secret-access-key",
  "Secret-Access-Key",
  "SECRETACCESSKEY",
  ...["aws", "AWS", "Aws"]
    .flatMap((name) => ["", "_", "-", "."].map((sign) => `${name}${sign}`))
    .flatMap((name) => [
      `${name}secret_key`,
      `${name}SECRET_KEY`,
      `${name}SecretKey`,
      `${name}secretKey`,
      `${name}secret-key`,
      `${name}secretkey`,
    ]),
];
const NAMES_OF_PASSWORDS = ["password", "Password", "PASSWORD", "passwd", "PASSWD", "passphrase"];
const NAMES_IN_CONNECTIONS = [";Password=", ";password=", ";PASSWORD=", ";Pwd=", ";pwd=", ";PWD=", "&password="];
const KEY_HEADER = /^-----BEGIN [A-Z0-9 ]{0,40}-----(?:\\[rn]|<br ?\/?>|\s){0,8}/;
/** Later parts of a key may repeat a character by chance, or because of its encoding. */
const KEY_CHECKED_CHARACTERS = 16;
const DATABASES = [
  "postgres://",
  "postgresql://",
  "mysql://",
  "mariadb://",
  "mongodb://",
  "mongodb+srv://",
  "redis://",
  "rediss://",
  "amqp://",
  "amqps://",
  "mssql://",
  "sqlserver://",
  "clickhouse://",
  "cockroachdb://",
  "ldap://",
  "ldaps://",
  "smtp://",
  "smtps://",
  "ftp://",
  "ftps://",
  "sftp://",
  "ssh://",
  "imap://",
  "imaps://",
  "mqtt://",
  "mqtts://",
  "nats://",
  "kafka://",
  "valkey://",
  "valkeys://",
  "neo4j://",
  "neo4j+s://",
  "bolt://",
  "bolt+s://",
  "couchbase://",
  "couchbases://",
  "clickhouses://",
  "oracle://",
  "libsql://",
  "rtsp://",
  "rtsps://",
  "socks5://",
  // SQLAlchemy names the driver behind the database.
  ...["asyncpg", "psycopg", "psycopg2", "pg8000", "psycopg_async"].map((driver) => `postgresql+${driver}://`),
  ...["asyncpg", "psycopg", "psycopg2"].map((driver) => `postgres+${driver}://`),
  ...["pymysql", "mysqldb", "mysqlconnector", "aiomysql", "asyncmy"].map((driver) => `mysql+${driver}://`),
  ...["mssql+pyodbc://", "mssql+pymssql://", "oracle+oracledb://", "oracle+cx_oracle://", "mariadb+mariadbconnector://"],
];

/** Secrets of forms that many services share. */
export const GENERAL_SECRETS: readonly Detector[] = [
  {
    id: "secret.aws_access_key_id",
    rule_id: "5be80f1d6c7a4923a4d0e3f9b8712c65",
    name: "AWS access key ID",
    category: "secrets",
    tags: ["cloud"],
    anchors: words(["AKIA", "ASIA", "ABIA", "ACCA"]),
    patterns: [/A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9_])/y],
    accepts: (text) => !isPlaceholderSecret(text),
    confidence: "high",
    enabled: true,
    hits: ["aws_access_key_id = AKIA4QYHJT3NWBKLD2PX", '"ASIAXQ5ZJ2MWR7TBV6KD"'],
    misses: ["AKIAIOSFODNN7EXAMPLE", "AKIA4QYHJT3NWBKLD2P", "XAKIA4QYHJT3NWBKLD2PX", "AKIA4QYHJT3NWBKLD2PX9"],
  },
  {
    id: "secret.aws_secret_access_key",
    rule_id: "40098eb52f301adbd4af460c4c31d5c5",
    name: "AWS secret access key, beside its name",
    category: "secrets",
    tags: ["cloud"],
    anchors: anywhere(NAMES_OF_AWS_KEYS),
    patterns: [new RegExp(String.raw`(?:${NAMES_OF_AWS_KEYS.join("|").replaceAll(".", "\\.")})${assigned(`${ESCAPED_BASE64}{40}`)}`, "y")],
    accepts: (text) => looksRandom(valueOf(text), 3.5),
    valueIn,
    confidence: "high",
    enabled: true,
    hits: [
      "aws_secret_access_key = q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x",
      '"SecretAccessKey": "q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7Qi/tE3x"',
      '"SecretAccessKey":"q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7Qi\\/tE3x"',
      "SECRET_ACCESS_KEY=q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7Qi&#x2F;tE&#43;x",
      '{\\"secretAccessKey\\":\\"q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x\\"}',
      'awsSecretKey: "q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x"',
      '{"awsSecretAccessKey":"q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x"}',
      "<SecretAccessKey>q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x</SecretAccessKey>",
      "aws-secret-access-key=q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x",
      "aws.secretKey=q8sJ4mXv2PfLw9ZcT6RyB1kHnD5gAeUo7QiWtE3x",
    ],
    misses: ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = short"],
  },
  {
    id: "secret.private_key",
    rule_id: "e1d7c35a80f94b6e9c24ab60d1f8573e",
    name: "Private key (PEM or PGP)",
    category: "secrets",
    tags: ["private-key"],
    anchors: anywhere(["-----BEGIN "]),
    // A header alone is documentation; key material, possibly in a JSON string, must follow. Keys of one kind begin
    // alike.
    patterns: [
      // linear: pumped
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|<br ?\/?>|\s){0,8}(?:(?:Proc-Type|Version):[^<>"\\]{0,300}|[A-Za-z0-9+/=]{16}(?:[A-Za-z0-9+/=]|\\[rn]|<br ?\/?>|\s){0,380})/y,
    ],
    // linear: pumped
    accepts: (text) => !/EXAMPLE|XXXX|(.)\1{7}/i.test(text.replace(KEY_HEADER, "").slice(0, KEY_CHECKED_CHARACTERS)),
    valueIn: valueBehind(KEY_HEADER),
    confidence: "high",
    enabled: true,
    hits: [
      "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG",
      '"-----BEGIN RSA PRIVATE KEY-----\\nMIIEowIBAAKCAQEAvV8k"',
      "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQHYBGZkq1YBBADDh2",
    ],
    misses: [
      "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
      "-----BEGIN PUBLIC KEY-----\nMIGHAgEAMBMGByqGSM49AgEG",
      "a file that starts with -----BEGIN RSA PRIVATE KEY-----",
    ],
  },
  {
    id: "secret.age_key",
    rule_id: "1a7f86f32cbfd53e6129ec99725e639a",
    name: "age identity",
    category: "secrets",
    tags: ["private-key"],
    anchors: words(["AGE-SECRET-KEY-1"]),
    patterns: [/AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}(?![A-Za-z0-9_])/y],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC9"],
    misses: ["AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", "AGE-SECRET-KEY-1"],
  },
  {
    id: "secret.jwt",
    rule_id: "65c5a34bded4f5b649113e83f4172ee6",
    name: "JSON Web Token",
    category: "secrets",
    tags: ["token"],
    anchors: words(["eyJ"]),
    patterns: [
      // Signed, with three parts, and encrypted, with five (RFC 7516 §7.1).
      /eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{16,700}(?!\.?[A-Za-z0-9_-])/y,
      /eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{0,700}\.[A-Za-z0-9_-]{8,64}\.[A-Za-z0-9_-]{2,1000}\.[A-Za-z0-9_-]{16,128}(?!\.?[A-Za-z0-9_-])/y,
      /eyJ[A-Za-z0-9_-]{10,200}\.eyJ[A-Za-z0-9_-]{200,}/y,
    ],
    accepts: isJwt,
    confidence: "high",
    enabled: true,
    hits: [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJsb3JlbSI6Imlwc3VtIn0.ymiJSsMJXR6tMSr8G9usjQ15_8hKPDv_CArLhxw28MI",
      "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..q8sJ4mXv2PfLw9Zc.T6RyB1kHnD5gAeUo7QiWtE3x.ymiJSsMJXR6tMSr8G9usjQ",
    ],
    misses: [
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJsb3JlbSI6Imlwc3VtIn0.eyJsb3JlbSI6Imlwc3VtIn0.ymiJSsMJXR6tMSr8G9usjQ15_8hKPDv",
      "eyJub3QiOiJqd3QifQxx.eyJsb3JlbSI6Imlwc3VtIn0.ymiJSsMJXR6tMSr8G9usjQ15",
    ],
  },
  {
    id: "secret.connection_string",
    rule_id: "4108e9b327c4b9b4b14e6cd61a66bab1",
    name: "Connection string with a password",
    category: "secrets",
    tags: ["password"],
    anchors: beforeAtSign(DATABASES),
    patterns: [/[a-z][a-z0-9+_]{2,27}:\/\/[^\s:@/"'<>]{0,64}:[^\s@/"'<>]{3,128}@(?:[A-Za-z0-9]|\[)[^\s"'<>]{1,200}/y],
    accepts: hasRealPassword,
    confidence: "high",
    enabled: true,
    hits: [
      "DATABASE_URL=postgres://shop:t9Kq2vLx@db.internal:5432/shop",
      "mongodb+srv://svc:Zr8w-Qm41@cluster0.ab12c.mongodb.net/test",
      "postgresql+psycopg2://app:t9Kq2vLx@db.internal/shop",
      "mqtts://sensor:t9Kq2vLx@broker.internal:8883",
    ],
    misses: ["postgres://user:password@localhost/db", "postgres://shop@db.internal/shop", "redis://:${REDIS_PASSWORD}@cache:6379"],
  },
  {
    id: "secret.url_credentials",
    rule_id: "d17a1109d552b808196a4c7afcf8ac3d",
    name: "Web address with a password",
    category: "secrets",
    tags: ["password"],
    anchors: beforeAtSign(["https://", "http://"]),
    patterns: [/https?:\/\/[^\s:@/"'<>]{1,64}:[^\s@/"'<>]{3,128}@[A-Za-z0-9][A-Za-z0-9.-]{1,200}/y],
    accepts: hasRealPassword,
    confidence: "medium",
    enabled: true,
    hits: ["git clone https://deploy:9fK2-pQx7Lm@git.internal.test/app.git"],
    misses: ["https://user:password@example.com/", "http://host:8080/@scope", "https://anonymous:flabada@files.shop.test/"],
  },
  {
    id: "secret.connection_password",
    rule_id: "d3b1086f57c94e0fa2e67c95b80f41da",
    name: "Connection string with a password among its parameters",
    category: "secrets",
    tags: ["password"],
    anchors: anywhere(NAMES_IN_CONNECTIONS),
    patterns: [/[;&][A-Za-z]{3,8}=[^\s;&"'<>\\(),]{6,128}(?=[\s;&"'<>\\(),]|$)/y],
    accepts: (text) => isRealPassword(valueOf(text)) && /\d/.test(text) && looksRandom(valueOf(text), 2.7),
    valueIn,
    confidence: "medium",
    enabled: true,
    hits: ["Server=db;Database=shop;User Id=app;Password=t9Kq2vLx7w;", "jdbc:postgresql://db:5432/shop?user=app&password=Zr8wQm41xk"],
    misses: [
      "Server=db;User Id=app;Password=${DB_PASSWORD1};",
      "x;password=password1",
      "User=sa;Password=*********1",
      "?user=a&password=Password123!",
    ],
  },
  {
    id: "secret.authorization",
    rule_id: "6c4f9ad2e0314b7f8d15c7b3096ae8f1",
    name: "Credentials of an Authorization header",
    category: "secrets",
    tags: ["token"],
    anchors: words(["Bearer ", "bearer ", "Basic "]),
    patterns: [/[Bb]earer [A-Za-z0-9_\-.+/=~]{20,512}/y, /Basic [A-Za-z0-9+/]{16,300}={0,2}(?![A-Za-z0-9+/=])/y],
    accepts: (text) => (text.startsWith("Basic ") ? isBasic(text.slice(6)) : isStrong(text.slice(7)) && !isAnonymousJwt(text)),
    valueIn: valueBehind(/^\w+ /),
    confidence: "medium",
    enabled: true,
    hits: ["Authorization: Bearer Vb7kQ2xR9mLp4ZtY8wN3sHc1", "Authorization: Basic c3ZjOnQ5S3Eydkx4N3c0Wg=="],
    misses: ["Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE", "Authorization: Basic dXNlcjpwYXNzd29yZA==", "Basic authentication"],
  },
  {
    id: "secret.putty_key",
    rule_id: "a25c80e7b9d64f31860fd41c73be952a",
    name: "Private key of PuTTY",
    category: "secrets",
    tags: ["private-key"],
    anchors: words(["PuTTY-User-Key-File-"]),
    patterns: [/PuTTY-User-Key-File-[123]: [a-z0-9-]{5,40}(?:\\[rn]|\s){1,4}Encryption: [a-z0-9-]{4,20}(?:\\[rn]|\s){1,4}Comment/y],
    accepts: () => true,
    confidence: "high",
    enabled: true,
    hits: ["PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nComment: deploy\r\nPublic-Lines: 2"],
    misses: ["a file that begins with PuTTY-User-Key-File-3: ssh-ed25519"],
  },
  {
    id: "secret.generic_key",
    rule_id: "e7f9c0368ed7aade07153323e67c6fcf",
    name: "Key or token, by the name it is given",
    category: "secrets",
    tags: ["generic"],
    anchors: anywhere(NAMES_OF_KEYS),
    patterns: [new RegExp(String.raw`[A-Za-z_-]{6,13}${assigned(String.raw`[A-Za-z0-9_/+.~\-]{20,512}={0,2}`)}`, "y")],
    accepts: (text) => isStrong(valueOf(text)),
    valueIn,
    confidence: "medium",
    enabled: true,
    hits: [
      '{\\"api_key\\":\\"f81d4fae7dec11d0a76500a0c91e6bf6\\"}',
      "&quot;apiKey&quot;:&quot;Vb7kQ2xR9mLp4ZtY8wN3sHc&quot;",
      'api_key = "f81d4fae7dec11d0a76500a0c91e6bf6"',
      'clientSecret: "Vb7-kQ2xR9mLp4ZtY8wN3sHc"',
    ],
    misses: ['api_key = "your_api_key_goes_right_here"', "api_key = process.env.SERVICE_API_KEY_PRODUCTION", 'access_token: "string"'],
  },
  {
    id: "secret.generic_password",
    rule_id: "378f669c9b7b378b739a178ca1599bbc",
    name: "Password, by the name it is given",
    category: "secrets",
    tags: ["generic", "password"],
    anchors: anywhere(NAMES_OF_PASSWORDS),
    patterns: [new RegExp(String.raw`[A-Za-z]{6,10}["']?[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}["'][^"'\s]{8,64}["']`, "y")],
    accepts: (text) => {
      const value = text.slice(...quotedIn(text));
      return /\d/.test(value) && /[A-Za-z]/.test(value) && !/[{}<>()[\]$]/.test(value) && looksRandom(value, 2.7);
    },
    valueIn: quotedIn,
    confidence: "medium",
    enabled: false,
    hits: ['"password": "tR8-vk2!Lq"'],
    misses: ['password: "changeme1"', 'password = "${PASSWORD1}"', 'password: "required"'],
  },
];

/** Whether the password is not a template, a variable or a tutorial's password. */
function hasRealPassword(text: string): boolean {
  // linear: at most 4096 bytes (what a detector finds)
  if (/@(?:[a-z0-9-]+\.)*(?:example(?:\.[a-z]+)?|localhost|127\.0\.0\.1)(?![a-z0-9.-])/i.test(text)) return false;
  // linear: at most 4096 bytes (what a detector finds)
  const [, name = "", password = ""] = /:\/\/([^:@]*):([^@]*)@/.exec(text) ?? [];
  // The password of an anonymous login is arbitrary.
  return name !== "anonymous" && isRealPassword(password);
}

function isRealPassword(password: string): boolean {
  if (/[{}$<>*[\]()]|^%/.test(password) || isPlaceholderSecret(password)) return false;
  return !/^(?:pass(?:word|wd|w)?|pwd|secret|admin|root|test|user(?:name)?|guest|postgres|mysql|redis|mongo|foo|bar|baz|abc|xyz|hunter2|12345+|qwerty|token|key|x+|p+)\d{0,4}!?$/i.test(
    password,
  );
}

/** A name and a password, as in RFC 7617. */
function isBasic(encoded: string): boolean {
  const text = Buffer.from(encoded, "base64").toString("latin1");
  const colon = text.indexOf(":", 1);
  const password = text.slice(colon + 1);
  const isPrintable = /^[\x20-\x7e]*$/.test(text);
  return colon > 0 && isPrintable && password.length >= 6 && isRealPassword(password) && /\d/.test(password) && looksRandom(password, 2.7);
}

/**
 * Whether the value looks generated: letters and digits mixed without words, or hexadecimal; not a file name, path or
 * identifier.
 */
function isStrong(value: string): boolean {
  const digits = value.replace(/\D/g, "").length;
  if (digits === value.length || !/[A-Za-z]/.test(value) || value.includes("//")) return false;
  if (/^[0-9a-f-]+$/i.test(value)) return value.length >= 32 && looksRandom(value, 3);
  const least = digits < 2 ? CHANGES_OF_LETTERS_MIN : /[A-Z]/.test(value) ? CHANGES_MIN : CHANGES_OF_LOWER_CASE_MIN;
  return changes(value) >= least * (value.length - 1) && looksRandom(value, 3.6);
}

/** In random text, six of ten neighbours are of different kinds, four without upper case; in words, few are. */
const CHANGES_MIN = 0.36;
const CHANGES_OF_LOWER_CASE_MIN = 0.25;
/** Names in camel case have two per word. */
const CHANGES_OF_LETTERS_MIN = 0.5;

/** Number of lower-case letters, upper-case letters and digits that precede a character of another kind. */
const changes = (value: string): number => value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|\d(?=[A-Za-z])/g)?.length ?? 0;
