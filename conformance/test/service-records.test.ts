import { fields } from '@call-attribution/core';
import { startSandbox } from '@call-attribution/sandbox';
import { afterAll, describe, expect, test } from 'vitest';
import { raw } from './raw.ts';
import { bearer, keys, openWorld } from './world.ts';

type Record_ = Readonly<Record<string, unknown>>;

// Generated calls of a sandbox: what a stranger sees first must keep every rule of the record.
const sandbox = await startSandbox({
  records: 600,
  to: '2026-11-01 00:00:00',
  live: { callsPerMinute: 0.05 },
});
afterAll(() => sandbox.close());
const list = async (version: 'v2' | 'v3', headers: Record<string, string>, query = '') =>
  (
    await raw(sandbox.url, `/${version}/user/bid-management?rows=1000${query}`, { headers })
  ).json() as Record_[];
const v2 = await list('v2', bearer);
const v3 = await list('v3', keys, '&q=inc_gce:1');
const both = [...v2, ...v3];

const values = (name: string, records: readonly Record_[] = both) =>
  records.filter((r) => name in r).map((r) => r[name]);
const filled = (name: string, records = both) =>
  values(name, records).filter((value) => value !== null) as string[];
const namesOf = (version: 'v2' | 'v3') => fields.flatMap((field) => field[version] ?? []).sort();

const date = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

