import { CHALLENGE_PATH, challengePage } from "../challenge/challenge-page.ts";
import type { Clearance } from "../challenge/clearance.ts";
import { EDGE_ERRORS } from "#edge/pages/edge-errors.ts";
import { errorPage, type Page, prefersJson } from "#edge/pages/error-page.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { addField, editResponse, setField } from "#edge/http/header-edits.ts";

export interface Challenges {
  /** The response to a challenge page's answer; null for every other request. */
  redeem(exchange: Exchange): Page | null;
  /** The page for a visitor who has to pass a challenge. */
  ask(exchange: Exchange): Page;
}

const TARGET_CHARACTERS_MAX = 4096;
/** A path on the same host that browsers cannot take for another host. */
const TARGET = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/;

export function createChallenges(clearance: Clearance, vendorPrefix: string): Challenges {
  const ask = (exchange: Exchange, target: string): Page => {
    const edits = editResponse(exchange);
    // Clients distinguish a challenge from a block by this field.
    setField(edits, `${vendorPrefix}-mitigated`, "challenge");
    setField(edits, "Cache-Control", "no-store");
    const { status, title } = EDGE_ERRORS.challenged;
    if (prefersJson(exchange.accept)) return errorPage(EDGE_ERRORS.challenged, exchange.accept, exchange.ray_id);
    const body = challengePage(clearance.task(exchange), target, exchange.ray_id);
    return { status, reason: title, contentType: "text/html; charset=utf-8", body, isChosen: true, error: EDGE_ERRORS.challenged };
  };

  return {
    ask: (exchange) => ask(exchange, safeTarget(receivedTarget(exchange))),
    redeem: (exchange) => {
      if (exchange.path !== CHALLENGE_PATH || exchange.method !== "GET") return null;
      const given = new URLSearchParams(exchange.query);
      const target = safeTarget(given.get("to") ?? "");
      const cookie = clearance.redeem(exchange, given.get("task") ?? "", given.get("answer") ?? "");
      if (cookie === null) return ask(exchange, target);
      const edits = editResponse(exchange);
      addField(edits, "Location", target);
      addField(edits, "Set-Cookie", cookie);
      addField(edits, "Cache-Control", "no-store");
      return { status: 303, reason: "See Other", contentType: "text/plain", body: "", isChosen: true };
    },
  };
}

/** The visitor's target, before rules rewrote it. */
function receivedTarget(exchange: Exchange): string {
  const query = exchange.received_query ?? exchange.query;
  return (exchange.received_path ?? exchange.path) + (query === "" ? "" : `?${query}`);
}

const safeTarget = (target: string): string => (target.length <= TARGET_CHARACTERS_MAX && TARGET.test(target) ? target : "/");
