import { hour } from '@call-attribution/core/time';
import { byBegin, type CopyStretch, isSame, knownIn, type Range } from '../proof.ts';
import { bounding, mayChange, type SyncSettings } from './plan.ts';
import { type FirstCount, merged, type Part } from './state.ts';

/** What was counted at the end of a pass. */
export interface Counts {
  /** Stretches that were counted, with what came of it. */
  readonly counted: readonly CopyStretch[];
  /** Those that were not. */
  readonly others: readonly CopyStretch[];
  /** It is the first pass of the run: what it finds missing is read again. */
  readonly isFirst: boolean;
  /** When, in milliseconds, and by which run. */
  readonly now: number;
  readonly run: number;
  /** What ends until then was counted. */
  readonly until: number;
}

/** What a copy has after the counts of a run, and what has to be read again. */
export function conclude(
  before: Part,
  { counted, others, isFirst, now, run, until }: Counts,
  { lookback, settle, maxPages }: Pick<SyncSettings, 'lookback' | 'settle' | 'maxPages'>,
): { readonly part: Part; readonly again: Range[] } {
  const { stretches, latest, firsts } = before;
  const again: Range[] = [];

  // Was it read by a run that did not come to its end, and neither read nor counted by this one?
  const isLeftBehind = (one: CopyStretch): boolean => one.at === null && one.run !== run;

  const judged = counted.map((one): CopyStretch => {
    const { why, again: wasAgain, ...rest } = one;
    const earlier = stretches.find((each) => isSame(each, one));
    const { read = now } = one;
    const isNew = earlier?.at === null;

    // What was read some time before the end of the run could see late calls for so much less
    // long. Nobody knows how long that is where one of the clocks was wrong.
    const elapsed = Math.abs(now - read);
    const ages = { settle, lookback: lookback + elapsed };
    const mayHaveChanged = mayChange(one, latest, ages);

    // What the server does not count now waits for a later count, and so does what is left of a
    // stretch that was cut.
    const isCut = one.counted === null && one.is === 'proved' && isLeftBehind(one);
    if (why === 'uncounted' || isCut) {
      if (isCut || (isLeftBehind(one) && mayHaveChanged)) again.push(one);
      const waits = { ...rest, is: 'proved', at: null, read: one.at ?? read } as const;
      return wasAgain ? { ...waits, again: true } : waits;
    }

    // Of what an earlier run has read, some was missing, or may have changed since: the count does
    // not tell. Runs that may not read it all leave changes to the next one.
    const isLeft = isNew && isLeftBehind(earlier);
    const isPart = isLeft && one.is !== 'proved' && why !== 'no_total';
    const isStale = isLeft && mayHaveChanged && elapsed > hour && maxPages === undefined;
    if (why !== earlier?.why || isPart || isStale) again.push(one);
    if (!isNew) return why === earlier?.why ? one : { ...one, at: now };
    const isAgain = mayChange({ ...rest, open: 0 }, latest, ages);
    return {
      ...rest,
      ...(why === undefined ? {} : { why }),
      at: now,
      ...(isAgain ? { again: true } : {}),
    };
  });

  const list = [...others, ...judged].sort(byBegin);

  // What the first answer counted and nothing has brought since. The next run that comes to its end
  // proves the contrary.
  const lacking = firsts.flatMap(({ lacks, ...first }): FirstCount<number>[] => {
    const left = first.total - knownIn(list, first);
    return left > 0 && (lacks === undefined || !isFirst) ? [{ ...first, lacks: left }] : [];
  });
  const part = {
    ...before,
    stretches: bounding(list, latest, until, { lookback, settle }),
    countedTo: until,
    firsts: lacking,
  };
  return { part, again: merged(again) };
}