describe('a record', () => {
  test('[R10][R16][R17] has each field of its version and no other', () => {
    expect(v2).toHaveLength(600);
    expect(v3).toHaveLength(600);
    for (const record of v2) expect(Object.keys(record).sort()).toEqual(namesOf('v2'));
    for (const record of v3) expect(Object.keys(record).sort()).toEqual(namesOf('v3'));
  });

  test('[R11] has null where a field has no value', () => {
    const empty = both
      .flatMap((record) => Object.values(record))
      .filter((value) => value === undefined);
    expect(empty).toEqual([]);
    expect(values('search_term').some((value) => value === null)).toBe(true);
  });

  test('[R12] writes numbers as strings, except in the four integer fields', () => {
    const integers = ['activity_type_id', 'pool_id', 'domain_set_id', 'location_id'];
    for (const record of both) {
      for (const [name, value] of Object.entries(record)) {
        if (value === null) continue;
        expect(typeof value, name).toBe(integers.includes(name) ? 'number' : 'string');
        if (integers.includes(name)) expect(Number.isInteger(value)).toBe(true);
      }
    }
  });

  test('[R13] writes times as YYYY-MM-DD HH:MM:SS', () => {
    for (const name of ['date_added', 'last_touch_timestamp', 'displayed_timestamp']) {
      expect(filled(name).length).toBeGreaterThan(0);
      for (const value of filled(name)) expect(value).toMatch(date);
    }
  });

  test('[R14] writes talk_start and talk_end with tenths of a second', () => {
    for (const name of ['talk_start', 'talk_end']) {
      expect(filled(name).length).toBeGreaterThan(0);
      for (const value of filled(name))
        expect(value).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d$/);
    }
  });

  test('[R15] names no time zone', () => {
    for (const value of filled('date_added')) expect(value).not.toMatch(/[Z+]|[A-Z]{3}/);
  });

  test('[R18] writes talk_minutes and smart_minutes in tenths of a minute', () => {
    for (const name of ['talk_minutes', 'smart_minutes'])
      for (const value of filled(name)) expect(value).toMatch(/^\d+\.\d$/);
  });

  test('[R19][R20] has ranks from 1 to 5 and activity types from 1 to 8', () => {
    for (const value of filled('rank')) expect(value).toMatch(/^[1-5]$/);
    for (const value of filled('activity_type_id'))
      expect(Number(value)).toSatisfy((n: number) => n >= 1 && n <= 8);
  });

  test('[R21] has null as call_logging_id', () => {
    expect(new Set(values('call_logging_id', v2))).toEqual(new Set([null]));
  });

  test('[R22] may have an empty referrer', () => {
    expect(values('referrer').some((value) => value === '')).toBe(true);
  });

  test('[R23] has whole minutes, rounded up, as call_duration', () => {
    for (const record of v3) {
      const minutes = Number(record.smart_minutes) + Number(record.talk_minutes ?? 0);
      expect(record.call_duration).toMatch(/^\d+$/);
      expect(Number(record.call_duration)).toBeGreaterThanOrEqual(Math.floor(minutes));
    }
  });

  test('[R24][R25] always has the vt_ parameters, recording and the product target', () => {
    const vt =
      'keyword matchtype network device devicemodel creative placement target param1 param2 random aceid adposition adtype';
    const wanted = [
      ...vt.split(' ').map((name) => `vt_${name}`),
      'vt_ads_producttargetid',
      'recording',
    ];
    for (const record of both) expect(Object.keys(record)).toEqual(expect.arrayContaining(wanted));
  });

  test('[R26] has a link on a reserved domain, or null, as recording', () => {
    for (const value of filled('recording'))
      expect(new URL(value).hostname).toMatch(
        /\.(?:example|test|invalid)$|(?:^|\.)example\.(?:com|net|org)$/,
      );
  });

  test('[R27] has a string or null as vt_ads_producttargetid', () => {
    for (const value of values('vt_ads_producttargetid'))
      expect(value === null || typeof value === 'string').toBe(true);
  });

  test('[R28][R29] has one of six ppc_status values, N/A without a click id', () => {
    const known = [
      'Not Processed',
      'Waiting For Keyword',
      'Processed',
      'Desktop',
      'No Match',
      'N/A',
    ];
    for (const record of v3) {
      expect(known).toContain(record.ppc_status);
      if (record.ppc_status === 'N/A')
        expect([record.channel, record.ppc_gclid]).toEqual(['Tracker', null]);
    }
  });

  test('[R30] keeps a final ppc_status when time passes, and changes others', async () => {
    const before = new Map(v3.map((record) => [record.sid, record.ppc_status]));
    await sandbox.advance('3d');
    const after = await list('v3', keys, '&q=inc_gce:1');
    const moved = after.filter(
      (record) => before.has(record.sid) && before.get(record.sid) !== record.ppc_status,
    );
    for (const { sid } of moved)
      expect(['Not Processed', 'Waiting For Keyword']).toContain(before.get(sid));
    expect(moved.length).toBeGreaterThan(0);
  });

  test('[R31][R32] has the channel Tracker or Call Extension in both versions', () => {
    for (const records of [v2, v3])
      expect(new Set(values('channel', records))).toEqual(new Set(['Tracker', 'Call Extension']));
  });

  test('[R33][R34] derives page and domain from first and last touch', () => {
    const parts = [
      ['first_touch', 'landing_page', 'first_touch_domain'],
      ['last_touch', 'conversion_page', 'last_touch_domain'],
    ] as const;
    for (const [touch, page, domain] of parts) {
      const visited = v3.filter((record) => record[touch] !== null);
      expect(visited.length).toBeGreaterThan(0);
      for (const record of visited) {
        const url = new URL(record[touch] as string);
        expect(record[domain]).toBe(url.hostname);
        expect(record[touch]).toContain(record[page]);
        expect(record[page]).not.toContain(url.hostname);
      }
    }
  });

  test('[R101][R102] has the renamed fields under the new name in v3 and the old name in v2', () => {
    const older = new Map(v2.map((record) => [record.sid, record]));
    const renamed = {
      first_touch: 'baseuri',
      ppc_account_id: 'ads_account_id',
      ppc_campaign_id: 'ads_campaign_id',
      ppc_adgroup_id: 'ads_adgroup_id',
      ppc_keyword_id: 'ads_keyword_id',
    };
    for (const record of v3) {
      for (const [name, old] of Object.entries(renamed))
        expect(record[name]).toBe(older.get(record.sid)?.[old]);
    }
  });

  test('[R103][R104] has phone_number, super_id and call_logging_id in v2 only', () => {
    for (const name of ['phone_number', 'super_id', 'call_logging_id']) {
      expect(values(name, v2)).toHaveLength(v2.length);
      expect(values(name, v3)).toHaveLength(0);
    }
  });

  test('[R105] has twenty-one fields in v3 that v2 does not have under any name', () => {
    const added =
      'first_touch_title first_touch_domain landing_page last_touch_title last_touch_domain conversion_page ppc_status ppc_match_type ppc_campaign ppc_adgroup ppc_keywords ppc_ad_id ppc_gclid custom_id custom_value os os_version browser browser_version location_id call_duration pid'.split(
        ' ',
      );
    for (const name of added) {
      expect(values(name, v3)).toHaveLength(v3.length);
      expect(values(name, v2)).toHaveLength(0);
    }
  });
});

test('[R02] a sid identifies one call, the same in both versions', async () => {
  const { get } = await openWorld();
  const listed = (await get('/v3/user/bid-management?rows=60&q=inc_gce:1')).json() as Record_[];
  expect(new Set(listed.map(({ sid }) => sid)).size).toBe(60);
  for (const version of ['v2', 'v3'] as const) {
    const headers = version === 'v2' ? bearer : keys;
    const single = (
      await get(`/${version}/user/bid-management/${listed[7]?.sid}`, headers)
    ).json() as Record_;
    expect(single.date_added).toBe(listed[7]?.date_added);
  }
});
