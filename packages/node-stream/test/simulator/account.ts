import { setImmediate as nextRound } from 'node:timers/promises';
import type { ListQuery, RawPage } from '@call-attribution/core';
import { parseNaive } from '@call-attribution/core/time';
import { type Filter, matcher } from '@call-attribution/query-dsl';
import type { PageClient } from '../../src/call-source.ts';
import { type PageQuery, rawPage } from '../fake-server.ts';
import type { Dice } from './dice.ts';

export const second = 1000;
export const hour = 3600 * second;
export const day = 24 * hour;

/** When the first run begins. */
export const begin = Date.UTC(2026, 2, 1);

export const naive = (at: number): string =>
  new Date(at).toISOString().slice(0, 19).replace('T', ' ');

/** A call of the account, as the server keeps it. */
export interface KeptCall {
  readonly sid: string;
  /** When it was made. The server shows whole seconds of it. */
  readonly instant: number;
  readonly talk: number;
  readonly isOpen: boolean;
  /** How often it has changed, and when it did so last. */
  readonly changes: number;
  readonly changedAt: number;
  /** Since when the server has it: later than it was made, where it came late. */
  readonly since: number;
}

/** What came of a copy, or of an export by month, that was filled again and again. */
export interface Life {
  /** Runs, those of them that died, and those that called it whole. */
  readonly runs: number;
  readonly deaths: number;
  readonly whole: number;
  /** Calls that were compared with those of the server. */
  readonly compared: number;
  /** What went wrong; empty for sound code. */
  readonly violations: readonly string[];
}

/** How the server of an account behaves, always in the same way: it is honest. */
export interface AccountTraits {
  readonly version: 'v2' | 'v3';
  readonly order: 'oldest' | 'newest' | 'scattered';
  /** Rows it gives at most. */
  readonly cap: number;
  /**
   * `none`: calls have whole seconds. `shown`: a range is compared with what is shown of a time.
   * `kept`: with what the server keeps, so that an end leaves out the rest of its second.
   */
  readonly fractions: 'none' | 'shown' | 'kept';
  /** Takes `}` for `]`. */
  readonly isClosed: boolean;
}

/** A request that nobody will answer any more: the process is dead. */
export class Killed extends Error {}

/** More requests than any honest account may take. */
export class Endless extends Error {}

/**
 * An account and its server: time goes on with each request, calls are made, come late and change.
 */
export class Account implements PageClient {
  readonly traits: AccountTraits;
  readonly #dice: Dice;
  readonly #byTime = new Map<string, KeptCall>();
  #sorted: readonly KeptCall[] | null = null;
  #serial = 0;
  /** The right time. */
  now: number;
  /** How often something happens while it is asked, as part of all requests. */
  unrest = 0;
  /** Age up to which calls change. */
  changing = 0;
  /** Requests that are answered before the process that asks is dead. */
  answers = Number.POSITIVE_INFINITY;
  /** Requests since it was reset. */
  requests = 0;

  constructor(traits: AccountTraits, dice: Dice, now: number) {
    this.traits = traits;
    this.#dice = dice;
    this.now = now;
  }

  get version(): 'v2' | 'v3' {
    return this.traits.version;
  }

