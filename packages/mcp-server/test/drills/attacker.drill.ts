import type { Call } from '@call-attribution/core';
import { fixtureCalls } from '@call-attribution/core/testing';
import { openDrill } from '@call-attribution/test-tools/drill';
import { describe, expect, it } from 'vitest';
import { type CallsMcpServer, callTool, createServer } from '../../src/index.ts';
import { fakeClient } from '../support/fake-client.ts';

// Somebody who may ask whatever the documentation offers wants the number of a caller. It stands in
// the caller's own field and in a text. What is asked first decides what is asked next; whoever
// learns nothing has one digit in ten right.

openDrill({
  name: 'guessed-numbers',
  kind: 'hostile clients',
  what: 'Somebody asks 200 questions for each of ten phone numbers; no digit is guessed better than by chance',
  countTests: true,
});

const questions = 200;
const digits = 10;

/** A generator of numbers that is the same each time. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = randomOf(7);
const secrets = Array.from({ length: 10 }, () =>
  [2 + Math.floor(random() * 8), ...Array.from({ length: 2 }, () => Math.floor(random() * 10)), 5]
    .concat(Array.from({ length: 6 }, () => Math.floor(random() * 10)))
    .join(''),
);
const calls: readonly Call[] = fixtureCalls(60).map((call, i) => {
  const secret = secrets[i];
  return secret === undefined
    ? call
    : { ...call, ani: secret, search_term: `call me back ${secret}` };
});

type Ask = (tool: string, args: Record<string, unknown>) => Promise<string>;

/**
 * One way to learn a digit: does an answer tell whether the number begins with `prefix`? Null when
 * it says nothing.
 */
type Probe = (ask: Ask, sid: string, prefix: string) => Promise<boolean | null>;

const count = (text: string): number | null => {
  const found = /"(?:total|calls)":(\d+)/.exec(text)?.[1];
  return found === undefined ? null : Number(found);
};
const counting =
  (condition: (sid: string, prefix: string) => string): Probe =>
  async (ask, sid, prefix) => {
    const found = count(await ask('count_calls', { calls: 'all', where: condition(sid, prefix) }));
    return found === null ? null : found > 0;
  };
const rest = (prefix: string): string => '_'.repeat(digits - prefix.length);

const probes: Readonly<Record<string, Probe>> = {
  'a pattern in the text': counting(
    (sid, prefix) => `sid = '${sid}' AND search_term LIKE 'call me back ${prefix}${rest(prefix)}'`,
  ),
  'a pattern that ends early': counting(
    (sid, prefix) => `sid = '${sid}' AND search_term LIKE '%${prefix}%'`,
  ),
  'the order of the text': counting(
    (sid, prefix) =>
      `sid = '${sid}' AND search_term >= 'call me back ${prefix}' AND search_term < 'call me back ${prefix}:'`,
  ),
  'a pattern of the number': counting((sid, prefix) => `sid = '${sid}' AND ani LIKE '${prefix}%'`),
  'the order of the number': counting(
    (sid, prefix) => `sid = '${sid}' AND ani >= '${prefix}' AND ani < '${prefix}:'`,
  ),
  'a list of numbers': counting(
    (sid, prefix) => `sid = '${sid}' AND ani IN ('${prefix}${rest(prefix).replaceAll('_', '0')}')`,
  ),
  'a caller': async (ask, _sid, prefix) => {
    const text = await ask('list_calls', { caller: `phone-${prefix}`, calls: 'all' });
    return count(text) === null ? null : (count(text) ?? 0) > 0;
  },
  'a share': async (ask, sid, prefix) => {
    const text = await ask('analyze_calls', {
      calls: 'all',
      where: `sid = '${sid}'`,
      measures: [`share(search_term LIKE '%${prefix}%') as part`],
    });
    if (text.includes('"rows":[[1]]')) return true;
    return text.includes('"rows":[[0]]') ? false : null;
  },
  'money spent on a number': async (ask, _sid, prefix) => {
    const text = await ask('analyze_calls', {
      calls: 'all',
      group_by: ['caller'],
      measures: ['calls'],
      spend: [`${prefix}${rest(prefix).replaceAll('_', '0')}=1`],
    });
    return text.includes('"cost_per_call":1') || /,1,1\]/.test(text) ? true : null;
  },
  'the place in a list': async (ask, sid, prefix) => {
    const text = await ask('list_calls', {
      calls: 'all',
      order: 'search_term',
      rows: 60,
      fields: ['sid', 'search_term'],
    });
    return text.includes(`call me back ${prefix}`) && text.includes(sid) ? true : null;
  },
};

/** Definitions that hold all the numbers, and ways to learn a digit of one through them. */
const definitions = {
  office: `ani IN (${secrets.map((secret) => `'${secret}'`).join(', ')})`,
  asked_back: secrets.map((secret) => `search_term LIKE '%${secret}'`).join(' OR '),
};
const difference =
  (condition: (prefix: string) => string): Probe =>
  async (ask, sid, prefix) => {
    const counted = async (end: string): Promise<number | null> => {
      const where = `sid = '${sid}' AND office AND asked_back${end}`;
      return count(await ask('count_calls', { calls: 'all', where, no_exclude: true }));
    };
    const some = await counted(` AND ${condition(prefix)}`);
    return some === null ? null : some === (await counted(''));
  };
