import { formatNaive } from '@call-attribution/core/time';
import { describe, expect, test } from 'vitest';
import { generatedAccounts } from '../src/generate/generate.ts';
import { createLiveClock } from '../src/live/live-clock.ts';
import { createSchedule, type Happening } from '../src/live/schedule.ts';

function begin(callsPerMinute = 12, records = 500) {
  const [source] = generatedAccounts({ records, days: 3 });
  if (!source) throw new Error('no account');
  const schedule = createSchedule(source, callsPerMinute);
  for (let i = 0; i < records; i++) schedule.watch(i, source.at(i, source.to));
  return { source, schedule };
}

describe('a schedule', () => {
  test('it adds calls at the given rate', () => {
    const { source, schedule } = begin(12);
    const { arrived } = schedule.advance(source.to + 3600);
    expect(arrived.length).toBeGreaterThan(600);
    expect(arrived.length).toBeLessThan(840);
    const known = new Set([...source.calls()].map((call) => call.sid));
    expect(arrived.some((call) => known.has(call.sid))).toBe(false);
    expect(new Set(arrived.map((call) => call.sid)).size).toBe(arrived.length);
  });

  test('it adds a call when it is over, so that some appear after others that began later', () => {
    const { source, schedule } = begin(12);
    const times = schedule.advance(source.to + 3600).arrived.map((call) => call.date_added);
    expect((times.at(-1) as string) < formatNaive((source.to + 3600) * 1000)).toBe(true);
    expect(times).not.toEqual([...times].sort());
  });

  test('it adds the same calls in many small steps and in one', () => {
    const one = begin();
    const many = begin();
    const whole = one.schedule.advance(one.source.to + 1800);
    const parts: Happening[] = [];
    for (let at = 60; at <= 1800; at += 60) parts.push(many.schedule.advance(many.source.to + at));
    const sids = (list: readonly Happening[]) =>
      list.flatMap((part) => part.arrived.map((call) => call.sid));
    expect(sids(parts)).toEqual(sids([whole]));
  });

  test('it changes the ad data of old and new calls, and nothing else of them', () => {
    const { source, schedule } = begin(2);
    const stored = new Map([...source.calls()].map((call) => [call.sid, call]));
    let changes = 0;
    for (let hour = 1; hour <= 48; hour++) {
      const { arrived, changed } = schedule.advance(source.to + hour * 3600);
      for (const call of changed) {
        const before = stored.get(call.sid);
        expect(before?.date_added).toBe(call.date_added);
        expect(before?.ppc_status).not.toBe(call.ppc_status);
        changes += 1;
      }
      for (const call of [...arrived, ...changed]) stored.set(call.sid, call);
    }

    expect(changes).toBeGreaterThan(1000);
  });
});

describe('the live clock', () => {
  test('it reports when storing fails, and continues', async () => {
    const { source, schedule } = begin(600);
    const errors: unknown[] = [];
    let now = 0;
    const clock = createLiveClock(
      [schedule],
      source.to,
      () => Promise.reject(new Error('disk full')),
      {
        clock: { now: () => (now += 10_000) },
        tick: 1,
        onError: (error) => errors.push(error),
      },
    );
    clock.start();
    while (errors.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    await clock.close();
    expect(String(errors[0])).toBe('Error: disk full');
  });
});
