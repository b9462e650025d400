import { test } from 'vitest';
import { describeVerdict } from '../src/next/proof.ts';
import { createCallStream } from '../src/next/read.ts';
import { byTime, FakeServer } from './fake-server.ts';

test('base', { timeout: 600000 }, async () => {
  const { rhythm, kinds, ends } = await import('/tmp/base/rhythms.mjs' as string);
  const go = async (name: string, records: any, behaviour: any, given: boolean) => {
    const server = new FakeServer(records, behaviour);
    const s = createCallStream(server, {
      rows: 1000,
      ...(given ? { filter: `date_added:[${ends.from} TO ${ends.to}}` } : {}),
    });
    const t = performance.now();
    const seen = new Set();
    let n = 0;
    try {
      for await (const p of s.pages())
        for (const c of p.items) {
          n++;
          seen.add(c.sid);
        }
      console.log(
        name,
        given,
        n,
        seen.size,
        server.requests.length,
        server.requests.filter((r) => r.rows === 1).length,
        Math.round(performance.now() - t),
        describeVerdict(await s.verdict).slice(0, 150),
      );
    } catch (e) {
      console.log(
        name,
        given,
        n,
        server.requests.length,
        String(e),
        (e as any).stack.split('\n').slice(1, 3).join('|'),
      );
    }
  };
  for (const kind of kinds) for (const given of [true, false]) await go(kind, rhythm(kind), {}, given);
  const r = rhythm('daily');
  for (const given of [true, false]) {
    await go('cap250', rhythm('even'), { clamp: (n: number) => Math.min(n, 250) }, given);
    await go('cap250 daily', r, { clamp: (n: number) => Math.min(n, 250) }, given);
    await go('newest', r, { order: (a: any, b: any) => byTime(b, a) }, given);
    await go(
      'mixed',
      r,
      { order: (a: any, b: any) => ([...a.sid].reverse().join('') < [...b.sid].reverse().join('') ? -1 : 1) },
      given,
    );
    await go('nototal', r, { hasNoTotal: true }, given);
    await go('huge', r, { after: (p: any) => ({ ...p, total: 999999999 }) }, given);
    await go(
      'one second',
      r.map((x: any, i: number) => (i < 3500 ? { ...x, date_added: '2026-01-15 10:00:00' } : x)),
      {},
      given,
    );
    await go(
      'all one second',
      r.slice(0, 3500).map((x: any) => ({ ...x, date_added: '2026-01-15 10:00:00' })),
      {},
      given,
    );
    await go('one page', r.slice(0, 900), {}, given);
    await go('empty', [], {}, given);
    await go(
      'doubled',
      r.flatMap((x: any, i: number) => (i === 5000 ? [x, { ...x, note: 'b' }] : [x])),
      {},
      given,
    );
  }
});
