// Generated calls of one account, 13,700 a day: those of the sandbox, with as many different
// callers as a real account has (the sandbox has a few thousand, because its numbers come from
// ranges that are reserved for fiction).
import { closeSync, openSync, writeSync } from 'node:fs';
import { generate } from '@call-attribution/sandbox';

/** Calls of the longest run; shorter ones take the first of them. */
export const mostCalls = 10_000_000;

// Six in ten calls come from somebody new, as in the sandbox.
const share = 0.62;
const prime = 7_999_999_997;

/** A number between 0 and 1 that depends on `i` alone. */
function noise(i) {
  let x = Math.imul(i ^ (i >>> 16), 0x45d9f3b);
  x = Math.imul(x ^ (x >>> 16), 0x45d9f3b);
  return ((x ^ (x >>> 16)) >>> 0) / 4294967296;
}

function numberOf(i) {
  const met = Math.floor(i * share);
  const caller = noise(i) < share ? met : Math.floor(noise(i + 1e9) * met);
  return `1${2_000_000_000 + ((caller * 1_000_003) % prime)}`;
}

/** Calls `first` to `last`, in the order of their times. */
export function* calls(first, last) {
  let i = -1;
  for (const call of generate({ records: mostCalls, days: 730, seed: 7 })) {
    i += 1;
    if (i >= last) return;
    if (i >= first) yield { ...call, ani: numberOf(i) };
  }
}

/** Writes the first calls as lines of JSON and gives the size of the file. */
export function writeNdjson(path, count) {
  const file = openSync(path, 'w');
  let text = '';
  let bytes = 0;
  for (const call of calls(0, count)) {
    text += `${JSON.stringify(call)}\n`;
    if (text.length < 4_000_000) continue;
    bytes += writeSync(file, text);
    text = '';
  }

  bytes += writeSync(file, text);
  closeSync(file);
  return bytes;
}
