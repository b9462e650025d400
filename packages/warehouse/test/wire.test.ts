import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '@call-attribution/core';
import { expect, test } from 'vitest';
import { makeCalls } from '../../core/src/testing/make-calls.ts';
import { openWarehouse } from '../src/warehouse.ts';

test('x', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'w-'));
  const w = await openWarehouse(join(dir, 'c.duckdb'));
  const calls = makeCalls(3000) as Call[];
  const odd = {
    ...calls[0],
    sid: 'odd',
    talk_minutes: '1.50',
    call_duration: '007',
    first_name: 'a\u0000b\nc\r\n"\\',
    last_name: '\ud800x',
    city: '',
    state: null,
    new_field: { a: ['\udc00', '\\ud800', 1.5] },
    ['__proto__x']: 1,
    talk_start: '2024-02-31 00:00:00.0',
    zipcode: undefined,
    pool_id: '7',
    rank: 3,
    vt_param1: 'x'.repeat(1e6),
    vt_param2: '\ufeffbom',
    os: 'null',
    browser: 'NULL',
    custom_id: 'Straße 😀 \u2028',
  } as unknown as Call;
  const sink = w.sink('main');
  await sink.load();
  const state = { version: 1, query: 'q', watermark: null, seen: [], pending: [], run: null } as const;
  await sink.commit({ calls: [...calls, odd], state });
  const back = new Map<string, Call>();
  for await (const call of w.calls()) back.set(String(call.sid), call);
  expect(back.size).toBe(3001);
  for (const c of calls) expect(back.get(c.sid)).toEqual(c);
  expect(back.get('odd')).toEqual(JSON.parse(JSON.stringify(odd)));
  console.log(
    await w.raw('select caller_type, count(*) from calls group by all'),
    await w.raw(
      'select click_id, click_kind, weekday, lag_minutes, missed, week, month, activity_type from calls limit 3',
    ),
  );
  await w.close();
  rmSync(dir, { recursive: true });
});
