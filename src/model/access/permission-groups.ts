/** The level of the resources to which a permission group applies in a token policy. */
export type PermissionScope = "com.cloudflare.api.account" | "com.cloudflare.api.account.zone" | "com.cloudflare.api.user";

export interface PermissionGroup {
  /** Never changes, because clients' configurations refer to it. */
  readonly id: string;
  readonly name: PermissionGroupName;
  readonly scopes: readonly PermissionScope[];
}

const ACCOUNT = ["com.cloudflare.api.account"] as const;
const ZONE = ["com.cloudflare.api.account.zone"] as const;
const USER = ["com.cloudflare.api.user"] as const;

/**
 * Every permission group, sorted by name. Infrastructure code of clients contains these identifiers. A name that exists
 * at two levels has a row, and an identifier, for each.
 */
const ROWS = [
  { id: "4dc8917b4b40457d88d3035d5dadb054", name: "AI Gateway Read", scopes: ACCOUNT },
  { id: "644535f4ed854494a59cb289d634b257", name: "AI Gateway Run", scopes: ACCOUNT },
  { id: "6c8a3737f07f46369c1ea1f22138daaf", name: "AI Gateway Write", scopes: ACCOUNT },
  { id: "0cc3a61731504c89b99ec1be78b77aa0", name: "API Tokens Read", scopes: USER },
  { id: "686d18d5ac6c441c867cbf6771e58a0a", name: "API Tokens Write", scopes: USER },
  { id: "7ea222f6d5064cfa89ea366d7c1fee89", name: "Access: Apps and Policies Read", scopes: ACCOUNT },
  { id: "eb258a38ea634c86a0c89da6b27cb6b6", name: "Access: Apps and Policies Read", scopes: ZONE },
  { id: "1e13c5124ca64b72b1969a67e8829049", name: "Access: Apps and Policies Write", scopes: ACCOUNT },
  { id: "959972745952452f8be2452be8cbb9f2", name: "Access: Apps and Policies Write", scopes: ZONE },
  { id: "eb56a6953c034b9d97dd838155666f06", name: "Account API Tokens Read", scopes: ACCOUNT },
  { id: "5bc3f8b21c554832afc660159ab75fa4", name: "Account API Tokens Write", scopes: ACCOUNT },
  { id: "b89a480218d04ceb98b4fe57ca29dc1f", name: "Account Analytics Read", scopes: ACCOUNT },
  { id: "cfa964bcdafc4ab39704e7476154e41b", name: "Account DNS Settings Read", scopes: ACCOUNT },
  { id: "dc44f27f48ab405392a5f69fe822bd01", name: "Account DNS Settings Write", scopes: ACCOUNT },
  { id: "4f1071168de8466e9808de86febfc516", name: "Account Rule Lists Read", scopes: ACCOUNT },
  { id: "2edbf20661fd4661b0fe10e9e12f485c", name: "Account Rule Lists Write", scopes: ACCOUNT },
  { id: "fb39996ee9044d2a8725921e02744b39", name: "Account Rulesets Read", scopes: ACCOUNT },
  { id: "56907406c3d548ed902070ec4df0e328", name: "Account Rulesets Write", scopes: ACCOUNT },
  { id: "c1fde68c7bcc44588cbb6ddbc16d6480", name: "Account Settings Read", scopes: ACCOUNT },
  { id: "1af1fa2adc104452b74a9a3364202f20", name: "Account Settings Write", scopes: ACCOUNT },
  { id: "56b2af4817c84ad99187911dc3986c23", name: "Account WAF Read", scopes: ACCOUNT },
  { id: "cde8c82463b6414ca06e46b9633f52a6", name: "Account WAF Write", scopes: ACCOUNT },
  { id: "9c88f9c5bce24ce7af9a958ba9c504db", name: "Analytics Read", scopes: ZONE },
  { id: "e17beae8b8cb423a99b1730f21238bed", name: "Cache Purge", scopes: ZONE },
  { id: "3245da1cf36c45c3847bb9b483c62f97", name: "Cache Settings Read", scopes: ZONE },
  { id: "9ff81cbbe65c400b97d92c3c1033cab6", name: "Cache Settings Write", scopes: ZONE },
  { id: "c1968d31028d4239976ec3bc4750bbf6", name: "Cloudflare One Connector: cloudflared Read", scopes: ACCOUNT },
  { id: "037b9e348b3b42d4b46ea2fcb1cfb3e7", name: "Cloudflare One Connector: cloudflared Write", scopes: ACCOUNT },
  { id: "07cf1c1952a84b13b2cd542f3d2f29ab", name: "Cloudflare One Connectors Read", scopes: ACCOUNT },
  { id: "a7030c9c98d544e092d8b099fabb1f06", name: "Cloudflare One Connectors Write", scopes: ACCOUNT },
  { id: "efea2ab8357b47888938f101ae5e053f", name: "Cloudflare Tunnel Read", scopes: ACCOUNT },
  { id: "c07321b023e944ff818fec44d8203567", name: "Cloudflare Tunnel Write", scopes: ACCOUNT },
  { id: "20e5ea084b2f491c86b8d8d90abff905", name: "Config Settings Read", scopes: ZONE },
  { id: "06f0526e6e464647bd61b63c54935235", name: "Config Settings Write", scopes: ZONE },
  { id: "a2b55cd504d44ef18b7ba6a7f2b8fbb1", name: "Custom Errors Read", scopes: ZONE },
  { id: "a9dba34cf5814d4ab2007b4ada0045bd", name: "Custom Errors Write", scopes: ZONE },
  { id: "82e64a83756745bbbb1c9c2701bf816b", name: "DNS Read", scopes: ZONE },
  { id: "4755a26eedb94da69e1066d98aa820be", name: "DNS Write", scopes: ZONE },
  { id: "6134079371904d8ebd77931c8ca07e50", name: "Domain Page Shield", scopes: ZONE },
  { id: "945315185a8f40518bf3e9e6d0bee126", name: "Domain Page Shield Read", scopes: ZONE },
  { id: "d8e12db741544d1586ec1d6f5d3c7786", name: "Dynamic URL Redirects Read", scopes: ZONE },
  { id: "74e1036f577a48528b78d2413b40538d", name: "Dynamic URL Redirects Write", scopes: ZONE },
  { id: "4ec32dfcb35641c5bb32d5ef1ab963b4", name: "Firewall Services Read", scopes: ZONE },
  { id: "43137f8d07884d3198dc0ee77ca6e79b", name: "Firewall Services Write", scopes: ZONE },
  { id: "3b94c49258ec4573b06d51d99b6416c0", name: "Images Read", scopes: ACCOUNT },
  { id: "618ec6c64a3a42f8b08bdcb147ded4e4", name: "Images Write", scopes: ACCOUNT },
  { id: "6a315a56f18441e59ed03352369ae956", name: "Logs Read", scopes: ACCOUNT },
  { id: "c4a30cd58c5d42619c86a3c36c441e2d", name: "Logs Read", scopes: ZONE },
  { id: "96163bd1b0784f62b3e44ed8c2ab1eb6", name: "Logs Write", scopes: ACCOUNT },
  { id: "3e0b5820118e47f3922f7c989e673882", name: "Logs Write", scopes: ZONE },
  { id: "429a068902904c5a9ed9fc267c67da9a", name: "Mass URL Redirects Read", scopes: ACCOUNT },
  { id: "abe78e2276664f4db588c1f675a77486", name: "Mass URL Redirects Write", scopes: ACCOUNT },
  { id: "3518d0f75557482e952c6762d3e64903", name: "Memberships Read", scopes: USER },
  { id: "9201bc6f42d440968aaab0c6f17ebb1d", name: "Memberships Write", scopes: USER },
  { id: "ce18edbdcebf465e9d6d1d2fc80ffd42", name: "Notifications Read", scopes: ACCOUNT },
  { id: "c3c847c5802d4ce3ba00e3e97b3c8555", name: "Notifications Write", scopes: ACCOUNT },
  { id: "7b32a91ece3140d4b3c2c56f23fc8e35", name: "Origin Read", scopes: ZONE },
  { id: "a4308c6855c84eb2873e01b6cc85cbb3", name: "Origin Write", scopes: ZONE },
  { id: "b415b70a4fd1412886f164451f20405c", name: "Page Rules Read", scopes: ZONE },
  { id: "ed07f6c337da4195b4e72a1fb2c6bcae", name: "Page Rules Write", scopes: ZONE },
  { id: "440e6958bcc947329f8d56328d7322ce", name: "Page Shield", scopes: ACCOUNT },
  { id: "050531528b044d58bbb71666fef7c07c", name: "Page Shield Read", scopes: ACCOUNT },
  { id: "93ae59e7a40c4287a57ff6e501186a63", name: "Response Compression Read", scopes: ZONE },
  { id: "4bd3fb513a23494aa1341a7e1eb6e080", name: "Response Compression Write", scopes: ZONE },
  { id: "7b7216b327b04b8fbc8f524e1f9b7531", name: "SSL and Certificates Read", scopes: ZONE },
  { id: "c03055bc037c4ea9afb9a9f104b7b721", name: "SSL and Certificates Write", scopes: ZONE },
  { id: "a9a99455bf3245f6a5a244f909d74830", name: "Transform Rules Read", scopes: ACCOUNT },
  { id: "ae16e88bc7814753a1894c7ce187ab72", name: "Transform Rules Write", scopes: ACCOUNT },
  { id: "8acbe5bb0d54464ab867149d7f7cf8ac", name: "User Details Read", scopes: USER },
  { id: "55a5e17cc99e4a3fa1f3432d262f2e55", name: "User Details Write", scopes: USER },
  { id: "0a6cfe8cd3ed445e918579e2fb13087b", name: "Zone DNS Settings Read", scopes: ZONE },
  { id: "c4df38be41c247b3b4b7702e76eadae0", name: "Zone DNS Settings Write", scopes: ZONE },
  { id: "c8fed203ed3043cba015a93ad1616f1f", name: "Zone Read", scopes: ZONE },
  { id: "517b21aee92c4d89936c976ba6e4be55", name: "Zone Settings Read", scopes: ZONE },
  { id: "3030687196b94b638145a3953da2b699", name: "Zone Settings Write", scopes: ZONE },
  { id: "211a4c0feb3e43b3a2d41f1443a433e7", name: "Zone Transform Rules Read", scopes: ZONE },
  { id: "0ac90a90249747bca6b047d97f0803e9", name: "Zone Transform Rules Write", scopes: ZONE },
  { id: "dbc512b354774852af2b5a5f4ba3d470", name: "Zone WAF Read", scopes: ZONE },
  { id: "fb6778dc191143babbfaa57993f1d275", name: "Zone WAF Write", scopes: ZONE },
  { id: "e6d2666161e84845a636613608cee8d5", name: "Zone Write", scopes: ZONE },
] as const;

export type PermissionGroupName = (typeof ROWS)[number]["name"];

export const PERMISSION_GROUPS: readonly PermissionGroup[] = ROWS;

/** Every name once: the permissions of an owner. */
export const ALL_PERMISSION_GROUPS: ReadonlySet<PermissionGroupName> = new Set(ROWS.map((row) => row.name));

/**
 * Each of these groups permits reading the zone itself, because tools begin by looking up its identifier (contract.md §1:
 * the groups of `GET /zones/{zone_id}` that concern zones only).
 */
export const ZONE_READING_GROUPS = [
  "Zone Read",
  "Zone Write",
  "Zone Settings Read",
  "Zone Settings Write",
  "DNS Read",
  "DNS Write",
  "SSL and Certificates Read",
  "SSL and Certificates Write",
  "Firewall Services Read",
  "Firewall Services Write",
  "Page Rules Read",
  "Page Rules Write",
  "Analytics Read",
  "Cache Purge",
] as const satisfies readonly PermissionGroupName[];

const BY_ID = new Map<string, PermissionGroup>(ROWS.map((row) => [row.id, row]));

export const permissionGroupById = (id: string): PermissionGroup | undefined => BY_ID.get(id);
