import type { Numbering } from './numbering.ts';
import { callerKey, tenthsOf, timeOf } from './wire-values.ts';

/** Some fields of some calls, a column each, as `store.columns` gives them: in the order of their times and ids. */
export interface ColumnBatch {
  /** The number of calls. */
  readonly length: number;
  /** The values of each field. */
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
}

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
  /** The same until the last sync of the account, or, where that is not known, until its last call. */
  readonly untilEnd: number | null;
  /** A field of the first or the last call of the caller. */
  fieldOf(end: 'first' | 'last', field: string): unknown;
}

/** A call without a caller number. */
export const nobody = -1;

const orNull = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : value;

/**
 * Some calls of an account, a list for everything that questions ask of all calls. Fields are read of the call at `at`; the same object is
 * filled with other calls again and again.
 */
export class Batch {
  length = 0;
  at = 0;
  account = '';
  columns: ColumnBatch['columns'] = {};
  /** `date_added` as it was sent, in naive milliseconds; NaN when it cannot be read. */
  sentTimes = new Float64Array(0);
  /** The same in the zone of the answer. */
  times = new Float64Array(0);
  /** Tenths of minutes of talk, NaN without. */
  talks = new Float64Array(0);
  /** 1 for a call that came through a call extension of an ad. */
  extensions = new Uint8Array(0);
  /** The number of each caller among those that were met, or `nobody`. Only filled where a question asks for it. */
  callers = new Int32Array(0);
  /** What follows from the other calls of the caller of the call, in questions that need it. */
  sequences: Sequence | null = null;
  readonly shift: ((naive: number) => number) | null;
  readonly #numbers: Numbering | null;

  /** Times are moved by `shift`; callers are only looked at where they are numbered. */
  constructor(shift: ((naive: number) => number) | null = null, numbers: Numbering | null = null) {
    this.shift = shift;
    this.#numbers = numbers;
  }

  /** Looks at other calls. */
  fill({ columns, length }: ColumnBatch, account: string): void {
    this.columns = columns;
    this.length = length;
    this.account = account;
    this.sentTimes = new Float64Array(length);
    this.talks = new Float64Array(length);
    this.extensions = new Uint8Array(length);
    this.callers = new Int32Array(length);
    const { date_added: dates, talk_minutes: talks, is_extension: extensions, ani } = columns;
    for (let i = 0; i < length; i += 1) {
      this.sentTimes[i] = timeOf(dates?.[i]) ?? Number.NaN;
      this.talks[i] = tenthsOf(talks?.[i]) ?? Number.NaN;
      this.extensions[i] = Number(extensions?.[i] === true);
      const key = this.#numbers === null ? null : callerKey(ani?.[i]);
      this.callers[i] = key === null ? nobody : (this.#numbers?.of(key) ?? nobody);
    }
    this.move();
  }

  /** Works out the times in the zone of the answer. */
  move(): void {
    const { shift } = this;
    this.times =
      shift === null
        ? this.sentTimes
        : this.sentTimes.map((time) => (Number.isNaN(time) ? time : shift(time)));
  }

  /** A field of the call. */
  value(name: string): unknown {
    return this.columns[name]?.[this.at];
  }

  /** `date_added` as it was sent, null when it cannot be read. */
  get sentAt(): number | null {
    return orNull(this.sentTimes[this.at]);
  }

  /** The same in the zone of the answer. */
  get time(): number | null {
    return orNull(this.times[this.at]);
  }

  /** Tenths of a minute of talk. */
  get talk(): number | null {
    return orNull(this.talks[this.at]);
  }

  /** Came through a call extension of an ad. */
  get isExtension(): boolean {
    return this.extensions[this.at] === 1;
  }

  /** The number of the caller, or `nobody`. */
  get caller(): number {
    return this.callers[this.at] ?? nobody;
  }

  /** What follows from the other calls of the caller; null without a caller number. */
  get sequence(): Sequence | null {
    return this.caller === nobody ? null : this.sequences;
  }

  /** Milliseconds from the first visit to the call. Null for call extensions, and where the visit is not before the call. */
  get lag(): number | null {
    const { sentAt, isExtension } = this;
    const seen = isExtension ? null : timeOf(this.value('displayed_timestamp'));
    return sentAt === null || seen === null || seen > sentAt ? null : sentAt - seen;
  }
}
