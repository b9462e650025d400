import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { rounds } from '@call-attribution/test-tools/drill';
import { afterAll, describe, expect, test } from 'vitest';
import {
  type Acceptance,
  type ConversionRules,
  changesToSend,
  conversions,
  createTally,
  type Journal,
  openLedger,
} from '../../src/index.ts';
import {
  createDataManager,
  createMicrosoftAds,
  dataManagerAccepts,
  findGoogleCredentials,
  type PushSummary,
  type PushTarget,
  type PushToolName,
  pushConversions,
  pushTools,
  readMicrosoftCredentials,
} from '../../src/push/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'uncertain-'));
afterAll(() => rmSync(folder, { recursive: true }));

const now = Date.UTC(2026, 10, 21);
// A wait takes no time.
const clock = {
  now: () => now,
  timer(run: () => void) {
    const handle = setImmediate(run);
    return () => clearImmediate(handle);
  },
};

/** What becomes of a request of any tool: `lost` is taken, but nobody hears of it. */
const fates = ['fine', 'lost', 'overloaded', 'unreadable', 'never sent', 'denied'] as const;
const fatesOfMicrosoft = ['operation error', 'nameless error'] as const;
type Fate = (typeof fates)[number] | (typeof fatesOfMicrosoft)[number];

/** A tool as the next run finds it: what it has, and what it does with the next requests. */
interface Tool {
  /** Which calls it takes, and what it finds a conversion by. */
  readonly accepts: Acceptance;
  /** What may become of a request of this tool alone. */
  readonly ownFates: readonly Fate[];
  /** Values by what the tool finds a conversion by. */
  readonly has: Map<string, number>;
  readonly requests: string[];
  /** What becomes of the next requests; those that are lost are lost at each attempt. */
  readonly fates: Fate[];
  /** Clicks that it refuses. */
  readonly refuses: Set<string>;
  open(): Promise<PushTarget>;
}

type Item = Record<string, unknown>;
const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

/** Answers each request, and again the same to each new attempt of it. */
function answering(
  tool: Pick<Tool, 'fates' | 'requests'>,
  take: (url: string, body: string) => Response,
) {
  let last = '';
  let fate: Fate = 'fine';

  const broken = (code: string) => {
    throw new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });
  };

  const answer: typeof fetch = async (input, init) => {
    const url = String(input);
    const body = String(init?.body);
    if (url.includes('token'))
      return json({ access_token: 'a', expires_in: 3600, refresh_token: 'r' });
    if (last !== body) fate = tool.fates.shift() ?? 'fine';
    last = body;
    if (fate === 'never sent') return broken('ECONNREFUSED');
    if (fate === 'denied') return json({ error: { status: 'PERMISSION_DENIED' } }, 403);
    const OperationErrors = [{ ErrorCode: 'GoalNotFound', Message: 'no goal' }];
    if (fate === 'operation error') return json({ PartialErrors: [], OperationErrors });
    tool.requests.push(`${url.split('/').at(-2)} ${body}`);
    const response = take(url, body);
    if (fate === 'lost') return broken('ECONNRESET');
    if (fate === 'overloaded') return new Response('<html>', { status: 503 });
    if (fate === 'unreadable') return new Response('<html>', { status: 200 });
    if (fate === 'nameless error')
      return json({ PartialErrors: [{ Index: null, ErrorCode: 'InternalError' }] });
    return response;
  };

  return answer;
}

function microsoft(): Tool {
  const file = join(folder, 'microsoft.json');
  const key = {
    developerToken: 'd',
    clientId: 'c',
    refreshToken: 'r',
    customerId: '1',
    accountId: '2',
  };
  writeFileSync(file, JSON.stringify(key));
  const has = new Map<string, number>();
  const tool = { has, requests: [], fates: [], refuses: new Set<string>() };

  const take = (url: string, body: string): Response => {
    const items = Object.values(JSON.parse(body) as Record<string, Item[]>)[0] ?? [];
    const PartialErrors = items.flatMap((item, Index) => {
      const click = String(item.MicrosoftClickId);
      const isAdjustment = url.includes('Adjustments');
      if (tool.refuses.has(click) || (isAdjustment && !has.has(click)))
        return [{ Index, ErrorCode: 'Refused', FieldPath: 'MicrosoftClickId' }];
      if (item.AdjustmentType === 'Retract') has.delete(click);
      else if (isAdjustment) has.set(click, Number(item.AdjustmentValue));
      // As its reference says: the first one is used, the others are ignored.
      else if (!has.has(click)) has.set(click, Number(item.ConversionValue));

      return [];
    });
    return json({ PartialErrors });
  };

  return {
    ...tool,
    accepts: pushTools['push-microsoft'].accepts,
    ownFates: fatesOfMicrosoft,
    open: async () =>
      createMicrosoftAds({
        credentials: await readMicrosoftCredentials(file),
        clock,
        fetch: answering(tool, take),
      }),
  };
}

