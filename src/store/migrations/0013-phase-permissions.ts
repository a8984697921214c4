interface Group {
  readonly id: string;
  readonly name: string;
}

const group = (id: string, name: string): Group => ({ id, name });

/**
 * Permissions for the rules of single phases. Until now, one permission allowed writing all rules of a level; these are
 * added beside it.
 */
const ZONE: readonly Group[] = [
  group("3245da1cf36c45c3847bb9b483c62f97", "Cache Settings Read"),
  group("9ff81cbbe65c400b97d92c3c1033cab6", "Cache Settings Write"),
  group("20e5ea084b2f491c86b8d8d90abff905", "Config Settings Read"),
  group("06f0526e6e464647bd61b63c54935235", "Config Settings Write"),
  group("a2b55cd504d44ef18b7ba6a7f2b8fbb1", "Custom Errors Read"),
  group("a9dba34cf5814d4ab2007b4ada0045bd", "Custom Errors Write"),
  group("d8e12db741544d1586ec1d6f5d3c7786", "Dynamic URL Redirects Read"),
  group("74e1036f577a48528b78d2413b40538d", "Dynamic URL Redirects Write"),
  group("93ae59e7a40c4287a57ff6e501186a63", "Response Compression Read"),
  group("4bd3fb513a23494aa1341a7e1eb6e080", "Response Compression Write"),
  group("211a4c0feb3e43b3a2d41f1443a433e7", "Zone Transform Rules Read"),
  group("0ac90a90249747bca6b047d97f0803e9", "Zone Transform Rules Write"),
];
const ACCOUNT: readonly Group[] = [
  group("4f1071168de8466e9808de86febfc516", "Account Rule Lists Read"),
  group("2edbf20661fd4661b0fe10e9e12f485c", "Account Rule Lists Write"),
  group("429a068902904c5a9ed9fc267c67da9a", "Mass URL Redirects Read"),
  group("abe78e2276664f4db588c1f675a77486", "Mass URL Redirects Write"),
  group("a9a99455bf3245f6a5a244f909d74830", "Transform Rules Read"),
  group("ae16e88bc7814753a1894c7ce187ab72", "Transform Rules Write"),
];
const ZONE_WAF = group("fb6778dc191143babbfaa57993f1d275", "Zone WAF Write");
const ACCOUNT_RULESETS = group("56907406c3d548ed902070ec4df0e328", "Account Rulesets Write");

/** Only a token with every permission has all of these: API Tokens, Account API Tokens, DNS, Zone and AI Gateway Run. */
const OF_EVERYTHING = [
  "686d18d5ac6c441c867cbf6771e58a0a",
  "5bc3f8b21c554832afc660159ab75fa4",
  "4755a26eedb94da69e1066d98aa820be",
  "e6d2666161e84845a636613608cee8d5",
  "644535f4ed854494a59cb289d634b257",
];

/**
 * Tokens with every permission also get the new ones, so that they keep every permission. Other tokens keep those that
 * they name.
 */
export const phasePermissions = (): readonly string[] =>
  [
    { beside: ZONE_WAF, groups: ZONE },
    { beside: ACCOUNT_RULESETS, groups: ACCOUNT },
  ].map(({ beside, groups }) => {
    const known = JSON.stringify(beside);
    const all = [beside, ...groups].map((one) => JSON.stringify(one)).join(",");
    const holdsAll = OF_EVERYTHING.map((id) => `policies LIKE '%${id}%'`).join(" AND ");
    return `UPDATE tokens SET policies = REPLACE(policies, '${known}', '${all}') WHERE ${holdsAll} AND policies NOT LIKE '%"deny"%' AND policies NOT LIKE '%${groups[0]?.id}%'`;
  });
