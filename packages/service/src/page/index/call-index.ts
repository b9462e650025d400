import { phoneKey } from '@call-attribution/core/record';
import { type ColumnRow, everything } from '@call-attribution/store';
import { pageDimensions } from '../question.ts';
import { grown, StringTable } from './string-table.ts';

/** The fields that are read into memory: the caller, then the dimensions. */
export const indexedFields = ['ani', ...pageDimensions] as const;

/** Stands for no value. */
export const none = 0;
/** The time of a call without one: before all others, so that no period has it but that of all calls. */
export const noTime = everything.from;
/** The talk time of a call without one. */
export const noTalk = -1;

/**
 * The calls of an account in columns, in memory: when, how long, through what, and who. A row is a call; its number is that of
 * the call's key. A deleted call leaves its row empty.
 */
export class CallIndex {
  /** Keys of calls in the store. */
  readonly keys = new StringTable();
  /** Values of each dimension; the number in a column is one more than in here, 0 stands for no value. */
  readonly values = pageDimensions.map(() => new StringTable());
  /** Seconds since 1970 on the clock of the API. */
  at = new Float64Array(1024);
  /** Talk time in tenths of a minute. */
  talk = new Int32Array(1024);
  /** 1 for calls through call extensions. */
  extension = new Uint8Array(1024);
  /** By dimension, the number of the value. */
  columns = pageDimensions.map(() => new Uint32Array(1024));
  /** Rows in the order of time and key. */
  order = new Uint32Array(1024);
  /** How many of `order` are in use: the calls there are. */
  size = 0;

  readonly #callers = new StringTable();
  #caller = new Uint32Array(1024);
  /** By caller, the row of the first call plus 1. */
  #firstOf = new Uint32Array(1024);
  #isThere = new Uint8Array(1024);
  /** Rows that are not in the right place of `order`. */
  readonly #moved = new Set<number>();
  /** Callers whose first call has to be looked for. */
  readonly #unsure = new Set<number>();

  /** Bytes of memory, about. */
  get byteLength(): number {
    const arrays = [
      this.at,
      this.talk,
      this.extension,
      this.order,
      this.#caller,
      this.#firstOf,
      this.#isThere,
    ];
    const tables = [this.keys, this.#callers, ...this.values];
    return [...arrays, ...this.columns, ...tables].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Is this the first call of its caller? */
  isFirst(row: number): boolean {
    const caller = this.#caller[row] as number;
    return caller > none && this.#firstOf[caller - 1] === row + 1;
  }

  /** Adds a call, or replaces it. `settle` has to be called before the next question. */
  put({ key, at, tenths, extension, values }: ColumnRow): void {
    const row = this.keys.add(key);
    this.#growTo(row);
    const time = at ?? noTime;
    const [ani, ...dimensions] = values;
    const phone = phoneKey(ani);
    const caller = callerNumber.test(phone) ? this.#callers.add(phone) + 1 : none;
    const was = this.#caller[row] as number;
    const isNew = this.#isThere[row] === 0;
    if (isNew || this.at[row] !== time) this.#place(row, time, isNew);
    else if (was !== caller) this.#forget(row, was);
    this.at[row] = time;
    this.talk[row] = tenths ?? noTalk;
    this.extension[row] = extension ? 1 : 0;
    this.#caller[row] = caller;
    this.#isThere[row] = 1;
    for (const [i, column] of this.columns.entries()) {
      const value = dimensions[i];
      const text = value === null || value === undefined ? '' : String(value);
      column[row] = text === '' ? none : (this.values[i] as StringTable).add(text) + 1;
    }
    if (caller > none) this.#mayBeFirst(row, caller);
  }

  /** Takes a call out. */
  remove(key: string): void {
    const row = this.keys.find(key);
    if (row < 0 || this.#isThere[row] === 0) return;
    this.#isThere[row] = 0;
    this.#moved.add(row);
    this.#forget(row, this.#caller[row] as number);
  }

  /** Puts the order and the first calls right after changes. */
  settle(): void {
    if (this.#moved.size > 0) this.#sort();
    if (this.#unsure.size > 0) this.#findFirst();
  }

  /** The position in `order` of the first call at or after a time. */
  positionOf(time: number): number {
    let [low, high] = [0, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.at[this.order[middle] as number] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #growTo(row: number): void {
    if (row < this.at.length) return;
    this.at = grown(this.at);
    this.talk = grown(this.talk);
    this.extension = grown(this.extension);
    this.columns = this.columns.map((column) => grown(column));
    this.#caller = grown(this.#caller);
    this.#isThere = grown(this.#isThere);
    this.order = grown(this.order);
  }

  /** A call after all others is at its place; others are sorted in later. */
  #place(row: number, time: number, isNew: boolean): void {
    const last = this.order[this.size - 1];
    const isLast =
      isNew &&
      !this.#moved.has(row) &&
      (last === undefined || this.size === 0 || this.#isAfter(row, time, last));
    if (isLast) {
      this.order[this.size] = row;
      this.size += 1;
      return;
    }
    this.#moved.add(row);
    this.#forget(row, this.#caller[row] as number);
  }

  #isAfter(row: number, time: number, other: number): boolean {
    const its = this.at[other] as number;
    return time > its || (time === its && this.keys.compare(row, other) > 0);
  }

  #sort(): void {
    const late = [...this.#moved]
      .filter((row) => this.#isThere[row] === 1)
      .sort((a, b) => (this.#isAfter(a, this.at[a] as number, b) ? 1 : -1));
    const sorted = new Uint32Array(this.order.length);
    let size = 0;
    let next = 0;
    for (let i = 0; i < this.size; i += 1) {
      const row = this.order[i] as number;
      if (this.#moved.has(row)) continue;
      for (
        ;
        next < late.length &&
        !this.#isAfter(late[next] as number, this.at[late[next] as number] as number, row);
        next += 1
      )
        sorted[size++] = late[next] as number;
      sorted[size++] = row;
    }
    for (; next < late.length; next += 1) sorted[size++] = late[next] as number;
    this.order = sorted;
    this.size = size;
    this.#moved.clear();
  }

  /** The first call of a caller is the earliest by time and key; calls without a time come last. */
  #mayBeFirst(row: number, caller: number): void {
    if (caller > this.#firstOf.length) this.#firstOf = grown(this.#firstOf);
    const first = (this.#firstOf[caller - 1] as number) - 1;
    if (first < 0 || (first !== row && this.#isEarlier(row, first))) this.#firstOf[caller - 1] = row + 1;
  }

  #isEarlier(row: number, other: number): boolean {
    const [mine, its] = [row, other].map((each) => {
      const time = this.at[each] as number;
      return time === noTime ? Number.POSITIVE_INFINITY : time;
    }) as [number, number];
    return mine < its || (mine === its && this.keys.compare(row, other) < 0);
  }

  #forget(row: number, caller: number): void {
    if (caller === none || this.#firstOf[caller - 1] !== row + 1) return;
    this.#firstOf[caller - 1] = 0;
    this.#unsure.add(caller);
  }

  #findFirst(): void {
    for (let i = 0; i < this.size; i += 1) {
      const row = this.order[i] as number;
      const caller = this.#caller[row] as number;
      if (this.#unsure.has(caller)) this.#mayBeFirst(row, caller);
    }
    this.#unsure.clear();
  }
}

/** The same as in a warehouse: what is not a number, such as `Anonymous`, is not a caller. */
const callerNumber = /^\d{1,18}$/;
