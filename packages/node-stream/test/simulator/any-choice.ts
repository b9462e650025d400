import type { Allowed, Splitting } from '../../src/reader/allowed.ts';
import type { Look, Step } from '../../src/reader/choose.ts';
import type { Facts } from '../../src/reader/facts.ts';
import type { Item, Limits } from '../../src/reader/list.ts';
import type { Dice } from './dice.ts';

type Choose = typeof import('../../src/reader/choose.ts');

/** A policy that knows nothing: it takes any of what is allowed, and cuts anywhere. */
export function anyChoice(dice: Dice): Pick<Choose, 'choose' | 'endOf' | 'mayAskAhead'> {
  /** A few places in a piece, near its items or far from them. */
  const placesIn = ({ range, items }: Splitting, step: number): number[] => {
    const { from, to } = range;
    const ats = items.map(({ at }) => at).filter(Number.isFinite);
    const first = from ?? Math.min(...ats) - dice.below(100) * step;
    const last = to ?? Math.max(...ats) + dice.below(100) * step;
    const places = Array.from({ length: 1 + dice.below(3) }, () =>
      dice.chance(0.5)
        ? dice.pick(ats) + (dice.below(5) - 2) * step
        : first + dice.roll() * (last - first),
    );
    const inside = [...places, first + step, last - step]
      .map((place) => Math.floor(place / step) * step)
      .filter((place) => (from === null || place > from) && (to === null || place < to))
      .sort((a, b) => a - b);
    return [...new Set(inside)];
  };

  const choose = <I extends Item>(
    { deliver, split, keep, next, again, pages }: Allowed<I>,
    _: Facts,
    { step }: Limits,
    look: Look | null = null,
  ): Step<I> => {
    const steps: Step<I>[] = [];
    if (deliver !== null) steps.push({ kind: 'deliver', found: deliver });
    if (keep !== null) steps.push({ kind: 'keep', keep });
    if (next !== null) steps.push({ kind: 'next', ...next });
    if (again) steps.push({ kind: 'again' });
    if (pages) steps.push({ kind: 'pages' });
    const places = split === null ? [] : placesIn(split, step);
    if (split !== null && places.length > 0) {
      const isShown = dice.chance(0.5);
      steps.push({
        kind: 'split',
        places,
        isShown,
        isPeel: false,
        density: null,
        total: split.total,
      });
      if (look === null)
        steps.push({ kind: 'look', page: dice.below(5), rows: Math.max(1, split.items.length) });
    }
    return dice.pick(steps);
  };

  return {
    choose,
    endOf: ({ from, to }, _, { step }) => {
      if (from === null || dice.chance(0.6)) return null;
      const end = from + (1 + dice.below(4000)) * step;
      return to === null || end < to ? end : null;
    },
    mayAskAhead: ({ open, asked }) => open < 5 && asked < 8 && dice.chance(0.7),
  };
}