function google(): Tool {
  const file = join(folder, 'google.json');
  const key = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' };
  writeFileSync(file, JSON.stringify(key));
  const has = new Map<string, number>();
  const tool = { has, requests: [], fates: [], refuses: new Set<string>() };

  const take = (_: string, body: string): Response => {
    const { events } = JSON.parse(body) as { events: Item[] };
    const clickOf = (event: Item) => String((event.adIdentifiers as Item | undefined)?.gclid);
    const fieldViolations = events.flatMap((event, index) =>
      tool.refuses.has(clickOf(event)) ? [{ field: `events.events[${index}]`, reason: 'BAD' }] : [],
    );
    if (fieldViolations.length > 0)
      return json({ error: { status: 'INVALID_ARGUMENT', details: [{ fieldViolations }] } }, 400);
    for (const event of events) has.set(clickOf(event), Number(event.conversionValue));
    return json({ requestId: 'request-1' });
  };

  return {
    ...tool,
    accepts: pushTools['push-google'].accepts,
    ownFates: [],
    open: async () =>
      createDataManager({
        credentials: await findGoogleCredentials({ GOOGLE_APPLICATION_CREDENTIALS: file }),
        destination: { account: '1234567890', conversionAction: '1' },
        clock,
        fetch: answering(tool, take),
      }),
  };
}

/** Each tool has its histories. */
const tools: Readonly<Record<PushToolName, () => Tool>> = {
  'push-google': google,
  'push-microsoft': microsoft,
};
const everyTool = Object.entries(tools);

/** What is true of a call: its value (0 when it does not count) and its click. */
interface Truth {
  readonly value: number;
  readonly click: string;
}

const rules: ConversionRules = {
  timeZone: 'UTC',
  conversionName: 'Phone lead',
  now,
  value: (call) => Number(call.talk_minutes),
  currency: 'USD',
};

/** Runs pushes one after the other; each reads what is true then. */
function pusher(tool: Tool, lines: string[] = []) {
  const granted = { adUserData: 'granted', adPersonalization: 'denied' } as const;
  const journal: Journal = {
    async *read() {
      yield* lines;
    },
    async append(line) {
      lines.push(line);
    },
    async close() {},
  };
  const { accepts } = tool;
  const set = accepts.takesConsent ? { ...rules, consent: granted } : rules;
  return async (truth: readonly Truth[], most = 1_000): Promise<PushSummary> => {
    const calls = truth.map(({ value, click }, index) => ({
      sid: String(index),
      ani: `202555010${index}`,
      acct_id: '101',
      date_added: '2026-11-18 10:00:00',
      talk_minutes: value.toFixed(1),
      ppc_status: 'Found',
      ppc_gclid: click,
      landing_page: `https://a.example/?msclkid=${click}`,
    })) as unknown as Call[];
    const ledger = await openLedger(journal);
    try {
      const tally = createTally();
      const found = conversions(calls, set, { accepts }, ledger.delivered('tool'));
      const changes = await changesToSend(found, tally.add);
      const options = { ledger, destination: 'tool', clock };
      const target = { ...(await tool.open()), most };
      const summary = await pushConversions(target, changes, options);
      return { ...summary, uncertain: [...tally.summary().uncertain, ...summary.uncertain] };
    } finally {
      await ledger.close();
    }
  };
}

const click = (number: number): string =>
  `f894f652ea334e739002f7167ab8${String(number).padStart(4, '0')}`;
const first = click(1);

/** Pushes of which the first, of the value 40, ended so. */
async function afterFailure(tool: Tool, fate: Tool['fates'][number], error?: string) {
  const push = pusher(tool);
  tool.fates.push(fate);
  await expect(push([{ value: 40, click: first }])).rejects.toThrow(error);
  return push;
}