  get calls(): readonly KeptCall[] {
    return [...this.#byTime.values()];
  }

  /** Adds a call that was made then; the server has it from now on. */
  add(instant: number): void {
    const { fractions, version } = this.traits;
    const part = fractions === 'none' ? 0 : this.#dice.pick([0, 100, 500, 999]);
    const sid = `${'anz'[this.#dice.below(3)]}${this.#serial++}`;
    this.#put({
      sid,
      instant: Math.floor(instant / second) * second + part,
      talk: this.#dice.below(4),
      isOpen: version === 'v3' && this.#dice.chance(0.1),
      changes: 0,
      changedAt: this.now,
      since: this.now,
    });
  }

  /** The contents of a call change. */
  change(call: KeptCall): void {
    const isOpen = call.isOpen && this.#dice.chance(0.7);
    this.#put({ ...call, isOpen, changes: call.changes + 1, changedAt: this.now });
  }

  #put(call: KeptCall): void {
    this.#byTime.set(call.sid, call);
    this.#sorted = null;
  }

  /** Whether a filter takes a call, as this server reads it. */
  matching({ clauses }: Filter): (call: KeptCall) => boolean {
    const others = clauses.filter(({ field }) => field !== 'date_added');
    const takes = matcher({ clauses: others });
    const range = clauses.find(({ field }) => field === 'date_added');
    const { lower, upper } = range?.kind === 'range' ? range : { lower: null, upper: null };
    const from = lower === null ? Number.NEGATIVE_INFINITY : parseNaive(lower.text);
    const to = upper === null ? Number.POSITIVE_INFINITY : parseNaive(upper.text);
    const hasBegin = lower?.inclusive !== false;
    const hasEnd = upper?.inclusive !== false || this.traits.isClosed;
    return (call) => {
      const at = this.traits.fractions === 'kept' ? call.instant : shownTime(call);
      if (at < from || at > to) return false;
      if ((at === from && !hasBegin) || (at === to && !hasEnd)) return false;
      return others.length === 0 || takes(this.shown(call));
    };
  }

  /** A call as the server gives it. */
  shown({ sid, instant, talk, isOpen, changes }: KeptCall) {
    return {
      sid,
      acct_id: '101',
      date_added: naive(instant),
      talk_minutes: `${talk}.0`,
      ...(this.version === 'v3'
        ? { ppc_status: isOpen ? 'Waiting For Keyword' : 'Processed' }
        : {}),
      ppc_campaign: String(changes),
    };
  }

  async fetchPage(query: ListQuery = {}): Promise<RawPage> {
    const { filter, rows, page, signal } = query as unknown as PageQuery;
    signal.throwIfAborted();
    this.requests += 1;
    if (this.requests > 20_000) throw new Endless('asked without end');
    const isLast = this.requests > this.answers;

    // Answers arrive in any order.
    for (let round = this.#dice.below(4); round > 0; round -= 1) await nextRound();
    signal.throwIfAborted();
    if (isLast) throw new Killed('killed');
    this.#tick();
    const all = this.#list().filter(this.matching(filter));
    const count = Math.min(rows, this.traits.cap);
    const records = all.slice(page * count, (page + 1) * count).map((call) => this.shown(call));
    return rawPage({ records, first: page * count + 1, total: all.length });
  }

  /** A request takes a while, in which things happen. */
  #tick(): void {
    this.now += this.#dice.below(20) * second;
    if (!this.#dice.chance(this.unrest)) return;
    this.happen();
  }

  /** A call is made, comes late, or changes. */
  happen(): void {
    const what = this.#dice.pick(['new', 'new', 'late', 'changed'] as const);
    if (what === 'new') this.add(this.now);
    else if (what === 'late')
      this.add(this.now - this.#dice.roll() * this.#dice.pick([hour, day, 40 * day]));
    else {
      const young = this.calls.filter(({ instant }) => instant > this.now - this.changing);
      if (young.length > 0) this.change(this.#dice.pick(young));
    }
  }

  #list(): readonly KeptCall[] {
    this.#sorted ??= [...this.#byTime.values()].sort(orders[this.traits.order]);
    return this.#sorted;
  }
}

const shownTime = ({ instant }: KeptCall): number => Math.floor(instant / second) * second;
const bySid = (a: KeptCall, b: KeptCall): number => (a.sid < b.sid ? -1 : 1);
const turned = ({ sid }: KeptCall): string => [...sid].reverse().join('');
const orders: Readonly<Record<AccountTraits['order'], (a: KeptCall, b: KeptCall) => number>> = {
  oldest: (a, b) => a.instant - b.instant || bySid(a, b),
  newest: (a, b) => b.instant - a.instant || bySid(b, a),
  scattered: (a, b) => (turned(a) < turned(b) ? -1 : 1),
};

/** An account with a past: busy and quiet times, and seconds with many calls. */
export function accountOf(dice: Dice, crowd: number): Account {
  const traits: AccountTraits = {
    version: dice.pick(['v2', 'v3'] as const),
    order: dice.pick(['oldest', 'newest', 'scattered'] as const),
    cap: 7 + dice.below(94),
    fractions: dice.pick(['none', 'shown', 'kept'] as const),
    isClosed: dice.chance(0.3),
  };
  const account = new Account(traits, dice, begin);
  const times = 1 + dice.below(4);
  let at = begin - dice.pick([1, 5, 60, 400]) * day;
  for (let time = 0; time < times && at < begin; time += 1) {
    const count = dice.pick([1, 5, 60, 200]);
    const length = dice.pick([60 * second, hour, 5 * day]);
    for (let i = 0; i < count; i += 1) account.add(Math.min(begin, at + dice.roll() * length));
    if (dice.chance(0.15)) for (let i = dice.below(crowd); i > 0; i -= 1) account.add(at);
    at += length + dice.pick([0, 0, day, 30 * day, 200 * day]);
  }
  return account;
}

/** Time between two runs, in which calls are made, come late and change. */
export function pass(account: Account, dice: Dice): void {
  const length = dice.pick([second, hour, 10 * hour, day, 9 * day, 60 * day]);
  const events = dice.pick([0, 1, 10, 100]);
  for (let i = 0; i < events; i += 1) {
    account.now += Math.floor(length / events);
    account.happen();
  }
  if (events === 0) account.now += length;
}
