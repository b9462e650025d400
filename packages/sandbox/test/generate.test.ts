import { createHash } from 'node:crypto';
import { type Call, fields, fromCall, toCall } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { openApiDocument } from '@call-attribution/service';
import { type Schema, schemaProblems } from '@call-attribution/test-tools/json-schema';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generate, generatedAccounts } from '../src/generate/generate.ts';

const calls = [...generate({ records: 4000, seed: 7, accounts: 5 })];
const extensions = calls.filter((call) => call.channel === 'Call Extension');
const visits = calls.filter((call) => call.channel !== 'Call Extension');
const share = (list: readonly Call[], test: (call: Call) => boolean) =>
  list.filter(test).length / list.length;
const seconds = (text: string) => parseNaive(text) / 1000;

describe('generated calls', () => {
  test('they are the same bytes for the same seed on every machine', () => {
    const digest = createHash('sha256');
    for (const call of generate({ records: 1000, seed: 42, accounts: 2 }))
      digest.update(JSON.stringify(call));
    expect(digest.digest('hex')).toBe(
      'c5f6793372e7e2fac1eaddac53a7256df0591aeb5207e22e362b27932c7abcc7',
    );
  });

  test('they differ from seed to seed', () => {
    const [a, b] = [1, 2].map((seed) => [...generate({ records: 10, seed })][0]?.pid);
    expect(a).not.toBe(b);
  });

  test('they have every field of the table, in its order, and keep it in both versions', () => {
    for (const call of calls) {
      expect(Object.keys(call)).toEqual(fields.map((field) => field.name));
      for (const version of ['v2', 'v3'] as const) {
        expect(() => toCall(fromCall(call, version), version, { records: 'strict' })).not.toThrow();
      }
    }
  });

  test.each(['v2', 'v3'] as const)(
    'they match the %s schema of the OpenAPI document',
    async (version) => {
      const { components } = (await openApiDocument()) as unknown as Schema;
      const schema = components?.schemas?.[`Call${version.toUpperCase()}`] as Schema;
      for (const call of generate({ records: 400, seed: 3 }))
        expect(schemaProblems(schema, fromCall(call, version), version)).toEqual([]);
    },
  );

  test('they are ordered by time, their ids are unique, and the ids do not reveal the order', () => {
    for (const account of generatedAccounts({ records: 3000, accounts: 2 })) {
      const list = [...account.calls()];
      const times = list.map((call) => call.date_added);
      expect(times).toEqual([...times].sort());
      expect(new Set(list.map((call) => call.sid)).size).toBe(list.length);
      expect(list.map((call) => call.sid)).not.toEqual(list.map((call) => call.sid).sort());
      expect(times.filter((time, i) => time === times[i - 1]).length).toBeGreaterThan(0);
    }
    expect(new Set(calls.map((call) => call.sid)).size).toBe(calls.length);
  });

  test('the fields of one call are consistent', () => {
    for (const call of calls) {
      const made = seconds(call.date_added);
      const talked = Math.round(Number(call.talk_minutes) * 60);
      expect(seconds(call.talk_start)).toBeGreaterThanOrEqual(made);
      expect(Math.round(seconds(call.talk_end) - seconds(call.talk_start))).toBe(talked);
      const whole = (Number(call.talk_minutes) * 10 + Number(call.smart_minutes) * 10) / 10;
      expect(Number(call.call_duration)).toBe(Math.ceil(Math.round(whole * 10) / 10));
      if (call.last_touch_timestamp) {
        expect(seconds(call.last_touch_timestamp)).toBeLessThanOrEqual(made);
        expect(call.first_touch).toContain(call.first_touch_domain);
        expect(call.first_touch).toContain(call.landing_page);
      }
      expect(seconds(call.displayed_timestamp)).toBeLessThanOrEqual(made);
      if (call.ppc_gclid) expect(call.first_touch).toContain(`gclid=${call.ppc_gclid}`);
      const isTagged = /[?&](?:gclid|gbraid|wbraid|msclkid)=/.test(call.first_touch ?? '');
      if (call.channel !== 'Call Extension') expect(call.ppc_status !== 'N/A').toBe(isTagged);
      expect(call.ppc_campaign_id !== null).toBe(call.ppc_status === 'Processed');
    }
  });

  test('they belong to campaigns, ad groups and keywords that do not change', () => {
    const parents = new Map<string, string>();
    for (const call of calls.filter((call) => call.ppc_status === 'Processed')) {
      for (const [child, parent] of [
        [call.ppc_adgroup_id, call.ppc_campaign_id],
        [call.ppc_keyword_id, call.ppc_adgroup_id],
      ] as const) {
        const known = parents.get(child as string);
        if (known) expect(parent).toBe(known);
        parents.set(child as string, parent as string);
      }
    }

    expect(parents.size).toBeGreaterThan(50);
  });

  test('calls from call extensions have no fields of a web visit', () => {
    expect(share(calls, (call) => call.channel === 'Call Extension')).toBeCloseTo(0.1, 1);
    for (const call of extensions) {
      const none = {
        first_touch: null,
        last_touch: null,
        ppc_gclid: null,
        os: null,
        browser: null,
      };
      expect(call).toMatchObject(none);
    }
  });

  test('ad clicks have the ids of platforms and bid tools in the shares that the README names', () => {
    const ads = visits.filter((call) => call.url_tag.startsWith('utm_medium=cpc'));
    const having = (name: string) => (call: Call) =>
      new RegExp(`[?&]${name}=[\\w-]{6,}`).test(call.first_touch ?? '');
    const shares = Object.fromEntries(
      ['gclid', 'msclkid', 'gbraid', 'wbraid', 'k_clickid', 'mkwid', 'pcrid'].map((name) => [
        name,
        Math.round(share(ads, having(name)) * 100),
      ]),
    );
    const platforms = { gclid: 67, msclkid: 14, gbraid: 3, wbraid: 2 };
    expect(shares).toEqual({ ...platforms, k_clickid: 54, mkwid: 23, pcrid: 23 });
    const ios = ads.filter(having('[gw]braid'));
    expect(new Set(ios.map((call) => call.os))).toEqual(new Set(['iOS']));
    const minutes = visits.map(
      (call) => (seconds(call.date_added) - seconds(call.displayed_timestamp)) / 60,
    );
    const within = (most: number) =>
      Math.round((minutes.filter((age) => age <= most).length / minutes.length) * 100);
    expect([within(22), within(24 * 60), within(31 * 24 * 60)]).toEqual([62, 84, 100]);
  });

  test('their numbers, addresses and domains do not belong to anyone', () => {
    const number =
      /^(1[2-9]\d\d55501\d\d|44(2079460|1[1-6]14960|11[3-8]4960|1[2-5]14960|1914980|2896496|2920180|3069990)\d{3})$/;
    const address =
      /^(|192\.0\.2\.\d+|198\.51\.100\.\d+|203\.0\.113\.\d+|2001:db8:[0-9a-f]{0,4}::[0-9a-f]+)$/;
    const domain = /(^|\.)(example|example\.(com|net|org))$/;
    for (const call of calls) {
      expect(call.ani).toMatch(number);
      expect(call.dnis).toMatch(number);
      expect(call.ani).not.toBe(call.dnis);
      expect(call.ip_address).toMatch(address);
      if (call.referrer) expect(call.referrer).toMatch(domain);
      for (const url of [call.first_touch, call.last_touch, call.recording]) {
        if (url) expect(new URL(url).hostname).toMatch(domain);
      }
    }
  });

  test('repeat callers stay the same person', () => {
    const people = new Map<string, Call>();
    for (const call of calls) {
      const who = `${call.acct_id} ${call.ani}`;
      const known = people.get(who);
      if (known)
        expect([call.pid, call.last_name, call.city]).toEqual([
          known.pid,
          known.last_name,
          known.city,
        ]);
      else people.set(who, call);
    }

    expect(people.size / calls.length).toBeGreaterThan(0.3);
    expect(people.size / calls.length).toBeLessThan(0.8);
  });

  test('they follow the rhythm of the day and the week', () => {
    const hour = (call: Call) => Number(call.date_added.slice(11, 13));
    const weekday = (call: Call) =>
      new Date(`${call.date_added.slice(0, 10)}T00:00:00Z`).getUTCDay();
    expect(share(calls, (call) => hour(call) >= 8 && hour(call) < 18)).toBeGreaterThan(0.7);
    expect(share(calls, (call) => hour(call) < 6)).toBeLessThan(0.05);
    expect(share(calls, (call) => weekday(call) === 0 || weekday(call) === 6)).toBeLessThan(0.2);
  });

  test('they have names, titles and paths beyond ASCII, and visitor text that tests its readers', () => {
    const all = JSON.stringify(calls);
    for (const text of ['Zoë', '美咲', 'Montréal', '桜', '%E6%A1%9C', '=HYPERLINK', 'DROP TABLE']) {
      expect(all).toContain(text);
    }
    expect(share(visits, (call) => call.referrer === '')).toBeGreaterThan(0.1);
  });

  test('they are divided among the accounts without losing any', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 9 }),
        (records, accounts) => {
          const made = generatedAccounts({ records, accounts });
          expect(made.reduce((sum, account) => sum + [...account.calls()].length, 0)).toBe(records);
          expect(new Set(made.map((account) => account.account.id)).size).toBe(accounts);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('they stay within the given days', () => {
    for (const days of [1, 7, 400]) {
      const to = '2026-03-08 12:34:56';
      const times = [...generate({ records: 300, days, to })].map((call) =>
        seconds(call.date_added),
      );
      expect(Math.min(...times)).toBeGreaterThanOrEqual(seconds(to) - days * 86_400);
      expect(Math.max(...times)).toBeLessThan(seconds(to));
    }
  });

  test.each([1, 2, 90])(
    'those of %s days up to the present are the same all day; a later present adds the calls since',
    (days) => {
      const at = (time: string) => {
        const present = seconds(time);
        const made = generatedAccounts({ records: 500, days, accounts: 2 }, present);
        return made.map((account) =>
          [...account.calls()].map(({ sid, date_added }) => ({ sid, date_added })),
        );
      };

      // A Friday after a closed day.
      const [first, noon, later] = [
        '2026-01-02 00:00:00',
        '2026-01-02 12:00:00',
        '2026-01-02 16:30:00',
      ].map(at);
      expect(at('2026-01-02 12:00:00')).toEqual(noon);
      for (const [index, calls] of (noon ?? []).entries()) {
        const evening = later?.[index] ?? [];
        expect([first?.[index]?.length, evening.length]).toEqual([calls.length, calls.length]);
        const added = evening.filter(({ date_added }) => date_added >= '2026-01-02 12:00:00');
        expect(added.length).toBeGreaterThan(0);
        expect(evening).toEqual([...calls, ...added].slice(-calls.length));
        expect(calls.some(({ date_added }) => date_added >= '2026-01-02 12:00:00')).toBe(false);
        expect(calls.some(({ date_added }) => date_added.startsWith('2026-01-02'))).toBe(true);
      }
    },
  );

  test('their ad data changes with age and becomes final', () => {
    const [account] = generatedAccounts({ records: 1000 });
    if (!account) throw new Error('no account');
    const states = new Set<string>();
    for (let i = 0; i < 1000; i++) {
      const { time } = account.at(i, account.to);
      const course = [0, 600, 7200, 86_400, 3 * 86_400].map(
        (age) => account.at(i, time + age).call.ppc_status,
      );
      states.add([...new Set(course)].join(' > '));
      const later = account.at(i, time + 9 * 86_400).call;
      expect({ ...account.at(i, time).call, ...adData(later) }).toEqual(later);
    }

    expect(states).toContain('Not Processed > Waiting For Keyword > Processed');
    expect(states).toContain('Not Processed > Waiting For Keyword > No Match');
    expect(states).toContain('N/A');
    expect([...states].every((state) => /^(N\/A|Not Processed( > .*)?)$/.test(state))).toBe(true);
  });

  test.each([
    [{ records: -1 }, 'records is -1: expected a whole number from 0 to 100000000'],
    [{ accounts: 0 }, 'accounts is 0: expected a whole number from 1 to 1000'],
    [{ seed: 1.5 }, 'seed is 1.5: expected a whole number from 0 to 4294967295'],
    [
      { to: '2026-02-30 00:00:00' },
      'to is "2026-02-30 00:00:00": expected a date or a time, such as 2026-11-01',
    ],
    [{ to: '2026-11-01 00:00:00.5' }, 'expected a date or a time, such as 2026-11-01'],
  ])('options %j are refused', (options, message) => {
    expect(() => [...generate(options)]).toThrow(message);
  });
});

function adData(call: Call): Partial<Call> {
  return Object.fromEntries(Object.entries(call).filter(([name]) => name.startsWith('ppc_')));
}
