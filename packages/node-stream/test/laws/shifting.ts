import { Tally } from '@call-attribution/test-tools/drill';
import fc from 'fast-check';
import { expect } from 'vitest';
import { type CallStreamOptions, createCallStream } from '../../src/read.ts';
import type { Proof } from '../../src/verdict.ts';
import {
  byTime,
  type FakeBehaviour,
  type FakeRecord,
  FakeServer,
  fakeRecords,
} from '../fake-server.ts';
import { diceOf } from '../simulator/dice.ts';

const day = '2026-03-01';
const at = (seconds: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + seconds * 1000)
    .toISOString()
    .slice(0, 19)
    .replace('T', ' ');

const scramble = ({ sid }: FakeRecord) =>
  [...sid].reduce((sum, char) => (sum * 31 + char.charCodeAt(0)) % 9973, 7);
const orders: Record<string, NonNullable<FakeBehaviour['order']>> = {
  oldest: byTime,
  newest: (a, b) => byTime(b, a),
  arrival: (a, b) => a.sid.localeCompare(b.sid),
  scattered: (a, b) => scramble(a) - scramble(b) || a.sid.localeCompare(b.sid),
};

type Move = 'insert' | 'remove' | 'swap' | 'update';

/**
 * A server whose records move while it is read, with what any honest reading must and may bring.
 */
function shifting(plan: {
  seed: number;
  count: number;
  span: number;
  rate: number;
  moves: readonly Move[];
  order: string;
}) {
  const roll = diceOf(plan.seed).roll;
  const pick = (count: number) => Math.floor(roll() * count);
  const initial = fakeRecords(plan.count, () => pick(plan.span + 1), `${day} 00:00:00`);
  const must = new Set(initial.map(({ sid }) => sid));
  const may = new Set(must);
  let fresh = 0;

  const insert = (server: FakeServer) => {
    const last = server.records.at(-1)?.date_added ?? at(0);
    const end =
      (Date.parse(`${last.replace(' ', 'T')}Z`) - Date.parse(`${day}T00:00:00Z`)) / 1000 + 60;
    const place = [0, end, pick(end + 1)][pick(3)] as number;
    const sid = `${['a', 'n', 'z'][pick(3)]}${fresh++}`;
    may.add(sid);
    server.records = [...server.records, { sid, date_added: at(place) }].sort(byTime);
  };

  const remove = (server: FakeServer) => {
    if (server.records.length === 0) return;
    const index = [0, server.records.length - 1, pick(server.records.length)][pick(3)] as number;
    const [gone] = server.records.splice(index, 1);
    must.delete((gone as FakeRecord).sid);
  };

  const update = (server: FakeServer) => {
    const index = pick(server.records.length);
    const record = server.records[index];
    if (record !== undefined) server.records[index] = { ...record, note: `n${fresh++}` };
  };

  const before = (_: unknown, server: FakeServer) => {
    while (plan.moves.length > 0 && roll() < plan.rate) {
      const move = plan.moves[pick(plan.moves.length)] as Move;
      if (move === 'insert' || move === 'swap') insert(server);
      if (move === 'remove' || move === 'swap') remove(server);
      if (move === 'update') update(server);
    }
  };

  return {
    initial,
    must,
    may,
    before,
    order: orders[plan.order] as NonNullable<FakeBehaviour['order']>,
    roll,
  };
}

async function deliver(
  server: FakeServer,
  options: CallStreamOptions,
): Promise<{ sids: string[]; error: unknown; proof: Proof }> {
  const stream = createCallStream(server, options);
  const sids: string[] = [];
  try {
    for await (const call of stream) sids.push(call.sid);
    return { sids, error: null, proof: stream.verdict().proof };
  } catch (error) {
    return { sids, error, proof: 'unproven' };
  }
}

const plans = {
  seed: fc.integer(),
  count: fc.integer({ min: 0, max: 300 }),
  rate: fc.double({ min: 0, max: 0.6, noNaN: true }),
  order: fc.constantFrom(...Object.keys(orders)),
  prefetch: fc.integer({ min: 1, max: 9 }),
};

/**
 * Reads lists that move in any way, in slices of one page: each record comes once, and none that
 * stayed is missing.
 */
export async function readsMovingLists(numRuns: number, tally = new Tally()): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        ...plans,
        rows: fc.integer({ min: 12, max: 60 }),
        clamp: fc.option(fc.integer({ min: 10, max: 40 })),
      }),
      ({ rows, prefetch, clamp, ...plan }) =>
        tally.run(async () => {
          // At most one call a second on average keeps a second below a page, so that every slice
          // fits one answer.
          const world = shifting({
            ...plan,
            span: 120,
            moves: ['insert', 'remove', 'swap', 'update'],
          });
          const server = new FakeServer(world.initial, {
            before: world.before,
            order: world.order,
            ...(clamp === null ? {} : { clamp: (asked: number) => Math.min(asked, clamp) }),
          });
          const { sids, error } = await deliver(server, { rows, prefetch });
          expect(error).toBeNull();
          tally.compare(world.must, sids, world.may);
          expect(new Set(sids).size).toBe(sids.length);
          expect([...world.must].filter((sid) => !sids.includes(sid))).toEqual([]);
          expect(sids.filter((sid) => !world.may.has(sid))).toEqual([]);
        }),
    ),
    { numRuns },
  );
}

/**
 * Reads lists that move in one way, with seconds of several pages: each record once, and none is
 * missing of a read that is whole.
 */
export async function readsMovingPages(numRuns: number, tally = new Tally()): Promise<void> {
  let whole = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        ...plans,
        rows: fc.integer({ min: 1, max: 40 }),
        move: fc.constantFrom<Move>('insert', 'remove', 'update'),
        span: fc.constantFrom(0, 1, 30),
      }),
      ({ rows, prefetch, move, ...plan }) =>
        tally.run(async () => {
          const world = shifting({ ...plan, rate: plan.rate / 4, moves: [move] });
          const server = new FakeServer(world.initial, {
            before: world.before,
            order: world.order,
          });
          const { sids, error, proof } = await deliver(server, { rows, prefetch });
          expect(error).toBeNull();
          expect(sids.filter((sid) => !world.may.has(sid))).toEqual([]);
          expect(new Set(sids).size).toBe(sids.length);
          if (proof !== 'whole') return;
          whole += 1;
          tally.compare(world.must, sids, world.may);
          expect([...world.must].filter((sid) => !sids.includes(sid))).toEqual([]);
        }),
    ),
    { numRuns },
  );
  expect(whole).toBeGreaterThan(numRuns / 3);
}