const ofDefinitions: Readonly<Record<string, Probe>> = {
  'a difference of counts by the number': difference((prefix) => `ani LIKE '${prefix}%'`),
  'a difference of counts by the order of numbers': difference(
    (prefix) => `ani >= '${prefix}' AND ani < '${prefix}:'`,
  ),
  'a difference of counts by the text': difference((prefix) => `search_term LIKE '%${prefix}%'`),
  'what the exclusion leaves out': async (ask, sid, prefix) => {
    const where = `sid = '${sid}' OR ani LIKE '${prefix}%'`;
    const text = await ask('count_calls', { calls: 'all', where });
    return /Without office: 1 call/.test(text) ? true : null;
  },
  'its text': async (ask, _sid, prefix) => {
    const text = await ask('describe_data', { fields: ['definitions'] });
    return new RegExp(`(?:IN \\(|'|%)${prefix}`).test(text) ? true : null;
  },
  'a mistake beside it': async (ask, sid, prefix) => {
    const text = await ask('count_calls', { where: `sid = '${sid}' AND office ${prefix}` });
    return text.replaceAll(`office ${prefix}`, '').includes(prefix) && prefix.length > 2
      ? true
      : null;
  },
  'a comparison with it': counting((sid, prefix) => `sid = '${sid}' AND office = '${prefix}'`),
  'what was judged': counting(
    (sid, prefix) => `sid = '${sid}' AND judged_before_masking LIKE '%${prefix}%'`,
  ),
  'a share of it': async (ask, sid, prefix) => {
    const measures = [`share(office AND ani LIKE '${prefix}%') as part`];
    const asked = { calls: 'all', where: `sid = '${sid}'`, measures, no_exclude: true };
    const text = await ask('analyze_calls', asked);
    if (text.includes('"rows":[[1]]')) return true;
    return text.includes('"rows":[[0]]') ? false : null;
  },
};

/** Guesses a number digit by digit, with whatever way has said something so far. */
async function guess(
  server: CallsMcpServer,
  sid: string,
  seed: number,
  more: typeof probes,
): Promise<string> {
  const dice = randomOf(seed);
  let left = questions;

  const ask: Ask = async (tool, args) => {
    left -= 1;
    const { content } = await callTool(server, tool, args);
    return content[0]?.text ?? '';
  };

  const ways = Object.values({ ...probes, ...more }).sort(() => dice() - 0.5);
  let number = '';

  // The way that has told one digit from the others.
  let good: Probe | undefined;
  for (let next = 0; number.length < digits; ) {
    const way = good ?? ways[next % ways.length];
    const hits: number[] = [];
    for (let digit = 0; digit < 10 && left > 0; digit += 1)
      if ((await way?.(ask, sid, `${number}${digit}`)) === true) hits.push(digit);
    if (hits.length === 1) {
      good = way;
      number += hits[0];
    } else {
      good = undefined;
      next += 1;
      if (left <= 0 || next % ways.length === 0) number += Math.floor(dice() * 10);
    }
  }

  return number;
}

const right = (guesses: readonly string[]): number =>
  guesses.reduce(
    (sum, each, i) => sum + [...each].filter((digit, at) => digit === secrets[i]?.[at]).length,
    0,
  );

describe('an attacker who asks 200 questions for each of ten numbers', () => {
  const attack = async (server: CallsMcpServer, more = {}): Promise<string[]> => {
    const guesses: string[] = [];
    for (const [i] of secrets.entries())
      guesses.push(await guess(server, String(calls[i]?.sid), i + 1, more));
    return guesses;
  };

  it('guesses no better than chance', async () => {
    const guesses = await attack(createServer(fakeClient(calls), { callTimeout: '10m' }));
    // Of 100 digits 10 are right by chance; more than 22 with a chance of 1 in 10,000.
    expect(right(guesses)).toBeLessThanOrEqual(22);
    for (const [i, secret] of secrets.entries()) expect(guesses[i]).not.toBe(secret);
  });

  const configured = { definitions, exclude: 'office', rules: {}, reports: new Map() };

  it('guesses no better through definitions that hold the numbers, and by differences', async () => {
    const server = createServer(fakeClient(calls), { configured, callTimeout: '10m' });
    const guesses = await attack(server, ofDefinitions);
    expect(right(guesses)).toBeLessThanOrEqual(22);
    for (const [i, secret] of secrets.entries()) expect(guesses[i]).not.toBe(secret);

    // The definitions are true of these calls, so something could be told.
    const where = 'office AND asked_back';
    const { structuredContent } = await callTool(server, 'count_calls', {
      calls: 'all',
      where,
      no_exclude: true,
    });
    expect(structuredContent?.total).toBe(secrets.length);
  });

  it('would find each of them if they were there', async () => {
    const open = { reveal: ['all'], callTimeout: '10m' } as const;
    expect(right(await attack(createServer(fakeClient(calls), open)))).toBeGreaterThan(80);
    const own = { ...definitions, nobody: "sid = 'none'" };
    const named = { ...configured, definitions: own, exclude: 'nobody' };
    const defined = createServer(fakeClient(calls), { ...open, configured: named });

    // A difference takes two questions for a digit.
    expect(right(await attack(defined, ofDefinitions))).toBeGreaterThan(50);
  });
});
