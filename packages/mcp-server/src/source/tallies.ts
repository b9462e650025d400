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
import type { Listed, Part } from './source.ts';

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

/** Most calls of a list that are held; whoever needs more exports them. */
const mostListed = 10_000;

/** What a list saves. */
export interface SavedList {
  readonly total: number;
  readonly others: number;
  readonly calls: readonly Listed[];
}

interface Entry extends Listed {
  readonly key: ReturnType<ReturnType<typeof selectCalls>['keyOf']>;
}

/** Collects the first calls of a list, in its order. */
export class ListTally implements Tally<SavedList> {
  readonly #selector: ReturnType<typeof selectCalls>;
  readonly #most: number;
  #first: Entry[] = [];
  /** Calls of the list. */
  total = 0;
  /** Calls that would be in it but for their channel. */
  others = 0;

  constructor(selection: CallSelection, { order, offset, limit }: Part, now: number) {
    this.#selector = selectCalls(selection, { order, now });
    if (this.#selector.needsSequence)
      throw new ToolError({ code: 'needs_mirror', what: 'A list by what other calls of a caller say' });
    this.#most = offset + limit;
    if (this.#most > mostListed) throw new ToolError({ code: 'long_list', most: mostListed });
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
    const last = this.#first.length < this.#most ? undefined : this.#first[this.#most - 1];
    if (last !== undefined && this.#selector.compare(key, last.key) >= 0) return;
    this.#first.push({ account, call: mask.whole(call), key });
    if (this.#first.length > 2 * this.#most + 100) this.#cut();
  }

  #cut(): void {
    this.#first.sort((a, b) => this.#selector.compare(a.key, b.key));
    this.#first.length = Math.min(this.#first.length, this.#most);
  }

  /** The calls from a place of the list on. */
  from(offset: number): readonly Listed[] {
    return this.#first.slice(offset);
  }

  save(): SavedList {
    return {
      total: this.total,
      others: this.others,
      calls: this.#first.map(({ account, call }) => ({ account, call })),
    };
  }

  merge({ total, others, calls }: SavedList): void {
    this.total += total;
    this.others += others;
    for (const { account, call } of calls)
      this.#first.push({ account, call, key: this.#selector.keyOf(call, account) });
    this.#cut();
  }
}
