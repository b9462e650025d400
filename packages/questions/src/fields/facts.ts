import { isCallExtension } from '@call-attribution/core/record';
import { day, instantOf, minute, naiveAt, parseNaive } from '@call-attribution/core/time';
import { callerKey } from './caller-key.ts';
import { columnText, isStoredTime } from './wire-values.ts';

/** What follows from the other calls of a caller in the account. */
export interface Sequence {
  /** Which call of the caller it is, from 1. */
  readonly nth: number;
  /** Milliseconds since the call before; null when there is none, or a time cannot be read. */
  readonly sincePrevious: number | null;
  /** The same until the call after it. */
  readonly untilNext: number | null;
}

/** A naive time of a record in milliseconds; null for what is none. */
export function timeOf(value: unknown): number | null {
  return typeof value === 'string' && isStoredTime(value) ? parseNaive(value) : null;
}

const most = 200_000;

/** Remembers what a function makes of a text, for values that come again and again. */
function remembered<V>(make: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined || known.has(text)) return found as V;
    const made = make(text);
    if (known.size >= most) known.clear();
    known.set(text, made);
    return made;
  };
}

const keyOfText = remembered(callerKey);

/** The caller of a call, null without a number. */
export const callerOf = (ani: unknown): string | null =>
  typeof ani === 'string' ? keyOfText(ani) : callerKey(ani);

const tenthsOfText = remembered((text) => {
  const column = columnText('decimal-string', text);
  return column === null ? null : Math.round(Number(column) * 10);
});

/** A number of tenths, null for what cannot be read as one. */
function tenthsOf(value: unknown): number | null {
  if (typeof value === 'string') return tenthsOfText(value);
  const column = columnText('decimal-string', value);
  return column === null ? null : Math.round(Number(column) * 10);
}

const isExtensionChannel = remembered((channel) => isCallExtension({ channel }));

/** Times of the records as they are shown in another zone. */
export function zoneShift(timeZone: string, inZone: string): (naive: number) => number {
  const shown = (naive: number): number => naiveAt(instantOf(naive, timeZone).epochMs, inZone);
  // Between two clock changes the shift is the same, and no zone changes its clocks twice within a quarter of an hour.
  const block = 15 * minute;
  const shifts = new Map<number, number>();
  return (naive) => {
    const at = Math.floor(naive / block);
    const known = shifts.get(at);
    if (known !== undefined) return Number.isNaN(known) ? shown(naive) : naive + known;
    const [start, end] = [at * block, (at + 1) * block - 1];
    const shift = shown(start) - start;
    if (shifts.size >= most) shifts.clear();
    shifts.set(at, shift === shown(end) - end ? shift : Number.NaN);
    return shown(naive);
  };
}

/** One call with what questions ask of it. The same object is set to one call after the other. */
export class Facts {
  /** The record. */
  record: Readonly<Record<string, unknown>> = {};
  /** The account that it was counted for. */
  account = '';
  /** `date_added` as it was sent, null when it cannot be read. */
  sentAt: number | null = null;
  /** The same in the zone of the answer. */
  time: number | null = null;
  /** Came through a call extension of an ad. */
  isExtension = false;
  /** What follows from the other calls of the caller, in questions that need it. */
  sequence: Sequence | null = null;
  readonly #shift: ((naive: number) => number) | null;
  // Worked out once a call, since several measures and questions ask for it.
  #talk: number | null | undefined;
  #caller: string | null | undefined;

  constructor(shift: ((naive: number) => number) | null = null) {
    this.#shift = shift;
  }

  /** Looks at another call. */
  set(record: Readonly<Record<string, unknown>>, account: string): void {
    this.record = record;
    this.account = account;
    this.#talk = undefined;
    this.#caller = undefined;
    const { date_added: added, channel } = record;
    this.sentAt = timeOf(added);
    this.time = this.sentAt === null || this.#shift === null ? this.sentAt : this.#shift(this.sentAt);
    this.isExtension = typeof channel === 'string' && isExtensionChannel(channel);
  }

  /** Tenths of a minute of talk. */
  get talk(): number | null {
    if (this.#talk === undefined) this.#talk = tenthsOf(this.record.talk_minutes);
    return this.#talk;
  }

  /** The key of the caller. */
  get caller(): string | null {
    if (this.#caller === undefined) this.#caller = callerOf(this.record.ani);
    return this.#caller;
  }

  /** Milliseconds from the first visit to the call. Null for call extensions, and where the visit is not before the call. */
  get lag(): number | null {
    if (this.isExtension || this.sentAt === null) return null;
    const seen = timeOf(this.record.displayed_timestamp);
    if (seen === null || seen > this.sentAt) return null;
    return this.sentAt - seen;
  }
}

const zeroDay = Date.parse('0001-01-01T00:00:00Z');

/** Days from Monday, the 1st of January of the year 1: no division of such a number rounds a negative one. */
export const dayNumber = (millis: number): number => Math.floor((millis - zeroDay) / day);

/** Where a day begins. */
export const startOfDay = (number: number): number => zeroDay + number * day;
