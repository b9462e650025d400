import type { Call } from '@call-attribution/core';
import { answerQuestion } from '@call-attribution/questions';
import { openStore, type Store } from '@call-attribution/store';
import { callWith } from '@call-attribution/test-tools/call-with';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService, type Service } from '../src/index.ts';
import type { PageSummary } from '../src/page/question.ts';
import { accountOf, keysOf } from './stage.ts';

const bearer = { authorization: 'Bearer bearer_101_key' };
let store: Store;
let service: Service;
let url = '';

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  service = createService({ store, accounts: [accountOf('101')] });
  ({ url } = await service.listen());
});
afterAll(async () => {
  await service.close();
  await store.close();
});

async function get(
  path: string,
  parameters: Record<string, string> = {},
  headers: object = bearer,
) {
  const response = await fetch(`${url}/page/${path}?${new URLSearchParams(parameters)}`, {
    headers: { ...headers },
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
const json = async (path: string, parameters: Record<string, string> = {}) =>
  JSON.parse((await get(path, parameters)).text);

const campaigns = ['Brand', 'Generic', '', null] as const;
const pages = ['/', '/contact', null] as const;
const made = fc.record({
  sid: fc.integer({ min: 1, max: 30 }).map(String),
  date_added: fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .integer({ min: 0, max: 59 })
        .map((n) => `2026-10-${String(1 + (n % 30)).padStart(2, '0')} 0${n % 10}:00:00`),
    },
    { weight: 1, arbitrary: fc.constant('soon') },
  ),
  talk_minutes: fc.constantFrom('0.0', '1.5', '12.0', null),
  channel: fc.constantFrom('Tracker', 'Call Extension'),
  ani: fc.constantFrom('12025550101', '+1 202-555-0101', '2025550102', '2025550103', 'Anonymous'),
  ppc_campaign: fc.constantFrom(...campaigns),
  landing_page: fc.constantFrom(...pages),
});
type Made = Record<string, string | null>;

const callerOf = ({ ani }: Made) =>
  ani === 'Anonymous' ? null : String(ani).replace(/\D/g, '').slice(-10);
const timeOf = ({ date_added }: Made) => (date_added === 'soon' ? '9' : String(date_added));

/** The numbers as one would count them by hand. */
function byHand(calls: readonly Made[], from: string, to: string, only: string | null) {
  const firsts = new Set(
    [...new Set(calls.map(callerOf))].flatMap((caller) =>
      caller === null
        ? []
        : calls
            .filter((call) => callerOf(call) === caller)
            .sort((a, b) =>
              timeOf(a) + a.sid < timeOf(b) + b.sid ||
              (timeOf(a) === timeOf(b) && String(a.sid) < String(b.sid))
                ? -1
                : 1,
            )
            .slice(0, 1),
    ),
  );
  const inTime = (call: Made) => timeOf(call) >= from && timeOf(call) < to;
  const kept = calls.filter(
    (call) =>
      inTime(call) && call.channel === 'Tracker' && (only === null || call.ppc_campaign === only),
  );
  const talked = kept.filter(({ talk_minutes }) => talk_minutes !== null);
  const sum = talked.reduce((all, { talk_minutes }) => all + Number(talk_minutes), 0);
  return {
    calls: kept.length,
    missed: kept.filter(({ talk_minutes }) => talk_minutes === '0.0').length,
    talkMean: talked.length === 0 ? null : sum / talked.length,
    firstTimeCallers: kept.filter((call) => firsts.has(call)).length,
  };
}

describe('the numbers of the page', () => {
  test('they are those of the store after any writes and deletions', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(
            fc.array(made, { maxLength: 12 }),
            fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 4 }),
          ),
          {
            minLength: 1,
            maxLength: 4,
          },
        ),
        fc.constantFrom(null, 'Brand'),
        async (steps, only) => {
          const model = new Map<string, Made>();
          const before = Array.from({ length: 30 }, (_, i) => String(i + 1));
          await store.remove('101', before);
          for (const [calls, gone] of steps) {
            await store.upsert(
              '101',
              calls.map((call) => callWith({ ...call, ppc_keywords: null, referrer: '' }) as Call),
            );
            for (const call of calls) model.set(call.sid, call as Made);
            await store.remove('101', gone.map(String));
            for (const sid of gone) model.delete(String(sid));
            const found: PageSummary = await json('summary.json', {
              q: 'date_added:[2026-10-11 00:00:00 TO 2026-10-21 00:00:00}',
              ...(only === null ? {} : { only: JSON.stringify({ ppc_campaign: [only] }) }),
            });
            const all = [...model.values()];
            expect(found.total).toEqual(byHand(all, '2026-10-11', '2026-10-21', only));
            // Of the time before the first call nothing is known: a tenth may be missing.
            const [first = '9'] = all.map(timeOf).sort();
            const isKnown = first === '9' || first <= '2026-10-02';
            expect(found.before).toEqual(
              isKnown ? byHand(all, '2026-10-01', '2026-10-11', only) : null,
            );
            expect(found.none).toBe(model.size === 0 ? 'Nothing was synced yet.' : null);
            expect(found.buckets.reduce((sum, { calls }) => sum + calls, 0)).toBe(
              found.total.calls,
            );
            const pagesSum = found.groups.landing_page.reduce((sum, { calls }) => sum + calls, 0);
            expect(pagesSum).toBe(found.total.calls);
          }
        },
      ),
      { numRuns: Number(process.env.CALLS_LAW_RUNS ?? 12) },
    );
  });

  test('the table has the newest call first, a part of the fields, and a CSV that runs no formula', async () => {
    const calls = [3, 1, 2].map((day) =>
      callWith({
        sid: `t${day}`,
        date_added: `2027-01-0${day} 10:00:00`,
        ppc_campaign: '=HYPERLINK("x")',
        talk_minutes: `${day}.0`,
      }),
    );
    await store.upsert('101', calls);
    const q = 'date_added:[2027-01-01 00:00:00 TO *]';
    expect(await json('calls.json', { q, fields: 'sid,talk_minutes', rows: '2' })).toEqual({
      total: 3,
      calls: [
        { sid: 't3', talk_minutes: '3.0' },
        { sid: 't2', talk_minutes: '2.0' },
      ],
    });
    expect((await json('calls.json', { q, fields: 'sid', rows: '2', start: '1' })).calls).toEqual([
      { sid: 't1' },
    ]);
    const csv = await get('calls.csv', { q, fields: 'sid,ppc_campaign' });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.text.split('\r\n').slice(0, 2)).toEqual([
      'sid,ppc_campaign',
      `t3,"'=HYPERLINK(""x"")"`,
    ]);
    expect(await json('calls.json', { sid: 't1' })).toMatchObject({ sid: 't1', landing_page: '/' });
  });

  test.each([
    ['summary.json', {}, {}, 401, 'missing_credentials'],
    ['summary.json', {}, { authorization: 'Bearer wrong' }, 401, 'invalid_credentials'],
    ['summary.json', { q: 'talk:1' }, bearer, 400, 'invalid_filter'],
    ['summary.json', { only: '{"city":["x"]}' }, bearer, 400, 'malformed_parameter'],
    ['summary.json', { only: '{"channel":[1]}' }, bearer, 400, 'malformed_parameter'],
    ['summary.json', { only: '{"channel":[]}' }, bearer, 400, 'malformed_parameter'],
    ['summary.json', { only: '{"channel":["a\\u0000"]}' }, bearer, 400, 'malformed_parameter'],
    ['calls.csv', { only: '{"channel":["\\ud800"]}' }, bearer, 400, 'malformed_parameter'],
    ['summary.json', { by: 'hour' }, bearer, 400, 'malformed_parameter'],
    ['calls.json', { fields: 'sid,campaign' }, bearer, 400, 'unknown_field'],
    ['calls.json', { rows: '501' }, bearer, 400, 'parameter_out_of_range'],
    ['calls.json', { sid: 'nobody' }, bearer, 404, 'unknown_record'],
    ['calls.csv', { rows: '1' }, bearer, 400, 'unknown_parameter'],
  ] as const)('%s refuses %j with a reason', async (path, parameters, headers, status, code) => {
    const refused = await get(path, parameters as Record<string, string>, headers);
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([status, code]);
  });

  test('the values of a field are a CSV with all of them, narrowed by the other fields', async () => {
    const many = Array.from({ length: 150 }, (_, n) =>
      callWith({
        sid: `m${n}`,
        ppc_campaign: `Campaign ${n}`,
        landing_page: n < 120 ? '/' : '/contact',
      }),
    );
    await store.upsert('101', [
      ...many,
      callWith({ sid: 'm0b', ppc_campaign: 'Campaign 0', landing_page: '/' }),
    ]);
    const only = JSON.stringify({ landing_page: ['/'], ppc_campaign: ['Campaign 7'] });
    const { text, headers } = await get('groups.csv', { field: 'ppc_campaign', only });
    const lines = text.trimEnd().split('\r\n');
    expect(headers.get('content-disposition')).toContain('ppc_campaign.csv');
    expect(lines[0]).toBe('ppc_campaign,calls,missed');
    expect(lines).toContain('Campaign 0,2,0');
    expect(lines.filter((line) => line.startsWith('Campaign'))).toHaveLength(120);
    await store.remove('101', [...many.map(({ sid }) => sid), 'm0b']);
  });

  test('calls through call extensions are counted where the filter has them', async () => {
    await store.upsert('101', [
      callWith({ sid: 'e1', date_added: '2028-01-01 10:00:00', channel: 'Call Extension' }),
    ]);
    const q = 'date_added:[2028-01-01 00:00:00 TO *]';
    expect(await json('summary.json', { q })).toMatchObject({
      total: { calls: 0 },
      extensionsLeftOut: 1,
    });
    expect((await json('summary.json', { q: `${q},inc_gce:1` })).total.calls).toBe(1);
  });

  test('a copy that was filled with a filter says which calls it has, also without new calls', async () => {
    const parameters = { q: 'date_added:[2026-10-11 00:00:00 TO 2026-10-21 00:00:00}' };
    const onlyIn = async () => (await json('summary.json', parameters)).only;
    expect(await onlyIn()).toBeNull();
    const claim = await store.claim('101', 'a sync');
    const asked = [{ from: null, to: null }];
    const part = { version: 'v3', latest: null, asked, stretches: [], firsts: [] };
    const fill = (...filters: string[]) =>
      store.commitClaimed(claim, {
        calls: [],
        note: { version: 2, parts: filters.map((filter) => ({ ...part, filter })) },
      });
    const apiSays = async () => {
      const lists = '/v3/user/bid-management?rows=1';
      const list = await fetch(url + lists, { headers: keysOf('101') });
      const etag = list.headers.get('etag') ?? '';
      const again = await fetch(url + lists, {
        headers: { ...keysOf('101'), 'if-none-match': etag },
      });
      const headers = { authorization: 'Bearer bearer_101_key' };
      const count = await fetch(`${url}/v2/user/bid-management/count`, { headers });
      const replies = [list, again, count];
      expect(replies.map(({ status }) => status)).toEqual([200, 304, 200]);
      return replies.map((reply) => reply.headers.get('x-calls-only'));
    };
    expect(await apiSays()).toEqual([null, null, null]);
    await fill('talk_minutes:[5 TO *],inc_gce:1');
    expect(await onlyIn()).toBe('only calls with talk_minutes:[5 TO *]');
    const said = '[{"filter":"talk_minutes:[5 TO *]","from":null,"to":null}]';
    expect(await apiSays()).toEqual([said, said, said]);
    await fill('talk_minutes:[5 TO *],inc_gce:1', 'inc_gce:1');
    expect(await onlyIn()).toBeNull();
    expect(await apiSays()).toEqual([null, null, null]);
  });

  test('the numbers say where the data begins within their time, and new callers with it', async () => {
    const notesIn = async (from: string, to: string): Promise<string> => {
      const q = `date_added:[${from} 00:00:00 TO ${to} 00:00:00}`;
      return (await json('summary.json', { q })).notes.join(' ');
    };
    const { earliest } = await json('summary.json', {});
    const before = await notesIn('2020-01-01', '2026-10-21');
    expect(before).toContain(`The first call is from ${earliest}: nothing is known`);
    expect(before).toContain('who called before that counts as new');
    const later = Number(earliest.slice(0, 4)) + 1;
    expect(await notesIn(`${later}-06-01`, `${later}-06-02`)).not.toContain('The first call');
    expect(await notesIn(`${later}-06-01`, `${later}-06-02`)).not.toContain('counts as new');
  });

  describe('a period that is not over', () => {
    const hours = ['09', '15', '21'];
    const daysOf = (month: string, days: number) =>
      Array.from({ length: days }, (_, i) => String(i + 1).padStart(2, '0')).flatMap((day) =>
        hours.map((hour) =>
          callWith({
            sid: `${month} ${day} ${hour}`,
            date_added: `${month}-${day} ${hour}:00:00`,
            ani: '12025550101',
          }),
        ),
      );

    /** The numbers of the page at a time, over calls of whole months. */
    async function summaryAt(now: string, months: readonly (readonly [string, number])[]) {
      await using own = await openStore('sqlite::memory:');
      await own.putAccount({ id: '101', name: 'One' });
      await own.upsert('101', months.flatMap(([month, days]) => daysOf(month, days)) as Call[]);
      const served = createService({
        store: own,
        accounts: [accountOf('101')],
        clock: { now: () => Date.parse(now) },
        page: { timeZone: 'America/New_York' },
      });
      try {
        const { url: base } = await served.listen();
        const from = months.at(-1)?.[0] ?? '';
        const last = new Date(Date.UTC(Number(from.slice(0, 4)), Number(from.slice(5)), 1));
        const q = `date_added:[${from}-01 00:00:00 TO ${last.toISOString().slice(0, 10)} 00:00:00}`;
        const reply = await fetch(`${base}/page/summary.json?${new URLSearchParams({ q })}`, {
          headers: bearer,
        });
        return (await reply.json()) as PageSummary;
      } finally {
        await served.close();
      }
    }

    test('is compared with the same part of the one before, and says which', async () => {
      const both = [
        ['2026-10', 31],
        ['2026-11', 28],
      ] as const;
      const found = await summaryAt('2026-11-28T17:00:00Z', both);
      expect([found.total.calls, found.part?.calls, found.before?.calls]).toEqual([84, 82, 82]);
      expect(found.comparedWith).toEqual({
        from: '2026-10-01 00:00:00',
        to: '2026-10-28 12:00:00',
      });
      expect(found.changes.calls?.size).toBe(0);
      expect(found.notes[0]).toBe(
        'The period is not over: 2026-11-01 to 2026-11-28 12:00 is compared with 2026-10-01 to 2026-10-28 12:00.',
      );
    });

    test('that is over is compared whole, and judged by what there is a day', async () => {
      const both = [
        ['2026-01', 31],
        ['2026-02', 28],
      ] as const;
      const found = await summaryAt('2026-11-28T17:00:00Z', both);
      expect([found.total.calls, found.part?.calls, found.before?.calls]).toEqual([84, 84, 93]);
      expect(found.changes.calls).toEqual({ size: -9.7, judged: null });
      expect(found.notes.join(' ')).not.toContain('is not over');
    });
  });

  test.each([
    [300, 345, 'About as many calls as before: 345 instead of 300.'],
    [30, 45, 'About as many calls as before: 45 instead of 30.'],
    [100, 115, 'About as many calls as before: 115 instead of 100.'],
    [100, 160, '60% more calls than before, most of all with campaign Brand: 110 instead of 50.'],
    [160, 100, '38% fewer calls than before, most of all with campaign Brand: 50 instead of 110.'],
  ])(
    'what happened is a sentence only where it is more than chance: %i calls, then %i',
    async (before, now, said) => {
      const own = await openStore('sqlite::memory:');
      await using first = createService({ store: own, accounts: [accountOf('101')] });
      const at = await first.listen();
      const fewest = Math.min(before, now);
      const days = [
        ['2026-09-21', 1],
        ['2026-10-01', before],
        ['2026-10-11', now],
      ] as const;
      for (const [day, count] of days)
        await own.upsert(
          '101',
          Array.from({ length: count }, (_, i) =>
            callWith({
              sid: `${day}-${i}`,
              date_added: `${day} 10:00:00`,
              landing_page: '/',
              ppc_campaign: i < fewest / 2 ? 'Generic' : 'Brand',
              ppc_keywords: null,
              referrer: null,
            }),
          ),
        );

      // The first calls are of the first day of the period before.
      await own.upsert('101', [callWith({ sid: 'first', date_added: '2026-09-01 10:00:00' })]);
      const q = 'date_added:[2026-10-11 00:00:00 TO 2026-10-21 00:00:00}';
      const url = `${at.url}/page/summary.json?${new URLSearchParams({ q })}`;
      const summary = (await (await fetch(url, { headers: bearer })).json()) as PageSummary;
      expect(summary.glance).toBe(said);
      await own.close();
    },
  );

  test('what has not changed is not counted again', async () => {
    const parameters = { q: 'date_added:[2026-10-11 00:00:00 TO 2026-10-21 00:00:00}' };
    await store.upsert('101', [callWith({ sid: 'p1', date_added: '2026-10-02 10:00:00' })]);
    const first: PageSummary = await json('summary.json', parameters);
    expect(first.comparedWith).toEqual({ from: '2026-10-01 00:00:00', to: '2026-10-11 00:00:00' });
    expect(await json('summary.json', parameters)).toEqual(first);
    await store.upsert('101', [callWith({ sid: 'p2', date_added: '2026-10-12 10:00:00' })]);
    const after: PageSummary = await json('summary.json', parameters);
    expect(after.total.calls).toBe(first.total.calls + 1);
  });

  test('a narrowed table has the newest call first, its CSV too, and leaves the total to the numbers', async () => {
    const calls = Array.from({ length: 12 }, (_, i) =>
      callWith({
        sid: `n${String(i).padStart(2, '0')}`,
        date_added: `2029-01-0${1 + (i % 3)} 10:00:00`,
        ppc_campaign: ['Brand', 'brand', '', null][i % 4] as string,
      }),
    );
    await store.upsert('101', calls);

    const wanted = (values: readonly (string | null)[]) =>
      calls
        .filter(({ ppc_campaign }) => values.some((value) => value === ppc_campaign))
        .sort((a, b) => (`${a.date_added} ${a.sid}` < `${b.date_added} ${b.sid}` ? 1 : -1))
        .map(({ sid }) => sid);

    const q = 'date_added:[2029-01-01 00:00:00 TO 2030-01-01 00:00:00}';
    for (const values of [['Brand'], [null], [''], ['brand', null], ['', null], ['Nobody']]) {
      const only = JSON.stringify({ ppc_campaign: values });
      const table = await json('calls.json', { q, only, fields: 'sid', rows: '2', start: '1' });
      expect(table).toEqual({
        total: null,
        calls: wanted(values)
          .slice(2, 4)
          .map((sid) => ({ sid })),
      });
      expect((await json('summary.json', { q, only })).total.calls).toBe(wanted(values).length);
      const csv = (await get('calls.csv', { q, only, fields: 'sid' })).text;
      expect(csv.trimEnd().split('\r\n').slice(1)).toEqual(wanted(values));
    }
  });

  test('its rows are those of a report: empty and missing are told apart, however many values there are', async () => {
    const calls = Array.from({ length: 400 }, (_, i) =>
      callWith({
        sid: `o${i}`,
        date_added: `2031-0${1 + (i % 3)}-15 10:00:00`,
        referrer: i < 360 ? `site ${i % 120}` : [null, '', ''][i % 3],
      }),
    );
    await store.upsert('101', calls);
    const q = 'date_added:[2030-12-30 00:00:00 TO 2031-04-01 00:00:00}';
    const period = { from: '2030-12-30', to: '2031-03-31' };
    const found: PageSummary = await json('summary.json', { q });
    const measures = ['calls', 'missed'] as const;
    const sites = await answerQuestion(
      { ...period, groupBy: ['referrer'], measures, limit: 100 },
      calls,
    );
    const shown = (rows: readonly object[]) => rows.map((row) => Object.values(row));
    expect(shown(found.groups.referrer)).toEqual(shown(sites.rows));
    expect(found.groups.referrer.slice(0, 2).map(({ value, calls }) => [value, calls])).toEqual([
      ['', 26],
      [null, 14],
    ]);
    expect(found.values.referrer).toBe(122);
    for (const by of ['day', 'week', 'month'] as const) {
      const times = await answerQuestion({ ...period, groupBy: [by], measures }, calls);
      const { buckets } = await json('summary.json', { q, by });
      expect(shown(buckets)).toEqual(shown(times.rows));
    }
  });

  test.each([
    ['[2031-01-01 00:00:00 TO 2031-01-01 00:00:00}', 'day', 'day', 0],
    ['[0001-01-01 00:00:00 TO 9999-01-01 00:00:00}', 'day', 'month', 2_000],
    ['[2020-01-01 00:00:00 TO 2031-01-01 00:00:00}', 'day', 'week', 575],
    ['[2031-01-01 00:00:00 TO 2031-03-12 00:00:00}', 'auto', 'day', 70],
    ['[2031-01-01 00:00:00 TO 2031-03-13 00:00:00}', 'auto', 'week', 11],
  ])('the chart of %s by %s has columns by %s', async (range, by, shown, most) => {
    const found: PageSummary = await json('summary.json', { q: `date_added:${range}`, by });
    expect(found.by).toBe(shown);
    expect(found.buckets.length).toBeLessThanOrEqual(most);
    if (most < 2_000) expect(found.buckets).toHaveLength(most);
  });

  test('a client that leaves ends the counting for it', async () => {
    const client = new AbortController();
    let ended: (why: string) => void = () => {};
    const left = new Promise<string>((done) => {
      ended = done;
    });

    const columns: Store['columns'] = async function* (_account, _selection, _fields, signal) {
      client.abort();
      await new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          ended('The counting has ended.');
          reject(signal.reason);
        });
      });
      yield { length: 0, columns: {} };
    };

    const counting: Store = Object.assign(Object.create(store), { columns });
    const slow = createService({ store: counting });
    const at = await slow.listen();
    const asked = fetch(`${at.url}/page/summary.json`, { headers: bearer, signal: client.signal });
    await expect(asked).rejects.toThrow();
    expect(await left).toBe('The counting has ended.');
    await slow.close();
  });
});
