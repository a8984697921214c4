import type { Detector } from "./detector.ts";

// Documentation everywhere uses keys that say so.
const isExample = (text: string): boolean => /EXAMPLE|XXXX|(.)\1{7}/i.test(text);

export const SECRET_DETECTORS: readonly Detector[] = [
  {
    id: "secret.aws_access_key_id",
    rule_id: "5be80f1d6c7a4923a4d0e3f9b8712c65",
    name: "AWS access key ID",
    category: "secrets",
    anchors: ["AKIA", "ASIA", "ABIA", "ACCA"].map((text) => ({ kind: "literal", text, word: true })),
    patterns: [/A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}(?![A-Za-z0-9_])/y],
    accepts: (text) => !isExample(text),
    confidence: "high",
    enabled: true,
    hits: ["aws_access_key_id = AKIA4QYHJT3NWBKLD2PX", '"ASIAXQ5ZJ2MWR7TBV6KD"'],
    misses: ["AKIAIOSFODNN7EXAMPLE", "AKIA4QYHJT3NWBKLD2P", "XAKIA4QYHJT3NWBKLD2PX", "AKIA4QYHJT3NWBKLD2PX9"],
  },
  {
    id: "secret.private_key",
    rule_id: "e1d7c35a80f94b6e9c24ab60d1f8573e",
    name: "Private key (PEM or PGP)",
    category: "secrets",
    anchors: [{ kind: "literal", text: "-----BEGIN ", word: false }],
    // A header alone is documentation; key material, possibly in a JSON string, has to follow.
    patterns: [
      /-----BEGIN (?:[A-Z0-9]{1,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----(?:\\[rn]|<br ?\/?>|\s){0,8}(?:Proc-Type:|Version:|[A-Za-z0-9+/=]{16})/y,
    ],
    accepts: (text) => !isExample(text),
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
];
