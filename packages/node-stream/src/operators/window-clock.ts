import { propertyOf } from '@call-attribution/core/errors';
import { defineOptions, type OptionsOf, option, type ReadOf } from '@call-attribution/core/options';
import { parseNaive } from '@call-attribution/core/time';
import { ItemError } from '../errors.ts';
import { reading } from '../option-kinds.ts';
import type { StepContext } from './forms.ts';
import { type Reading, reader } from './measures.ts';

/** The options about time that all windows have. */
export const timeOptions = <T>() =>
  defineOptions({
    /**
     * How long a window stays open for late items after its end has passed. A stream of calls says itself how far time has come. For
     * other sources it is the latest item seen; without `lateness`, all their windows close at the end.
     */
    lateness: option.duration(),
    /** What happens to an item whose window has closed: `fail` (default), `drop`, or a function that takes the item. */
    onLate: option.oneOf('fail', 'drop').or(option.callback<(item: NoInfer<T>) => void>()).default('fail'),
    /** What happens to an item without a time that can be read: `fail` (default), `drop`, or a function that takes the item. */
    onInvalid: option.oneOf('fail', 'drop').or(option.callback<(item: NoInfer<T>) => void>()).default('fail'),
    /** The naive time of an item. Default: `date_added`. */
    time: reading<Reading<NoInfer<T>>>().default('date_added' as Reading<T>),
  });

/** The options about time that all windows have. */
export interface TimeOptions<T> extends OptionsOf<typeof timeOptions<T>> {}

/** What is kept of time. */
export interface ClockState {
  /** Everything before this is closed; null before the first time is known. */
  readonly closed: number | null;
}

/** What windows know about time. */
export class WindowClock<T> {
  readonly #options: ReadOf<typeof timeOptions<T>>;

  constructor(options: ReadOf<typeof timeOptions<T>>) {
    this.#options = options;
  }

  /** What decides about the windows. */
  get settings() {
    const { lateness = null, time } = this.#options;
    return { lateness, time: typeof time === 'string' ? time : null };
  }

  /** The clock of one run. */
  begin(state: ClockState | null, { hasTime }: Pick<StepContext, 'hasTime'>): RunningClock<T> {
    const { lateness = null, onLate, onInvalid, time } = this.#options;
    const read = reader<T>(time);
    let closed = state?.closed ?? Number.NEGATIVE_INFINITY;
    return {
      get closed() {
        return closed;
      },
      timeOf(item) {
        const at = parseNaive(read(item));
        if (!Number.isNaN(at)) return at;
        if (onInvalid === 'fail') throw noTime(item);
        if (onInvalid !== 'drop') onInvalid(item);
        return null;
      },
      seen(at) {
        if (hasTime || lateness === null || at - lateness <= closed) return false;
        closed = at - lateness;
        return true;
      },
      passed(before) {
        closed = Math.max(closed, parseNaive(before) - (lateness ?? 0));
      },
      end() {
        closed = Number.POSITIVE_INFINITY;
      },
      late(item) {
        if (onLate === 'fail') throw tooLate(item);
        if (onLate !== 'drop') onLate(item);
      },
      save: () => ({ closed: Number.isFinite(closed) ? closed : null }),
    };
  }
}

/** How far time has come in one run. */
export interface RunningClock<T> {
  /** Windows that end here or before are closed. */
  readonly closed: number;
  /** The time of an item; null for one without a time that was dropped. */
  timeOf(item: T): number | null;
  /** An item of this time has come. Returns whether that closes more. */
  seen(at: number): boolean;
  /** The source says that all items from before this time have come. */
  passed(before: string): void;
  end(): void;
  /** An item came after its window had closed. */
  late(item: T): void;
  save(): ClockState;
}

function tooLate(item: unknown): ItemError {
  return new ItemError(
    'late_item',
    `${nameOf(item)} arrived after its window had closed; raise lateness, or set onLate to 'drop' or a function`,
  );
}

function noTime(item: unknown): ItemError {
  return new ItemError(
    'unfit_value',
    `the time of ${nameOf(item)} cannot be read; expected YYYY-MM-DD HH:MM:SS`,
  );
}

function nameOf(item: unknown): string {
  const sid = propertyOf(item, 'sid');
  return typeof sid === 'string' ? `call ${sid}` : 'an item';
}