describe.each(everyTool)('a push to %s whose answer is lost', (_, make) => {
  test.each(['lost', 'overloaded', 'unreadable'] as const)(
    'it is sent again by the next run and corrected, when the call has another value or does not count any more (%s)',
    async (fate) => {
      const changed = make();
      const push = await afterFailure(changed, fate);
      expect(changed.has.get(first)).toBe(40);
      expect(await push([{ value: 12, click: first }])).toMatchObject({
        resent: 1,
        sent: { add: 1, restate: 1, retract: 0 },
      });
      expect(changed.has.get(first)).toBe(12);

      changed.fates.push(fate);
      await expect(push([{ value: 13, click: first }])).rejects.toThrow();
      expect(await push([{ value: 0, click: first }])).toMatchObject({
        resent: 1,
        sent: { add: 0, restate: 1, retract: 1 },
      });
      expect(changed.has.get(first) ?? 0).toBe(0);
      expect(await push([{ value: 0, click: first }])).toMatchObject({
        resent: 0,
        sent: { retract: 0 },
      });
    },
  );

  test('the note stays until there is an answer, whatever ends the runs in between', async () => {
    const tool = make();
    const push = pusher(tool);
    tool.fates.push('lost', 'never sent', 'denied', 'lost');
    for (const value of [40, 30, 20, 0])
      await expect(push([{ value, click: first }])).rejects.toThrow();
    expect(await push([{ value: 0, click: first }])).toMatchObject({
      resent: 1,
      sent: { retract: 1 },
    });
    expect(tool.has.get(first) ?? 0).toBe(0);
  });

  test.each(['never sent', 'denied'] as const)(
    'it is not sent as it was when it was certainly not taken (%s)',
    async (fate) => {
      const tool = make();
      const push = await afterFailure(tool, fate);
      expect(await push([{ value: 12, click: first }])).toMatchObject({
        resent: 0,
        sent: { add: 1, restate: 0 },
      });
      expect(tool.has.get(first)).toBe(12);
    },
  );

  test('what is refused when it is sent again is named, and nothing is corrected that is not there', async () => {
    const tool = make();
    const push = pusher(tool);
    tool.refuses.add(first);
    tool.fates.push('overloaded');
    const second = { value: 7, click: click(2) };
    await expect(push([{ value: 40, click: first }, second])).rejects.toThrow();
    const summary = await push([{ value: 12, click: first }, second]);
    expect(summary).toMatchObject({
      resent: 1,
      sent: { add: 1, restate: 0 },
      refused: [{ sid: '0' }],
    });
    expect([...tool.has]).toEqual([[click(2), 7]]);
  });
});

test.each(everyTool)(
  'a ledger from a backup sends %s again what it does not know, and that counts once',
  async (_, make) => {
    const tool = make();
    const lines: string[] = [];
    const push = pusher(tool, lines);
    const truth = [1, 2, 3].map((number) => ({ value: 10 * number, click: click(number) }));
    await push(truth.slice(0, 1));
    const backup = [...lines];
    await push(truth);
    lines.splice(0, lines.length, ...backup);
    expect(await push(truth)).toMatchObject({ sent: { add: 2, restate: 0, retract: 0 } });
    expect([...tool.has.values()]).toEqual([10, 20, 30]);

    // What changes after that is a correction of what the tool has.
    const later = truth.map((one) => ({ ...one, value: one.value + 1 }));
    expect(await push(later)).toMatchObject({ sent: { add: 0, restate: 3, retract: 0 } });
    expect([...tool.has.values()]).toEqual([11, 21, 31]);
    expect(await push(later)).toMatchObject({ sent: { add: 0, restate: 0, retract: 0 } });
  },
);

test('what was sent with numbers is sent again as it was while the calls are read, or is uncertain for good', async () => {
  const byClick = { value: 40, click: first };
  const byNumber = { value: 7, click: '' };
  const both = { resent: 2, sent: { add: 2, restate: 1 }, uncertain: [] };
  const one = { resent: 1, sent: { add: 1, restate: 0 }, uncertain: ['1'] };
  for (const isRead of [true, false]) {
    const tool = { ...google(), accepts: dataManagerAccepts({ phone: true }) };
    const push = pusher(tool);
    tool.fates.push('lost');
    await expect(push([byClick, byNumber])).rejects.toThrow();
    const next = isRead ? [{ ...byClick, value: 41 }, byNumber] : [byClick];
    expect(await push(next)).toMatchObject(isRead ? both : one);
    // The first request twice, and the correction or what is left of the first one.
    expect(new Set(tool.requests).size).toBe(2);
    for (const value of [7, 8, 0])
      if (!isRead) expect((await push([byClick, { value, click: '' }])).uncertain).toEqual(['1']);
    expect(new Set(tool.requests).size).toBe(2);
  }
});

