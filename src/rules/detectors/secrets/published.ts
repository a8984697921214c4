import type { Detector } from "#rules/detectors/engine/detector.ts";
import type { SurroundingText } from "#rules/detectors/engine/value-place.ts";
import { isAnonymousJwt } from "#rules/detectors/checks/secret-checks.ts";
import { END, END_WORD, secretDetectors } from "./secret-row.ts";

/** A detector of secrets, and the places in which its finds are public. */
interface PublishedRow {
  readonly of: string;
  readonly rule_id: string;
  readonly name: string;
  readonly holds: (value: string, surroundings: SurroundingText) => boolean;
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}

/** The characters between a name and its value. */
const ASSIGNED = String.raw`["'\\\]]{0,4}[ \t]{0,4}(?:=>|:=|[:=])[ \t]{0,4}["'\\\x60]{0,4}$`;
const isNear = (pattern: RegExp, { before, behind }: SurroundingText): boolean => pattern.test(before) || pattern.test(behind);

/** Scripts of maps and of Firebase run in the visitor's browser with the site's key, which is bound to the site's address. */
const ADDRESS_OF_MAPS =
  /(?:maps\.google(?:apis)?\.com|google\.com\\?\/maps|(?:firebase[a-z]{0,24}|firestore|fcmregistrations|identitytoolkit|securetoken)\.googleapis\.com)[^\s"'<>]{0,200}(?:[?&;]|\\u0026)(?:key|api_?key)=$/i;
const NAME_OF_MAPS = new RegExp(`(?:maps?|firebase|fcm|places|geocod)[\\w.-]{0,32}${ASSIGNED}`, "i");
const NEAR_MAPS =
  /google[ ._-]?maps|gmaps|authDomain|messagingSenderId|firebaseapp\.com|firebasestorage|firebaseio\.com|firebaseConfig|initializeApp\(|["']firebase["']\s{0,4}:/i;

const isOfMaps = (surroundings: SurroundingText): boolean =>
  ADDRESS_OF_MAPS.test(surroundings.before) || NAME_OF_MAPS.test(surroundings.before) || isNear(NEAR_MAPS, surroundings);

/** The scope of a credential after its id, as in signatures of version 4. */
const SCOPE = /^(?:\\?\/|%2F|\\u002F|&#(?:47|x2F);)\d{8}(?:\\?\/|%2F|\\u002F|&#(?:47|x2F);)/i;
const ID_IN_ADDRESS = /(?:[?&;]|\\u0026)(?:AWSAccessKeyId|OSSAccessKeyId|q-ak|AccessKeyId)=$/i;
const ID_IN_FORM = /(?:AWS|OSS)AccessKeyId["']?\s{1,4}value=["']$/i;

const isSignedId = (_value: string, { before, behind }: SurroundingText): boolean =>
  SCOPE.test(behind) || ID_IN_ADDRESS.test(before) || ID_IN_FORM.test(before);

/** A token in a member of JSON with a token's name, in the answer to a login (RFC 6749 §5.1). */
const TOKEN_MEMBER = /["'](?:(?:access|refresh|id|auth|session)_?)?(?:token|jwt)\\?["']\s{0,8}:\s{0,8}\\?["'](?:Bearer )?$/i;
const STANDARD_MEMBER = /["'](?:access|refresh|id)_token\\?["']\s{0,8}:\s{0,8}\\?["']$/;
const LOGIN = /["'](?:token_?type|expires_?(?:in|at|on)?|(?:refresh|id)_?token)\\?["']\s{0,8}:/i;
const USER = /["'](?:user|session)\\?["']\s{0,8}:\s{0,8}\{/i;

const isLoginAnswer = (surroundings: SurroundingText): boolean => TOKEN_MEMBER.test(surroundings.before) && isNear(LOGIN, surroundings);

/** Names that declare a key public, used by services and by build tools (`NEXT_PUBLIC_`). */
const PUBLIC_VALUE = /^(?:pk[._-]|pub[._-]|publishable[._-]|sb_publishable_|phc_)/i;
// linear: at most 512 bytes (the window of a match)
const PUBLIC_NAME = new RegExp(
  `(?:(?<![a-z])public|publishable|search_?(?:only_?)?(?:api_?)?|site_?)(?:_|-|key|api|client|token|app)[\\w.-]{0,32}${ASSIGNED}`,
  "i",
);
const NEAR_SEARCH = /docsearch|algolia|["']?index_?name["']?\s{0,4}[:=]/i;
const NAME_OF_ADMIN = new RegExp(`(?:admin|write)[\\w.-]{0,32}${ASSIGNED}`, "i");

const isPublicKey = (value: string, surroundings: SurroundingText): boolean =>
  PUBLIC_VALUE.test(value) ||
  isAnonymousJwt(value) ||
  PUBLIC_NAME.test(surroundings.before) ||
  (isNear(NEAR_SEARCH, surroundings) && !NAME_OF_ADMIN.test(surroundings.before)) ||
  (value.startsWith("AIza") && isOfMaps(surroundings)) ||
  isLoginAnswer(surroundings);

const JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJzdXBhYmFzZSIsInJvbGUiOiJhbm9uIn0.ymiJSsMJXR6tMSr8G9usjQ15_8hKPDv_CArLhxw28MI";
const USER_JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJsb3JlbSI6Imlwc3VtIn0.ymiJSsMJXR6tMSr8G9usjQ15_8hKPDv_CArLhxw28MI";
const MAPS_KEY = "AIzaGzxfRLaF7Sn4lo6s7mf2WQFsQnjGdkMMOPN";

const ROWS: readonly PublishedRow[] = [
  {
    of: "secret.google_api_key",
    rule_id: "c1b7e2540d9f4a6f8e35a70b92d4c618",
    name: "Google API key of a page's map or Firebase",
    holds: (_value, surroundings) => isOfMaps(surroundings),
    hits: [
      `<script src="https://maps.googleapis.com/maps/api/js?key=${MAPS_KEY}&amp;callback=init">`,
      `"https:\\/\\/maps.googleapis.com\\/maps\\/api\\/js?v=3\\u0026key=${MAPS_KEY}"`,
      `https://www.google.com/maps/embed/v1/place?key=${MAPS_KEY}&q=a`,
      `googleMapsApiKey: "${MAPS_KEY}"`,
      `{apiKey:"${MAPS_KEY}",authDomain:"shop.firebaseapp.com"}`,
      `firebase.initializeApp({apiKey:"${MAPS_KEY}"})`,
      `{"firebase":{"apiKey":"${MAPS_KEY}"}}`,
    ],
    misses: [MAPS_KEY, `GEMINI_API_KEY=${MAPS_KEY}`, `https://vision.googleapis.com/v1/images:annotate?key=${MAPS_KEY}`],
  },
  {
    of: "secret.aws_access_key_id",
    rule_id: "e84a09d3f2c6471bb1580c9e63d7a52f",
    name: "AWS access key ID of a signed address",
    holds: isSignedId,
    hits: [
      "?X-Amz-Credential=AKIA4QYHJT3NWBKLD2PX%2F20260101%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=1",
      "?AWSAccessKeyId=AKIA4QYHJT3NWBKLD2PX&Expires=1767225600&Signature=abc%3D",
      '<input type="hidden" name="x-amz-credential" value="ASIAXQ5ZJ2MWR7TBV6KD/20260101/us-east-1/s3/aws4_request">',
    ],
    misses: ["aws_access_key_id = AKIA4QYHJT3NWBKLD2PX", '{"AccessKeyId":"ASIAXQ5ZJ2MWR7TBV6KD"}'],
  },
  {
    of: "secret.alibaba_key_id",
    rule_id: "0f6d3b91ae574c28953c4e7ad2081bf6",
    name: "Alibaba Cloud access key ID of a signed address",
    holds: isSignedId,
    hits: ["?OSSAccessKeyId=LTAIwjD3Mqd5IG4GrdAHHVGg&Expires=1767225600&Signature=abc%3D"],
    misses: ["access_key_id: LTAIwjD3Mqd5IG4GrdAHHVGg"],
  },
  {
    of: "secret.tencent_secret_id",
    rule_id: "5a92c7e04d1b4f3e86f09b3d7ce81a24",
    name: "Tencent Cloud secret ID of a signed address",
    holds: isSignedId,
    hits: ["?q-sign-algorithm=sha1&q-ak=AKIDaM0jEbbHGb7FmBGiNmGtbZJnDmmKWQ7U&q-sign-time=1"],
    misses: ["SecretId: AKIDaM0jEbbHGb7FmBGiNmGtbZJnDmmKWQ7U"],
  },
  {
    of: "secret.jwt",
    rule_id: "92d0f5c7b36e4e1a8b4725e1f0a9cd83",
    name: "JSON Web Token of everybody, or in the answer to a login",
    holds: (value, surroundings) =>
      isAnonymousJwt(value) ||
      isLoginAnswer(surroundings) ||
      (TOKEN_MEMBER.test(surroundings.before) && isNear(USER, surroundings)) ||
      // The text after a long token is beyond the window.
      (surroundings.behind === "" && STANDARD_MEMBER.test(surroundings.before)),
    hits: [
      JWT,
      `{"access_token":"${USER_JWT}","token_type":"bearer","expires_in":3600}`,
      `{"token":"${USER_JWT}","user":{"id":1}}`,
      `{"expiresIn":3600,"accessToken":"${USER_JWT}"}`,
    ],
    misses: [USER_JWT, `{"level":"info","authorization":"Bearer ${USER_JWT}"}`, `{"rows":[{"token":"${USER_JWT}"}]}`],
  },
  {
    of: "secret.generic_key",
    rule_id: "7b3e18f6c05d4921ad62e9470bf35c1d",
    name: "Key or token that its name or its place says to be public",
    holds: isPublicKey,
    hits: [
      'docsearch({appId:"R2IYF7ETH7",apiKey:"599cec31baffa4868cae4e79f180729b",indexName:"docs"})',
      'NEXT_PUBLIC_API_KEY="Vb7kQ2xR9mLp4ZtY8wN3sHc1"',
      '{"publicApiKey":"Vb7kQ2xR9mLp4ZtY8wN3sHc1"}',
      `{"apikey":"${JWT}"}`,
      "mapboxgl.accessToken = 'pk.eyJ1IjoiYWJjZGUiLCJhIjoiY2p4In0.Vb7kQ2xR9mLp4ZtY8wN3sH'",
      '{"access_token":"Vb7kQ2xR9mLp4ZtY8wN3sHc1","token_type":"bearer","expires_in":3600}',
    ],
    misses: [
      'apiKey: "Vb7kQ2xR9mLp4ZtY8wN3sHc1"',
      'algolia({appId:"R2IYF7ETH7",adminApiKey:"599cec31baffa4868cae4e79f180729b"})',
      '{"user":"jo","access_token":"Vb7kQ2xR9mLp4ZtY8wN3sHc1"}',
    ],
  },
];

const TAG = "published";

/** Keys for pages, which begin with an identifying text. */
const BY_FORM: readonly Detector[] = secretDetectors(
  [TAG],
  [
    {
      id: "secret.mapbox_public_token",
      rule_id: "48c1d7f93e0a4b65b2f7608d5ce41a9b",
      name: "Mapbox public token",
      starts: ["pk.eyJ"],
      rest: String.raw`[A-Za-z0-9_\-]{20,200}\.[A-Za-z0-9_\-]{20,40}${END}`,
      hits: ["pk.eyJ1IjoiYWJjZGUiLCJhIjoiY2p4In0.Vb7kQ2xR9mLp4ZtY8wN3sH"],
      misses: ["pk.eyJ1"],
    },
    {
      id: "secret.publishable_key",
      rule_id: "d30b6e5a87f14c2c9e9150a4f6b72d08",
      name: "Publishable key (Stripe, Clerk, Supabase, PostHog)",
      starts: ["pk_live_", "pk_test_", "sb_publishable_", "phc_"],
      rest: String.raw`[A-Za-z0-9_\-]{20,120}={0,2}${END_WORD}`,
      hits: ["pk_live_51Vb7kQ2xR9mLp4ZtY8wN3sHc1", "phc_yLrHfN4r8l03ShO78lWq6dycIoLsuRExYZl9wInOZZd"],
      misses: ["pk_live_", "sk_live_51Vb7kQ2xR9mLp4ZtY8wN3sHc1"],
    },
  ],
).map((detector) => ({ ...detector, confidence: "low", enabled: false }));

/**
 * Separates published values from secrets: each of these detectors becomes two, one for values in such a place, off and
 * with low confidence, and one for the rest.
 */
export function withPublished(detectors: readonly Detector[]): readonly Detector[] {
  const rows = new Map(ROWS.map((row) => [row.of, row]));
  for (const { of } of ROWS)
    if (!detectors.some(({ id }) => id === of)) throw new Error(`no detector "${of}" to tell published values from`);
  const both = detectors.flatMap((detector): readonly Detector[] => {
    const row = rows.get(detector.id);
    if (row === undefined) return [detector];
    const { of, rule_id, name, holds, hits, misses } = row;
    const published: Detector = {
      ...detector,
      id: `${of}_published`,
      rule_id,
      name,
      tags: [...(detector.tags ?? []), TAG],
      place: { holds, isWanted: true },
      confidence: "low",
      enabled: false,
      hits,
      misses,
    };
    return [{ ...detector, place: { holds, isWanted: false } }, published];
  });
  return [...both, ...BY_FORM];
}
