import { Readable } from 'node:stream';
import type { Call } from '@call-attribution/core';
import type { Settings } from '@call-attribution/core/settings';
import type { CallStreamOptions, TimeSlice } from '@call-attribution/node-stream';
import {
  type CopyVerdict,
  describeCopy,
  isNothing,
  printRemovals,
  type RemovalNote,
  type Removals,
} from '@call-attribution/node-stream/copies';
import { type Filter, toFilter } from '@call-attribution/query-dsl';
import type { AccountStatus, Answer, CallSelection, Question } from '@call-attribution/questions';
import type { Args } from '../args/command.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { beginWaiting } from '../term/waiting.ts';
import type { Match, Part, Source, Total } from './source.ts';
import type { CopyEnding, Reading } from './verdict.ts';

/** Some of the calls that match: so many, after those that are skipped. */
export interface Cut {
  readonly limit?: number;
  readonly offset?: number;
}

/** How many calls match, and how many of them came through call extensions or are left out because of that. */
export interface CopyCount extends Pick<Answer, 'calls' | 'extensions'> {
  readonly accounts?: readonly AccountStatus[];
}

/** A database that has a copy of the calls, as commands read it. */
export interface ReadCopy {
  readonly kind: 'warehouse' | 'store';
  /** As messages call it: the file, or the URL without a password. */
  readonly shown: string;
  /** The URL, without a password. */
  readonly address: string;
  statuses(): Promise<readonly AccountStatus[]>;
  /** What the syncs of an account have proved of a period; null when none has begun. */
  verdict(account: string, period?: TimeSlice): Promise<CopyVerdict | null>;
  removals(account: string): Promise<Removals>;
  /** A call of an account, or of any. */
  get(sid: string, account: string | null): Promise<Call | null>;
  /** The calls that match, as a question says it. */
  selection(filter: Filter): CallSelection;
  /** How many calls match, and the accounts at the same moment where that is known. */
  count(filter: Filter): Promise<CopyCount>;
  /** Answers questions about the accounts that were chosen. */
  ask(questions: readonly Question[]): Promise<readonly Answer[]>;
  /** The calls that match, in the order of their time. */
  calls(filter: Filter, cut?: Cut): AsyncIterable<Call>;
  close(): Promise<void>;
}

/** What opening a copy needs. */
export interface CopyContext {
  readonly settings: Settings;
  readonly args: Args;
  readonly io: Io;
}

/** Is the source a copy, and not the API? */
export const isCopy = (source: Source): source is CopySource => source instanceof CopySource;

/** A copy as a source of calls. Whenever it answers, it says how fresh it is. */
export class CopySource<C extends ReadCopy = ReadCopy> implements Source {
  readonly copy: C;
  readonly address: string;
  incomplete: readonly string[] = [];
  readonly #accounts: readonly string[];
  readonly #timeZone: string | undefined;
  readonly #io: Io;
  readonly #endWaiting: () => void;

  constructor(copy: C, accounts: readonly string[], { settings, io }: CopyContext) {
    this.copy = copy;
    this.address = copy.address;
    this.#accounts = accounts;
    this.#timeZone = settings.timeZone?.value;
    this.#io = io;
    this.#endWaiting = beginWaiting(`reading the ${copy.kind} ${copy.shown}`);
  }

  /** What was erased and purged from the accounts, which a copy of their calls takes along; null for nothing. */
  async removals(): Promise<string | null> {
    const notes: Record<string, RemovalNote> = {};
    for (const { account } of this.#used(await this.copy.statuses())) {
      const { note } = await this.copy.removals(account);
      if (!isNothing(note)) notes[account] = note;
    }
    return Object.keys(notes).length === 0 ? null : printRemovals(notes);
  }

  async count(filter: Filter): Promise<Total> {
    const { calls, extensions, accounts = await this.copy.statuses() } = await this.copy.count(filter);
    await this.sayAnswered(accounts, timesOf(filter));
    if (calls === 0) await this.#explainNone(filter);
    const incomplete = (await this.#lacks(this.#used(accounts), timesOf(filter))).map(
      ({ account, lacks }) => `account ${account}: ${lacks}`,
    );
    return {
      total: calls,
      extensions,
      source: this.copy.kind,
      ...(incomplete.length > 0 ? { incomplete } : {}),
    };
  }

  async get(sid: string): Promise<Call> {
    for (const account of this.#accounts.length > 0 ? this.#accounts : [null]) {
      const call = await this.copy.get(sid, account);
      if (call === null) continue;
      await this.sayAnswered();
      return call;
    }
    throw new CliError(`the ${this.copy.kind} has no call with the session ID ${sid}`, {
      exitCode: exitCodes.notFound,
      hints: ['--store none asks the API'],
    });
  }

