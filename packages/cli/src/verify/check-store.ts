import { basename } from 'node:path';
import type { Call } from '@call-attribution/core';
import type { TimeSlice } from '@call-attribution/node-stream';
import { toNdjson } from '@call-attribution/node-stream/encoders';
import {
  type Receipt,
  type RowCount,
  RowDigest,
  readReceipt,
  verdictOfCopies,
  writeReceipt,
} from '@call-attribution/node-stream/receipts';
import { ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { explain } from '../failures/explain.ts';
import type { Io } from '../io.ts';
import { leavesExtensions, withExtensions } from '../reading/filter.ts';
import { whileWaiting } from '../term/waiting.ts';
import { type Comparison, compareWithApi } from './api.ts';
import { type Ask, refuseOneApi } from './ask.ts';
import {
  type ApiCheck,
  type Check,
  doubts,
  type Finding,
  receiptProblem,
  rowsDifference,
  summaryOf,
  verdictOf,
} from './finding.ts';
import { type Holdings, openHoldings, type Removed } from './holdings.ts';
import type { ComparedRow } from './stretches.ts';

const rows = toNdjson<Call>().rows;
const textOf = (call: Call): string => rows?.text(call) ?? '';

/** Verifies a store: counts its rows, and compares them with its receipt, and with the API when that is asked for. */
export async function checkStore(url: string, shown: string, ask: Ask): Promise<Check> {
  const holdings = await openHoldings(url, ask);
  try {
    return await whileWaiting(`reading ${shown}`, () => new StoreCheck(holdings, shown, ask).run());
  } finally {
    await holdings.close();
  }
}

/** The rows of an account, as they were counted. */
interface AccountRows {
  readonly account: string;
  readonly rows: number;
  readonly removed: Removed;
}

class StoreCheck {
  readonly #holdings: Holdings;
  readonly #shown: string;
  readonly #ask: Ask;
  readonly #findings: Finding[] = [];
  readonly #api: ApiCheck[] = [];

  constructor(holdings: Holdings, shown: string, ask: Ask) {
    this.#holdings = holdings;
    this.#shown = shown;
    this.#ask = ask;
  }

  async run(): Promise<Check> {
    const { io, againstApi, writeReceipt: isWriting, range } = this.#ask;
    const { path } = this.#holdings;
    if (isWriting && path === null)
      throw new UsageError('--write-receipt: the store is not a file, so there is no place for its receipt');
    const found = path === null || isWriting ? null : await readReceipt(path);
    const receipt = found?.receipt ?? null;
    if (!isWriting && (found !== null || !againstApi)) this.#findings.push(...receiptProblem(found));
    const accounts = await this.#accounts(receipt);
    if (againstApi) refuseOneApi(accounts, this.#ask);
    const counted: AccountRows[] = [];
    const sum = await this.#guarded(() => this.#count(accounts, receipt ?? range, counted));
    if (sum !== null) {
      if (receipt !== null) this.#compare(receipt, sum, counted);
      if (againstApi) for (const each of counted) await this.#againstApi(each);
    }
    const isCompared = receipt !== null || this.#api.length > 0;
    if (receipt !== null && this.#api.length === 0) this.#findings.push(...doubts(receipt));
    const verdict = verdictOf(this.#findings, isCompared);
    if (isWriting && path !== null && sum !== null) {
      if (verdict === 'differs')
        this.#findings.push({ code: 'not_comparable', text: 'no receipt was written' });
      else await writeReceipt(path, this.#receipt(path, sum, counted, verdict === 'proved', io.clock.now()));
    }
    return {
      path: this.#shown,
      verdict,
      rows: sum?.count ?? null,
      digest: sum?.digest ?? null,
      accounts: removalsOf(counted).map((removed, at) => ({ ...removed, rows: counted[at]?.rows ?? 0 })),
      receipt: receipt && summaryOf(receipt),
      api: this.#api,
      findings: this.#findings,
    };
  }

  /** The accounts to verify: those that were named, or that the receipt is about, else all. */
  async #accounts(receipt: Receipt | null): Promise<readonly string[]> {
    const all = (await this.#guarded(() => this.#holdings.accounts())) ?? [];
    const { accounts } = this.#ask;
    const strange = accounts.find((account) => !all.includes(account));
    if (strange !== undefined)
      throw new UsageError(`${this.#shown} has no account ${strange}`, {
        hints: [`it has ${all.join(', ')}`],
      });
    if (receipt !== null) return receipt.accounts;
    return accounts.length > 0 ? accounts : all;
  }

  /** Counts the rows themselves. */
  async #count(accounts: readonly string[], range: TimeSlice, counted: AccountRows[]): Promise<RowCount> {
    const all = new RowDigest();
    for (const account of accounts) {
      const digest = new RowDigest();
      for await (const call of this.#holdings.calls(account, range)) {
        this.#ask.io.signal.throwIfAborted();
        digest.add(`${account} ${textOf(call)}`);
      }
      all.merge(digest.result());
      const removed = await this.#holdings.removed(account);
      counted.push({ account, rows: digest.result().count, removed });
    }
    return all.result();
  }

  #compare({ rows, writtenAt }: Receipt, sum: RowCount, counted: readonly AccountRows[]): void {
    if (rows.count === sum.count && rows.digest === sum.digest) return;
    if (JSON.stringify(rows.removed ?? []) !== JSON.stringify(removalsOf(counted))) {
      const text = `callers were erased or calls purged since the receipt of ${writtenAt.slice(0, 10)}: write a new one`;
      this.#findings.push({ code: 'removed_since', text });
    } else this.#findings.push(...rowsDifference(rows, sum));
  }

  async #againstApi({ account, removed }: AccountRows): Promise<void> {
    const client = await this.#ask.api(account);
    const nothing = { clauses: [] };
    const filter = leavesExtensions(nothing, client.version) ? withExtensions(nothing) : nothing;
    const { range, io } = this.#ask;
    const compared = await compareRows(this.#holdings, { account, client, filter, range, removed }, io);
    this.#api.push(compared.check);
    this.#findings.push(...compared.findings);
    const lost = compared.findings.flatMap(({ difference }) =>
      difference?.kind === 'missing' || difference?.kind === 'differs' ? [difference] : [],
    );
    if (lost.length === 0) return;
    const { message } = await this.#holdings.markUnread(account, lost).then(
      (isMarked) => ({
        message: isMarked
          ? 'the next calls sync reads what is missing'
          : 'no sync has filled the store, so calls sync reads everything',
      }),
      explain,
    );
    this.#findings.push({ code: 'unread', account, text: message });
  }

  #receipt(
    path: string,
    sum: RowCount,
    counted: readonly AccountRows[],
    isProved: boolean,
    now: number,
  ): Receipt {
    const { range } = this.#ask;
    const at = new Date(now).toISOString();
    const form = { format: 'store', fields: null } as const;
    return {
      receipt: 1,
      file: basename(path),
      writtenAt: at,
      source: this.#shown,
      accounts: counted.map(({ account }) => account),
      version: null,
      filter: null,
      ...range,
      verdict: isProved ? verdictOfCopies(sum.count, []) : null,
      rows: { ...form, ...sum, removed: removalsOf(counted), delimiter: null },
      bytes: null,
    };
  }

  /** Runs a step. What the database cannot do any more is a finding. */
  async #guarded<T>(step: () => Promise<T>): Promise<T | null> {
    try {
      return await step();
    } catch (error) {
      if (this.#ask.io.signal.aborted) throw new Interrupted(['nothing was changed']);
      if (error instanceof ClosedPipe || error instanceof UsageError) throw error;
      const { message } = await explain(error);
      this.#findings.push({ code: 'unreadable', text: `it cannot be read: ${message}` });
      return null;
    }
  }
}

/** Compares the rows of an account that a filter chooses with the API, call by call. */
export function compareRows(
  holdings: Holdings,
  what: Pick<Comparison, 'client' | 'filter' | 'range' | 'removed'> & { readonly account: string },
  io: Io,
) {
  const { account, client, filter, range } = what;
  const of = { filter, extensions: !leavesExtensions(filter, client.version) };
  const read = async (take: (row: ComparedRow) => void): Promise<void> => {
    for await (const call of holdings.calls(account, range, of))
      take({ at: call.date_added ?? null, sid: call.sid ?? null, text: textOf(call) });
  };
  return compareWithApi({ ...what, textOf, here: { read } }, io);
}

const removalsOf = (counted: readonly AccountRows[]): NonNullable<Receipt['rows']['removed']> =>
  counted.map(({ account, removed: { erasedCallers, purgedBefore } }) => ({
    account,
    erasedCallers,
    purgedBefore,
  }));
