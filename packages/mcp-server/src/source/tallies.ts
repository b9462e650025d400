import type { Call } from '@call-attribution/core';
import {
  type CallSelection,
  createAnswer,
  type Question,
  type RunningAnswer,
  type SavedAnswer,
  selectCalls,
} from '@call-attribution/questions';
import type { MaskedCall, RecordMask } from '../privacy/mask-record.ts';
import { ToolError } from '../text/failures.ts';
import type { Found, Listed, ListKey, Part } from './source.ts';

/** What is made of calls that come in parts: it can be saved, and go on with what was saved. */
export interface Tally<Saved = unknown> {
  add(calls: readonly Call[], account: string, mask: RecordMask): void;
  save(): Saved;
  merge(saved: Saved): void;
}

/** Counts calls for a question. */
export class QuestionTally implements Tally<SavedAnswer> {
  readonly running: RunningAnswer;

  constructor(question: Question, now: number) {
    this.running = createAnswer(question, { now });
  }

  add(calls: readonly Call[], account: string, mask: RecordMask): void {
    for (const call of calls) this.running.add(mask.view(call), account);
  }

  save(): SavedAnswer {
    return this.running.save();
  }

  merge(saved: SavedAnswer): void {
    this.running.merge(saved);
  }
}

/** Most calls of a list that are held. */
const mostListed = 10_000;

/** What a list saves. */
export interface SavedList {
  readonly total: number;
  readonly others: number;
  readonly before: number;
  readonly calls: readonly Listed[];
}

interface Entry {
  readonly account: string;
  readonly key: ListKey;
  /** The call with masks, which are made only for calls that stay. */
  readonly masked: () => MaskedCall;
}

/** Collects the first calls of a list, in its order. */
export class ListTally implements Tally<SavedList> {
  readonly #selector: ReturnType<typeof selectCalls>;
  readonly #part: Part;
  readonly #most: number;
  #first: Entry[] = [];
  /** The key of the last of them when they were sorted: what comes after it is not in the part. */
  #last: ListKey | undefined;
  /** Calls of the list up to the key after which its part begins. */
  #before = 0;
  /** Calls of the list. */
  total = 0;
  /** Calls that would be in it but for their channel. */
  others = 0;

  constructor(selection: CallSelection, part: Part, now: number) {
    this.#selector = selectCalls(selection, { order: part.order, now });
    if (this.#selector.needsSequence)
      throw new ToolError({ code: 'needs_mirror', what: 'A list by what other calls of a caller say' });
    this.#part = part;
    this.#most = part.limit + (part.after === undefined ? part.offset : 0);
  }

  add(calls: readonly Call[], account: string, mask: RecordMask): void {
    for (const call of calls) {
      const view = mask.view(call);
      const judged = this.#selector.judge(view, account);
      if (judged === 'other') this.others += 1;
      if (judged === 'selected') this.#take(account, call, view, mask);
    }
    this.#cut();
  }

  #take(account: string, call: Call, view: MaskedCall, mask: RecordMask): void {
    this.total += 1;
    const key = this.#selector.keyOf(view, account);
    if (this.#part.after !== undefined && this.#selector.compare(key, this.#part.after) <= 0) {
      this.#before += 1;
      return;
    }
    if (this.#last !== undefined && this.#selector.compare(key, this.#last) >= 0) return;
    this.#first.push({ account, key, masked: () => mask.whole(call) });
    if (this.#first.length > 2 * this.#most + 100) this.#cut();
  }

  #cut(): void {
    this.#first.sort((a, b) => this.#selector.compare(a.key, b.key));
    this.#first.length = Math.min(this.#first.length, this.#most);
    this.#last = this.#first[this.#most - 1]?.key;
  }

  /** The part of the list. */
  found(): Pick<Found, 'calls' | 'first' | 'keyAt'> {
    const { after, offset, limit } = this.#part;
    const shown = after === undefined ? this.#first.slice(offset) : this.#first;
    const isFar = after !== undefined || offset + 2 * limit > mostListed;
    return {
      calls: shown.map(listed),
      first: (after === undefined ? offset : this.#before) + 1,
      ...(isFar ? { keyAt: (index) => shown[index]?.key } : {}),
    };
  }

  save(): SavedList {
    const { total, others } = this;
    return { total, others, before: this.#before, calls: this.#first.map(listed) };
  }

  merge({ total, others, before, calls }: SavedList): void {
    this.total += total;
    this.others += others;
    this.#before += before;
    for (const { account, call } of calls)
      this.#first.push({ account, key: this.#selector.keyOf(call, account), masked: () => call });
    this.#cut();
  }
}

const listed = ({ account, masked }: Entry): Listed => ({ account, call: masked() });
