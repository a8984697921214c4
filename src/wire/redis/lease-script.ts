import { createHash } from "node:crypto";

/**
 * One call for one limit, which is a hash of a few numbers under one key: `w` is the number of the window, `c` what was given out in it,
 * `u` what of that is known to be used, `p` what was given out in the window before. An amount is debited before it is used, so a
 * machine that dies or does not hear the answer makes the limit tighter until the window ends, never wider.
 *
 * ARGV: limit, window in ms, 1 if it slides, number of the caller's window (-1: it knows none), used since the last call, overdrawn since
 * then, returned, least that is of use, more that is of use, share of what is left. Returns the window's number, what is granted, what is left then, what of the limit is
 * known to be used, and the rest of the window in ms. The time is the server's.
 */
export const LEASE_SCRIPT = `
local limit, length, slides, known = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', tonumber(ARGV[4])
local used, overdrawn, returned = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local wanted, hoped, share = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local window, rest = math.floor(now / length), length - now % length
local kept = redis.call('HMGET', KEYS[1], 'w', 'c', 'u', 'p', 'n')
local at, given, spent, before = tonumber(kept[1] or '-9'), tonumber(kept[2] or '0'), tonumber(kept[3] or '0'), tonumber(kept[4] or '0')
if kept[5] ~= ARGV[2] or (at ~= window and at ~= window - 1) then
  given, spent, before = 0, 0, 0
elseif at == window - 1 then
  given, spent, before = 0, 0, given
end
if known == window or known == -1 then
  given, spent = math.max(0, given + overdrawn - returned), spent + used
elseif known == window - 1 then
  before = math.max(0, before + overdrawn - returned)
end
local carried = 0
if slides then carried = before * rest / length end
local left = math.floor(limit - given - carried)
local granted = 0
if wanted > 0 and left >= wanted then granted = math.min(left, math.max(hoped, math.floor(left * share))) end
redis.call('HSET', KEYS[1], 'w', string.format('%.0f', window), 'c', string.format('%.0f', given + granted),
  'u', string.format('%.0f', spent), 'p', string.format('%.0f', before), 'n', ARGV[2])
redis.call('PEXPIRE', KEYS[1], rest + (slides and length or 0) + 1000)
return { window, granted, math.max(0, left - granted), math.floor(spent + carried), rest }
`;

/** By which EVALSHA names it. */
export const LEASE_SCRIPT_SHA = createHash("sha1").update(LEASE_SCRIPT).digest("hex");
