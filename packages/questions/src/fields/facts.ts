import { isCallExtension } from '@call-attribution/core/record';
import { instantOf, minute, naiveAt } from '@call-attribution/core/time';
import { callerKey } from './caller-key.ts';
import { columnText, storedTime } from './wire-values.ts';

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
  /** What is known of the first call of the caller, in questions that ask for it. */
  readonly first: Readonly<Record<string, unknown>> | null;
  /** The same of the last call. */
  readonly last: Readonly<Record<string, unknown>> | null;
}

/** A naive time of a record in milliseconds; null for what is none. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === 'string' ? storedTime(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
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

/** Digits that a number holds exactly. */
const exactDigits = 15;

/** The caller of a call: its key, as a number where that holds it. Null without a number. */
function callerOf(ani: unknown): number | string | null {
  if (typeof ani === 'string') {
    const national = nationalNumber(ani);
    if (national !== 0) return 1e10 + national;
  }
  const key = callerKey(ani);
  return key === null || key.length > exactDigits ? key : Number(key);
}

/** A number of ten digits as most are written, alone or after `1` or `+1`; 0 for what is written in another way. */
function nationalNumber(text: string): number {
  const start = text.length - 10;
  if (start < 0 || start > 2) return 0;
  if (start === 1 && text.charCodeAt(0) !== one) return 0;
  if (start === 2 && (text.charCodeAt(0) !== plus || text.charCodeAt(1) !== one)) return 0;
  let number = 0;
  for (let i = start; i < text.length; i += 1) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9 || (i === start && digit < 2)) return 0;
    number = number * 10 + digit;
  }
  return number;
}

const [one, plus] = [49, 43];

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
  /** Tenths of a minute of talk. */
  talk: number | null = null;
  /** What follows from the other calls of the caller, in questions that need it. */
  sequence: Sequence | null = null;
  readonly #shift: ((naive: number) => number) | null;
  // Worked out once a call, since several measures and questions ask for it.
  #caller: number | string | null | undefined;

  constructor(shift: ((naive: number) => number) | null = null) {
    this.#shift = shift;
  }

  /** Looks at another call. */
  set(record: Readonly<Record<string, unknown>>, account: string): void {
    const { date_added: added, channel, talk_minutes: talk } = record;
    this.setKnown(record, account, {
      sentAt: timeOf(added),
      talk: tenthsOf(talk),
      isExtension: typeof channel === 'string' && isExtensionChannel(channel),
      caller: undefined,
    });
  }

  /** Looks at a call of which this is known. The caller is read of the record when it is not. */
  setKnown(
    record: Facts['record'],
    account: string,
    {
      sentAt,
      talk,
      isExtension,
      caller,
    }: Pick<Facts, 'sentAt' | 'talk' | 'isExtension'> & { readonly caller: Facts['caller'] | undefined },
  ): void {
    this.record = record;
    this.account = account;
    this.#caller = caller;
    this.sentAt = sentAt;
    this.time = sentAt === null || this.#shift === null ? sentAt : this.#shift(sentAt);
    this.talk = talk;
    this.isExtension = isExtension;
  }

  /** The key of the caller. */
  get caller(): number | string | null {
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