describe('Microsoft Advertising', () => {
  test.each([
    ['operation error', 'GoalNotFound'],
    ['nameless error', 'InternalError'],
  ] as const)('a 200 with an %s fails the batch by its name', async (fate, name) => {
    const tool = microsoft();
    const push = await afterFailure(tool, fate, name);
    // Of a batch that failed without saying which of it, some may have been taken.
    const { sent } = await push([{ value: 12, click: first }]);
    expect(sent).toEqual({ add: 1, restate: fate === 'nameless error' ? 1 : 0, retract: 0 });
    expect(tool.has.get(first)).toBe(12);
  });

  test.each(['operation error', 'denied', 'lost', 'never sent'] as const)(
    'when a retraction is taken and its new conversion is not (%s), only that is sent again',
    async (fate) => {
      const tool = microsoft();
      const push = pusher(tool);
      await push([{ value: 40, click: first }]);
      tool.requests.length = 0;
      tool.fates.push('fine', fate);
      await expect(push([{ value: 40, click: click(2) }])).rejects.toThrow();
      expect(await push([{ value: 40, click: click(2) }])).toMatchObject({
        sent: { add: 1, retract: 0 },
        refused: [],
      });
      expect([...tool.has]).toEqual([[click(2), 40]]);
      const retractions = new Set(tool.requests.filter((request) => request.includes('Retract')));
      expect(retractions.size).toBe(1);
    },
  );

  test('when a retraction is refused its new conversion waits, so that the call does not count twice', async () => {
    const tool = microsoft();
    const push = pusher(tool);
    await push([{ value: 40, click: first }]);
    tool.refuses.add(first);
    expect(await push([{ value: 40, click: click(2) }])).toMatchObject({
      sent: { add: 0 },
      refused: [{ sid: '0' }],
    });
    expect([...tool.has.keys()]).toEqual([first]);
    tool.refuses.clear();
    expect(await push([{ value: 40, click: click(2) }])).toMatchObject({
      sent: { add: 1, retract: 1 },
    });
    expect([...tool.has]).toEqual([[click(2), 40]]);
  });
});

/** A fixed sequence of numbers from 0 up to, but without, 1. */
function randomness(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

// A drill runs this file for longer.
const histories = process.env.CALLS_DRILLS === undefined ? 20 : rounds(150, 1_500);

test.each(everyTool)(
  'after any history of lost answers the next two runs make %s equal to the calls',
  async (_, make) => {
    let lost = 0;
    for (let seed = 1; seed <= histories; seed += 1) {
      const random = randomness(seed);
      const pick = (below: number) => Math.floor(random() * below);
      const tool = make();
      const faults: readonly Fate[] = [...fates, ...tool.ownFates];
      const push = pusher(tool);
      let clicks = 10;
      const truth: Truth[] = Array.from({ length: 6 }, (_, index) => ({
        value: 10 + index,
        click: click(index),
      }));
      for (let run = 0; run < 6; run += 1) {
        for (let change = pick(4); change > 0; change -= 1) {
          const index = pick(truth.length);
          const one = truth[index];
          // What was taken back may not count again, and a tool that finds by an ID keeps the first
          // click.
          if (one === undefined || one.value === 0) continue;
          const other = pick(5);
          if (other === 0) truth[index] = { ...one, value: 0 };
          else if (other === 1 && tool.accepts.findsBy === 'click') {
            clicks += 1;
            truth[index] = { ...one, click: click(clicks) };
          } else truth[index] = { ...one, value: 1 + pick(90) };
        }
        tool.fates.push(
          ...Array.from({ length: 1 + pick(3) }, () => faults[pick(faults.length)] ?? 'fine'),
        );
        await push(truth, 1 + pick(6)).catch(() => {
          lost += 1;
        });
      }
      tool.fates.length = 0;
      await push(truth);
      const last = await push(truth);
      const nothing = { add: 0, restate: 0, retract: 0, resent: 0 };
      expect({ seed, ...last.sent, resent: last.resent }).toEqual({ seed, ...nothing });
      const counting = (entries: Iterable<readonly [string, number]>) =>
        [...entries].filter(([, value]) => value !== 0).sort();
      const has = counting(truth.map((one) => [one.click, one.value] as const));
      expect({ seed, has: counting(tool.has) }).toEqual({ seed, has });
    }

    expect(lost).toBeGreaterThan(100);
  },
);
