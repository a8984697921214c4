import type { Detector } from "#rules/detectors/engine/detector.ts";
import { looksRandom } from "#rules/detectors/checks/secret-checks.ts";
import { END, END_WORD, secretDetectors } from "./secret-row.ts";

/** Keys of less common services, and keys that are identified by their end. */
export const FURTHER_SECRETS: readonly Detector[] = [
  ...secretDetectors(
    ["ai"],
    [
      {
        id: "secret.apify_token",
        rule_id: "3501f3e16baf0da4041a0996172c8bd8",
        name: "Apify token",
        starts: ["apify_api_"],
        rest: String.raw`[A-Za-z0-9]{34,40}${END_WORD}`,
        hits: ["apify_api_wr2Zsofa4ql6YCRSVlGIIyR9QsfRbXa7oJ8U"],
        misses: ["apify_api_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
      },
      {
        id: "secret.unkey_key",
        rule_id: "7598e59da0cde8bfcbb788acd8aeddc1",
        name: "Unkey root key",
        starts: ["unkey_"],
        rest: String.raw`[A-Za-z0-9]{22,28}${END_WORD}`,
        hits: ["unkey_wa1SfVT2mJoeLACNo5ijoAU0"],
        misses: ["unkey_xxxxxxxxxxxxxxxxxxxxxxxx", "unkey_root_key"],
      },
    ],
  ),
  ...secretDetectors(
    ["cloud"],
    [
      {
        id: "secret.yandex_oauth",
        rule_id: "4fe0bf1c45ae5871b3650bb8674b0d54",
        name: "Yandex OAuth token",
        starts: ["y0__", "y0_A"],
        rest: String.raw`[A-Za-z0-9_\-]{50,64}${END}`,
        hits: ["y0__a5SZMk-s1oNUVTvha2P3RwMzZbFWOe5e6I7toFy2QrvsupzTGGpKCD"],
        misses: ["y0__proto", "y0_Axxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
      },
    ],
  ),
  ...secretDetectors(
    ["payment"],
    [
      {
        id: "secret.polar_token",
        rule_id: "3bec843375b9c4a5ae8a7610ddefeefd",
        name: "Polar access token",
        starts: ["polar_oat_", "polar_pat_"],
        rest: String.raw`[A-Za-z0-9]{32,48}${END_WORD}`,
        hits: ["polar_oat_lwvdKnIDwWkE8PcfcrPGkDVDDdSrlsGjWrlA9oPySHO"],
        misses: ["polar_oat_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
      },
    ],
  ),
  ...secretDetectors(
    ["observability"],
    [
      {
        id: "secret.wakatime_key",
        rule_id: "482e8d1cba65590e4a277e600e502548",
        name: "WakaTime key",
        starts: ["waka_"],
        rest: String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}${END_WORD}`,
        hits: ["waka_10d04ef4-25b7-ed64-63e7-6831ff1530d9"],
        misses: ["waka_00000000-0000-0000-0000-000000000000"],
      },
    ],
  ),
  ...secretDetectors(
    ["development"],
    [
      {
        id: "secret.riot_key",
        rule_id: "4490ad78936c1e1c709d874dc6cc4fa8",
        name: "Riot Games key",
        starts: ["RGAPI-"],
        rest: String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}${END_WORD}`,
        hits: ["RGAPI-a74a5755-18c3-1494-33b0-2661a4418e93"],
        misses: ["RGAPI-00000000-0000-0000-0000-000000000000"],
      },
      {
        id: "secret.trigger_key",
        rule_id: "41f4cd3835d594a6bb65e3499acd3499",
        name: "Trigger.dev key",
        starts: ["tr_prod_", "tr_dev_", "tr_stg_"],
        rest: String.raw`[A-Za-z0-9]{18,28}${END_WORD}`,
        hits: ["tr_prod_ANNzd0VE9VeIMEE0adHJ"],
        misses: ["tr_prod_xxxxxxxxxxxxxxxxxxxx", "tr_dev_server"],
      },
      {
        id: "secret.inngest_key",
        rule_id: "4f089e81ab72b405629d980dedec88ca",
        name: "Inngest signing key",
        starts: ["signkey-prod-", "signkey-test-", "signkey-branch-"],
        rest: String.raw`[0-9a-f]{32,64}${END_WORD}`,
        hits: ["signkey-prod-e1d424db154cfe279a51038cdd5ed3024911ead208c1ad91eaebe6b727eff320"],
        misses: ["signkey-prod-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
      },
    ],
  ),
  ...secretDetectors(
    ["communication"],
    [
      {
        id: "secret.wecom_webhook",
        rule_id: "623585b2510d003989f149cbdfb21904",
        name: "WeCom webhook",
        starts: ["qyapi.weixin.qq.com/cgi-bin/webhook/send?key="],
        startsWithName: true,
        rest: String.raw`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}${END_WORD}`,
        hits: ["https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=5d1455e6-a394-e66f-4154-a2f40d3dbeae"],
        misses: ["qyapi.weixin.qq.com/cgi-bin/webhook/send?key=KEY"],
      },
    ],
  ),
  {
    id: "secret.newrelic_licence_key",
    rule_id: "f7bd40815ef2f5f7c03f913003a86956",
    name: "New Relic licence key",
    category: "secrets",
    tags: ["observability"],
    // The key ends with its identifying text.
    anchors: [{ kind: "literal", text: "NRAL", word: false, behindName: true }],
    patterns: [new RegExp(`[0-9a-f]{36}NRAL${END_WORD}`, "y")],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["NEW_RELIC_LICENSE_KEY=d446f18616c447e9558d6d4827cee325db8bNRAL"],
    misses: ["NRAL", "000000000000000000000000000000000000NRAL"],
  },
  {
    id: "secret.azure_functions_key",
    rule_id: "d421ed0d5c653b4ad01564e5c84d29c7",
    name: "Azure Functions key",
    category: "secrets",
    tags: ["cloud"],
    anchors: [{ kind: "literal", text: "AzFu", word: false, behindName: true }],
    patterns: [new RegExp(String.raw`[A-Za-z0-9_\-]{44}AzFu[A-Za-z0-9_\-]{5}[AQgw]==`, "y")],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["?code=QajZd6VySaWW6G1RFdls8xcLTUwdtwc6PPqcIpelBSNoAzFuTian4Q=="],
    misses: ["AzFu", "W3s60Zeq2kmgBqYfpHkNAzFuLWjvoQ=="],
  },
  {
    id: "secret.rapidapi_key",
    rule_id: "b26c0aaea75a7e3db107715694aa8f2e",
    name: "RapidAPI key",
    category: "secrets",
    tags: ["development"],
    anchors: [{ kind: "literal", text: "jsn", word: false, behindName: true }],
    patterns: [new RegExp(`[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{5}jsn[0-9a-f]{12}${END_WORD}`, "y")],
    accepts: (text) => looksRandom(text),
    confidence: "high",
    enabled: true,
    hits: ["X-RapidAPI-Key: 8db31c5fa8mshfcc93be3e79aed8p168e6djsnac78a51bc0c2"],
    misses: ["jsn", "1dc7b0278cmsh37f15e9cd36c0ebp18a460jsn"],
  },
];
