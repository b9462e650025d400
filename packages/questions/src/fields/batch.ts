import { callerOf } from '@call-attribution/core/record';
import type { Numbering } from './numbering.ts';
import { tenthsOf, timeOf } from './wire-values.ts';

/**
 * Some fields of some calls, a column each, as `store.columns` gives them: in the order of their
 * times and ids.
 */
export interface ColumnBatch {
  /** The number of calls. */
  readonly length: number;
  /** The values of each field. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

/** Outcomes that belong to a call: how many, and their value in steps of `valueSteps` to 1. */
export interface Sold {
  readonly outcomes: number;
  readonly revenue: number;
}

/** Values are added in whole steps, so that sums are exact. */
export const valueSteps = 10_000;

/** An amount in steps, for people: `1,250.00`. */
export const amountText = (steps: number): string =>
  (steps / valueSteps).toLocaleString('en-US', {
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
/** What became of a call that nothing became of. */
export const nothingSold: Sold = { outcomes: 0, revenue: 0 };

/** What follows from the other calls of a caller in the account. */
export interface Sequence {
  /** Which call of the caller it is, from 1. */
  readonly nth: number;
  /** Milliseconds since the call before; null when there is none, or a time cannot be read. */
  readonly sincePrevious: number | null;
  /** The same until the call after it. */
  readonly untilNext: number | null;
  /** The same until the next call of the caller that was answered. */
  readonly untilAnswered: number | null;
  /**
   * The same until the last sync of the account, or, where that is not known, until its last call.
   */
  readonly untilEnd: number | null;
  /** What became of the call, in questions that measure it: how many outcomes, and their value. */
  readonly sold: Sold;
  /** A field of the first or the last call of the caller. */
  fieldOf(end: 'first' | 'last', field: string): unknown;
}

/** A call without a caller number. */
export const nobody = -1;

/**
 * What is known of some calls of an account: a list for everything that questions ask of all calls.
 */
export interface CallLists extends ColumnBatch {
  readonly account: string;
  /** `date_added` as it was sent, in naive milliseconds; NaN when it cannot be read. */
  readonly sentTimes: Float64Array;
  /** Tenths of minutes of talk, NaN without. */
  readonly talks: Float64Array;
  /** 1 for a call that came through a call extension of an ad. */
  readonly extensions: Uint8Array;
  /** The number of each caller among those that were met, or `nobody`. */
  readonly callers: Int32Array;
}

/** Reads the columns of some calls, and numbers their callers. */
export function readLists(
  { columns, length }: ColumnBatch,
  account: string,
  numbers: Numbering,
): CallLists {
  const { date_added: dates, talk_minutes: talked, is_extension: isExtension, ani } = columns;
  const sentTimes = new Float64Array(length);
  const talks = new Float64Array(length);
  const extensions = new Uint8Array(length);
  const callers = new Int32Array(length);
  for (let i = 0; i < length; i += 1) {
    sentTimes[i] = timeOf(dates?.[i]) ?? Number.NaN;
    talks[i] = tenthsOf(talked?.[i]) ?? Number.NaN;
    extensions[i] = Number(isExtension?.[i] === true);
    const key = callerOf({ ani: ani?.[i] });
    callers[i] = key === null ? nobody : numbers.of(key);
  }

  return { account, length, columns, sentTimes, talks, extensions, callers };
}

/** How times are moved into the zone of an answer; null when they are not. */
export type Shift = ((naive: number) => number) | null;

const orNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/** Calls, of which fields are read of the one at `at`. */
export class Batch {
  at = 0;
  readonly lists: CallLists;
  /** What follows from the other calls of the caller of the call, in questions that need it. */
  readonly sequences: Sequence | null;
  /** The times in the zone of the answer. */
  readonly times: Float64Array;

  /** See `Shift`. */
  constructor(
    lists: CallLists,
    shift: Shift,
    sequenceOf: (calls: Batch) => Sequence | null = () => null,
  ) {
    this.lists = lists;
    this.sequences = sequenceOf(this);
    const { sentTimes } = lists;
    this.times =
      shift === null
        ? sentTimes
        : sentTimes.map((time) => (Number.isNaN(time) ? time : shift(time)));
  }

  /** A field of the call. */
  value(name: string): unknown {
    return this.lists.columns[name]?.[this.at];
  }

  /** `date_added` as it was sent, null when it cannot be read. */
  get sentAt(): number | null {
    return orNull(this.lists.sentTimes[this.at]);
  }

  /** The same in the zone of the answer. */
  get time(): number | null {
    return orNull(this.times[this.at]);
  }

  /** Tenths of a minute of talk. */
  get talk(): number | null {
    return orNull(this.lists.talks[this.at]);
  }

  /** Came through a call extension of an ad. */
  get isExtension(): boolean {
    return this.lists.extensions[this.at] === 1;
  }

  /** The number of the caller, or `nobody`. */
  get caller(): number {
    return this.lists.callers[this.at] ?? nobody;
  }

  /** What follows from the other calls of the caller; null without a caller number. */
  get sequence(): Sequence | null {
    return this.caller === nobody ? null : this.sequences;
  }

  /**
   * Milliseconds from the first visit to the call. Null for call extensions, and where the visit is
   * not before the call.
   */
  get lag(): number | null {
    const { sentAt, isExtension } = this;
    const seen = isExtension ? null : timeOf(this.value('displayed_timestamp'));
    return sentAt === null || seen === null || seen > sentAt ? null : sentAt - seen;
  }
}