  async *list({ filter, limit, skip, end }: Part): AsyncGenerator<Match> {
    if (limit === Number.POSITIVE_INFINITY) {
      await this.sayAnswered(undefined, timesOf(filter));
      let isNone = true;
      for await (const call of this.#calls(filter)) {
        isNone = false;
        yield { call, total: null };
      }
      if (isNone) await this.#explainNone(filter);
      return;
    }
    const { calls: total, accounts } = await this.copy.count(filter);
    await this.sayAnswered(accounts, timesOf(filter));
    if (total === 0) await this.#explainNone(filter);
    const left = Math.max(0, total - skip);
    if (left === 0) return;
    const cut =
      end === 'first'
        ? { limit, offset: skip }
        : { limit: Math.min(limit, left), offset: Math.max(0, left - limit) };
    for await (const call of this.#calls(filter, cut)) yield { call, total };
  }

  read({ filter }: CallStreamOptions): Reading {
    const self = this;
    let count = 0;
    let held = 0;
    let copy: CopyEnding['copy'] = { proof: 'whole', gaps: [] };
    const calls = async function* () {
      const period = timesOf(toFilter(filter ?? ''));
      const used = self.#used(await self.copy.statuses());
      held = used.reduce((sum, { calls }) => sum + calls, 0);
      await self.sayAnswered(used, period);
      copy = together(await self.#lacks(used, period));
      for await (const call of self.#calls(toFilter(filter ?? ''))) {
        count += 1;
        yield call;
      }
      if (count === 0) await self.#explainNone(toFilter(filter ?? ''));
    };
    const stream = Readable.from(calls());
    const verdict = new Promise<CopyEnding>((resolve) => {
      stream.once('end', () => resolve({ proof: 'whole', calls: count, held, of: self.copy.kind, copy }));
    });
    return { stream, verdict };
  }

  /** Says that the copy answered, how fresh it is, and what it lacks of a period. Returns the first sentence. */
  async sayAnswered(statuses?: readonly AccountStatus[], period: TimeSlice | null = null): Promise<string> {
    const used = this.#used(statuses ?? (await this.copy.statuses()));
    const text = answeredText(this.copy, used);
    say(this.#io, text);
    this.incomplete = (await this.#lacks(used, period ?? undefined)).map(({ account, lacks }) => {
      // Of several accounts, or of those that were chosen, each is named.
      const of = used.length > 1 || this.#accounts.length > 0 ? ` of account ${account}` : '';
      return `INCOMPLETE, the copy${of} is not whole: ${lacks}; calls sync reads them again`;
    });
    for (const line of this.incomplete) say(this.#io, line);
    return text;
  }

  /** Says why no call matches, in the words of an answer to the same question: what a field holds instead, when the calls begin. */
  async #explainNone(filter: Filter): Promise<void> {
    const { from, to } = timesOf(filter);
    const isPeriod = from === null || to === null || from < to;
    const [answer] = await this.copy.ask([
      {
        ...this.copy.selection(filter),
        ...(this.#timeZone && { timeZone: this.#timeZone }),
        ...(isPeriod && from && { from }),
        ...(isPeriod && to && { to }),
      },
    ]);
    for (const { message } of answer?.notes ?? []) say(this.#io, message);
  }

  #used(all: readonly AccountStatus[]): readonly AccountStatus[] {
    const accounts = this.#accounts;
    return accounts.length > 0 ? all.filter(({ account }) => accounts.includes(account)) : all;
  }

  /** The accounts whose copy is not whole, and what it lacks in words. */
  async #lacks(used: readonly AccountStatus[], period?: TimeSlice): Promise<Lack[]> {
    const found: Lack[] = [];
    for (const { account } of used) {
      const verdict = await this.copy.verdict(account, period);
      const lacks = verdict === null ? null : describeCopy(verdict);
      if (verdict !== null && lacks !== null) found.push({ account, lacks, ...verdict });
    }
    return found;
  }

  close(): Promise<void> {
    this.#endWaiting();
    return this.copy.close();
  }

  async *#calls(filter: Filter, cut?: Cut): AsyncGenerator<Call> {
    for await (const call of this.copy.calls(filter, cut)) {
      this.#io.signal.throwIfAborted();
      yield call;
    }
  }
}

/** What the copy of an account lacks, also in words. */
interface Lack extends Pick<CopyVerdict, 'proof' | 'gaps'> {
  readonly account: string;
  readonly lacks: string;
}

/** What is proved of several accounts together. */
function together(lacks: readonly Lack[]): CopyEnding['copy'] {
  const proof = lacks.find((one) => one.proof === 'short')?.proof ?? lacks[0]?.proof ?? 'whole';
  return { proof, gaps: lacks.flatMap(({ gaps }) => gaps) };
}

/** The times that a filter is about. */
function timesOf({ clauses }: Filter): TimeSlice {
  const range = clauses.find((clause) => clause.kind === 'range' && clause.field === 'date_added');
  if (range?.kind !== 'range') return { from: null, to: null };
  return { from: range.lower?.text ?? null, to: range.upper?.text ?? null };
}

/** That the copy answered, with what it covers and when it was last brought up to date, in one line. */
function answeredText({ kind, shown }: ReadCopy, statuses: readonly AccountStatus[]): string {
  const calls = statuses.reduce((sum, status) => sum + status.calls, 0);
  const last = statuses
    .map((status) => status.last ?? '')
    .sort()
    .at(-1);
  const of = statuses.length > 1 ? ` of ${statuses.length} accounts` : '';
  const until = last ? `, the latest of ${last.slice(0, 19)}` : '';
  return `answered by the ${kind} ${shown}: ${plural(calls, 'call')}${of}${until}; ${syncedText(statuses)}`;
}

function syncedText(statuses: readonly AccountStatus[]): string {
  const [oldest] = statuses.map(({ syncedAt }) => syncedAt ?? '').sort();
  if (oldest === undefined) return 'nothing was synced yet';
  if (oldest !== '') return `last sync ${oldest.slice(0, 19).replace('T', ' ')} UTC`;
  const unsynced = statuses.filter(({ syncedAt }) => syncedAt === null).map(({ account }) => account);
  return `no sync of account${unsynced.length > 1 ? 's' : ''} ${unsynced.join(', ')} has finished yet: calls may be missing`;
}
