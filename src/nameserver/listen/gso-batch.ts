import { constants } from "node:os";
import { createMessageHeaders, DATAGRAMS_MAX, NAME_STRIDE, type SlotMemory, wordsOf } from "./mmsghdr.ts";
import type { SystemSockets } from "./system-sockets.ts";

/**
 * Answers that are sent together. Answers of one length to one peer become one message, which the kernel splits into
 * datagrams late in its processing (UDP_SEGMENT, udp(7)): proxies and load balancers send many queries from one socket.
 */
export interface AnswerRuns {
  /** Forgets all answers that were added. */
  clear(): void;
  /** Adds the first `bytes` of the slot's payload, addressed to the slot's peer. Each slot at most once. */
  add(slot: number, bytes: number): void;
  /** Sends all; returns how many answers the system rejected. */
  send(fd: number): number;
}

/** The most that one message over IPv4 can hold, even if it is split. */
const RUN_BYTES_MAX = 65_507;
/** Twice the largest number of runs, so that few share a place. */
const PLACES = DATAGRAMS_MAX * 2;
const NO_RUN = 255;
const NAME_WORDS = NAME_STRIDE / 4;
/** Words that distinguish peers: family, port and address of struct sockaddr_in, and all of sockaddr_in6. */
const IPV4_WORDS = 2;
const IPV6_WORDS = 7;
/** Errors of a route that does not support UDP_SEGMENT, such as one without checksum offload or with IPsec. */
const CANNOT_MERGE: readonly number[] = [constants.errno.EINVAL, constants.errno.EIO];

export function createAnswerRuns(sockets: SystemSockets, family: 4 | 6, memory: SlotMemory): AnswerRuns {
  const headers = createMessageHeaders(sockets, memory);
  const names = wordsOf(memory.names);
  const peerWords = family === 4 ? IPV4_WORDS : IPV6_WORDS;
  /** For each run: its first and last slot, its number of answers and the length of each. */
  const [firsts, lasts, counts, lengths] = [numbers(), numbers(), numbers(), numbers()];
  /** For each slot, the next one of its run. */
  const followers = numbers();
  /** By hash of peer and length, the most recent run. */
  const places = new Uint8Array(PLACES).fill(NO_RUN);
  let runs = 0;
  let isMerging = sockets.cutsMessages;

  const placeOf = (slot: number, bytes: number): number => {
    const at = slot * NAME_WORDS;
    // The port, and the last word of either address family.
    const peer = (names[at] as number) ^ (names[at + (family === 4 ? 1 : 5)] as number);
    return (Math.imul(peer ^ bytes, 0x9e3779b1) >>> 16) % PLACES;
  };
  const isSamePeer = (one: number, other: number): boolean => {
    for (let i = 0; i < peerWords; i++) if (names[one * NAME_WORDS + i] !== names[other * NAME_WORDS + i]) return false;
    return true;
  };
  const begin = (slot: number, bytes: number): void => {
    firsts[runs] = slot;
    lasts[runs] = slot;
    counts[runs] = 1;
    lengths[runs] = bytes;
    runs += 1;
  };
  const pointHeaders = (): void => {
    for (let run = 0, part = 0; run < runs; run++) {
      const count = counts[run] as number;
      headers.point(run, firsts[run] as number, part, count, count === 1 ? 0 : (lengths[run] as number));
      for (let slot = firsts[run] as number, left = count; left > 0; left--, slot = followers[slot] as number) {
        headers.setPart(part++, slot, lengths[run] as number);
      }
    }
  };
  /**
   * Sends each answer of the run as a separate message. Header and part 0 are free, because their own message has been
   * tried already.
   */
  const sendAlone = (fd: number, run: number): number => {
    let failed = 0;
    for (let slot = firsts[run] as number, left = counts[run] as number; left > 0; left--, slot = followers[slot] as number) {
      headers.point(0, slot, 0, 1, 0);
      headers.setPart(0, slot, lengths[run] as number);
      if (sockets.send(fd, headers.address, 1) < 1) failed += 1;
    }
    return failed;
  };

  return {
    clear: () => {
      runs = 0;
      places.fill(NO_RUN);
    },
    add: (slot, bytes) => {
      const place = placeOf(slot, bytes);
      const run = isMerging ? (places[place] as number) : NO_RUN;
      const first = firsts[run] as number;
      if (run === NO_RUN || lengths[run] !== bytes || !isSamePeer(first, slot) || ((counts[run] as number) + 1) * bytes > RUN_BYTES_MAX) {
        places[place] = runs;
        begin(slot, bytes);
        return;
      }
      followers[lasts[run] as number] = slot;
      lasts[run] = slot;
      counts[run] = (counts[run] as number) + 1;
    },
    send: (fd) => {
      pointHeaders();
      let failed = 0;
      for (let at = 0; at < runs;) {
        const sent = sockets.send(fd, headers.address + at * headers.strideBytes, runs - at);
        // The system rejected the first of the rest; the others are tried without it.
        at += sent > 0 ? sent : 1;
        if (sent > 0) continue;
        const run = at - 1;
        if (counts[run] === 1) {
          failed += 1;
          continue;
        }
        isMerging &&= !CANNOT_MERGE.includes(-sent);
        failed += sendAlone(fd, run);
      }
      return failed;
    },
  };
}

const numbers = (): Uint16Array => new Uint16Array(DATAGRAMS_MAX);
