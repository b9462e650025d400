import type { Call } from '@call-attribution/core';
import { earlier, lookbackOf } from './again.ts';
import { askedOf, filterOf } from './asked.ts';
import { PartRead } from './part-read.ts';
import { recheck } from './recheck.ts';
import { SeenRecords } from './seen-records.ts';
import { due, endOf, isFaulty, overlap, type Stretches, startOf, want } from './stretches.ts';
import type { SyncClient, SyncStep } from './sync-change.ts';
import type { SyncSettings } from './sync-options.ts';
import { checkState, type SyncPart, type SyncState, withoutCovered } from './sync-state.ts';

const nothing = {
  changes: [],
  gone: 0,
  skipped: 0,
  isRecheck: false,
  isLast: false,
  stage: 'counted',
} as const;

/** What the receiver of a sync does with records. */
export interface Receiver {
  /** It compares them itself, so all come as `new` and none are remembered. */
  readonly compares?: boolean;
  /** It does not take a call that was removed on purpose, and nothing of it is remembered. */
  readonly leavesOut?: (call: Call) => boolean;
}

/** Runs a sync step by step. A state holds only once the changes that came with it were handled. */
export async function* syncSteps(
  client: SyncClient,
  loaded: SyncState | null,
  options: SyncSettings,
  { compares = false, leavesOut = () => false }: Receiver = {},
): AsyncGenerator<SyncStep, void, void> {
  const state = loaded === null ? null : checkState(loaded);
  const memory = new SeenRecords(state, options, compares);
  const lookback = lookbackOf(client.version, options);
  const { own, wanted, others, dues } = planOf(client, state, options, lookback);
  let parts = [...(state?.parts ?? []).filter((part) => part !== own), wanted];
  const stateNow = (): SyncState => ({ version: 1, parts, ...memory.toState() });
  const run = { client, options, memory, lookback, compares, leavesOut, startedAt: options.clock.now() };
  // What another filter left that is not whole is read again too; what it left unread waits for that filter.
  const faults = others.map((part) => ({ part, list: part.stretches.filter(isFaulty) }));
  const work = [{ part: wanted, list: dues }, ...faults.filter(({ list }) => list.length > 0)];
  let pages = options.maxPages ?? Number.POSITIVE_INFINITY;
  let isCut = false;
  for (const { part, list } of work) {
    if (pages <= 0) break;
    const read = new PartRead(run, part, list, pages);
    let current = part;
    for await (const step of read.steps(list)) {
      parts = parts.map((one) => (one === current ? read.part : one));
      current = read.part;
      yield { ...nothing, ...step, state: stateNow() };
    }
    pages -= read.pages;
    isCut ||= read.isCut;
  }
  if (!isCut) {
    // What was read before and is not read again by its range.
    const isKept = keptBefore(own.stretches, dues);
    for await (const found of recheck(client, memory, { isIn: isKept, leavesOut }, options))
      yield { ...nothing, ...found, isRecheck: true, state: stateNow() };
  }
  parts = withoutCovered(parts);
  yield { ...nothing, isLast: true, state: stateNow() };
}

/** What a run works on: its own part of the copy, as it was and with what the run asks for, and what is due of it. */
function planOf(client: SyncClient, state: SyncState | null, options: SyncSettings, lookback: number) {
  const { version } = client;
  const { others: filter, range } = filterOf(options.filter, version);
  const known = state?.parts ?? [];
  const own: SyncPart = known.find((part) => part.filter === filter && part.version === version) ?? {
    ...{ version, filter },
    latest: null,
    stretches: [],
  };
  const asked = askedOf(range, options.period, own);
  const wanted = { ...own, stretches: want(own.stretches, asked) };
  const dues = due(wanted.stretches, { asked, againFrom: earlier(own.latest, lookback) });
  const others = known.filter((part) => part !== own && part.version === version);
  return { own, wanted, others, dues };
}

/** Says of a time whether its calls were read before, and are not read again by their range. */
function keptBefore(before: Stretches, dues: Stretches): (date: string) => boolean {
  const kept = before.filter(
    (stretch) => stretch.is === 'whole' && !dues.some((other) => overlap(stretch, other)),
  );
  return (date) => kept.some((stretch) => startOf(stretch) <= date && date < endOf(stretch));
}
