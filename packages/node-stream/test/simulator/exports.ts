import { createHash } from 'node:crypto';
import { parseNaive } from '@call-attribution/core/time';
import { toFilter } from '@call-attribution/query-dsl';
import { parquetReadObjects } from 'hyparquet';
import type { PageClient } from '../../src/call-source.ts';
import { seal } from '../../src/checkpoint.ts';
import { receiptPath } from '../../src/files/whole-file.ts';
import type { MonthsSummary, MonthTarget } from '../../src/index.ts';
import * as sound from '../../src/index.ts';
import {
  type Account,
  accountOf,
  begin,
  day,
  Endless,
  Killed,
  type Life,
  naive,
  pass,
} from './account.ts';
import { type Dice, diceOf } from './dice.ts';

/**
 * Plays an export by month: runs that die at a request or a file, while calls are made, come late
 * and change. Where it says whole, each month has every call that the server had when the run began
 * that wrote it, as it was then, and no call is there twice. Years without calls take one file, no
 * month is kept whose receipt was tampered with, and files of another server are not gone on with.
 */
export async function playExports(
  seed: number,
  crowd: number,
  { exportMonths }: Pick<typeof sound, 'exportMonths'> = sound,
): Promise<Life> {
  const dice = diceOf(seed);
  const account = accountOf(dice, crowd);
  account.changing = 30 * day;

  // A call whose time is the zero of a clock, years before all others.
  if (dice.chance(0.1)) account.add(0);
  const place = new Place();
  const conditions = dice.pick(['', '', 'talk_minutes:[2 TO *]']);
  const violations: string[] = [];
  const count = 1 + dice.below(5);
  let deaths = 0;
  let whole = 0;
  let compared = 0;
  let since: number | undefined;

  const runOnce = async (name: string, { filter, answers, puts, maxPages }: Plan) => {
    const start = account.now;
    const begunSince = since ?? Number.POSITIVE_INFINITY;
    place.beginRun(() => account.now, puts);
    account.requests = 0;
    account.answers = answers;
    let summary: MonthsSummary | null = null;
    try {
      const clock = { now: () => account.now };
      const options = { account: '101', filter, settle: '30d', clock, since, maxPages } as const;
      summary = await exportMonths(account, place, options);
      since = undefined;
    } catch (error) {
      if (error instanceof Killed) deaths += 1;
      else violations.push(`${name}: ${error instanceof Endless ? error.message : String(error)}`);

      // The next run may go on with this one.
      since = dice.chance(0.3) ? (since ?? start) : undefined;
    }

    if (summary === null || summary.verdict.proof !== 'whole') return summary;
    whole += 1;
    for (const { month, isKept } of summary.files) {
      const { at = 0, start: begun = 0 } = place.written(month) ?? {};
      // A month has 28 days at least, and may change for 30 more.
      const isSettled = at >= parseNaive(`${month}-01 00:00:00`) + 58 * day;
      if (isKept && !isSettled && begun < begunSince)
        violations.push(`${name}: ${month} was kept although it may have changed`);
    }

    const quiet = summary.files.filter(({ month }) => month > '1970-01' && month < '2020');
    if (quiet.length > 2) violations.push(`${name}: ${quiet.length} files of years without calls`);

    const rows = await place.rows(summary, (found) => violations.push(`${name}: ${found}`));
    const takes = account.matching(toFilter(filter, { version: account.version }));
    for (const call of account.calls) {
      const { date_added, ppc_campaign } = account.shown(call);
      const writtenIn = place.written(coveringOf(summary, date_added))?.start ?? start;
      if (call.since > writtenIn || !takes(call)) continue;
      compared += 1;
      const held = rows.get(call.sid);
      if (held === undefined) violations.push(`${name}: whole, but ${call.sid} is missing`);
      else if (call.changedAt <= writtenIn && held !== ppc_campaign)
        violations.push(`${name}: whole, but ${call.sid} is not as it was`);
    }
    return summary;
  };

  for (let run = 1; run <= count; run += 1) {
    await runOnce(`run ${run}`, planOf(account, dice, conditions));
    pass(account, dice);
  }

  // In the end nothing moves, and all is read that may have changed: all of it is whole.
  account.unrest = 0;
  since = undefined;
  const last = { ...usual, filter: conditions };
  const summary = await runOnce('the end', last);
  if (violations.length === 0 && summary?.verdict.proof !== 'whole')
    violations.push(`the end: ${JSON.stringify(summary?.verdict.gaps)}`);
  const [file] = summary?.files ?? [];
  if (violations.length === 0 && file !== undefined) {
    await place.reverse(file.name);
    const again = await runOnce('after the receipt of a reversed period', last);
    if (again?.files.find(({ month }) => month === file.month)?.isKept !== false)
      violations.push(`${file.month} was kept, with a receipt whose period ends before it begins`);

    const other: PageClient & { readonly baseUrl: string } = {
      version: account.version,
      baseUrl: 'https://other.example',
      fetchPage: (query) => account.fetchPage(query),
    };
    const code = await exportMonths(other, place, { account: '101', filter: conditions }).then(
      () => null,
      (error: { readonly code?: unknown }) => error.code,
    );
    if (code !== 'checkpoint_invalid') violations.push('went on with files of another server');
  }
  return { runs: count, deaths, whole, compared, violations };
}

/** The month whose file is about a time: one without calls stands for those after it. */
function coveringOf({ files }: MonthsSummary, time: string): string {
  const months = files.map(({ month }) => month).filter((month) => month <= time.slice(0, 7));
  return months.sort().at(-1) ?? time.slice(0, 7);
}

interface Plan {
  readonly filter: string;
  /** Requests and files after which it is dead. */
  readonly answers: number;
  readonly puts: number;
  readonly maxPages?: number;
}

const usual = { answers: Number.POSITIVE_INFINITY, puts: Number.POSITIVE_INFINITY } as const;

function planOf(account: Account, dice: Dice, conditions: string): Plan {
  const dies = dice.pick(['', 'at a request', 'before a file'] as const);
  const most = dice.pick([2, 8, 40]);
  account.unrest = dice.pick([0, 0.05, 0.3]);
  const from = begin - dice.below(100) * day;
  const to = from + dice.below(100) * day;
  const range = dice.pick([
    '',
    '',
    `date_added:[${naive(from)} TO *]`,
    `date_added:[${naive(from)} TO ${naive(to)}${dice.pick([']', '}'])}`,
  ]);
  return {
    filter: [range, conditions].filter((part) => part !== '').join(','),
    answers: dies === 'at a request' ? 1 + dice.below(most) : usual.answers,
    puts: dies === 'before a file' ? dice.below(most) : usual.puts,
    ...(dice.chance(0.2) ? { maxPages: 1 + dice.below(most) } : {}),
  };
}

/** When a month was written, and when the run began that wrote it. */
interface Written {
  readonly at: number;
  readonly start: number;
}

/** A place for files in memory, which a process that dies leaves between two of them. */
class Place implements MonthTarget {
  readonly #files = new Map<string, Buffer>();
  readonly #written = new Map<string, Written>();
  #now = () => 0;
  #start = 0;
  #puts = 0;

  /** A run begins, which is dead before it puts one more than so many files. */
  beginRun(now: () => number, puts: number): void {
    this.#now = now;
    this.#start = now();
    this.#puts = puts;
  }

  written(month: string): Written | undefined {
    return this.#written.get(month);
  }

  async list(folder: string) {
    return [...this.#files]
      .filter(([name]) => name.startsWith(`${folder}/`))
      .map(([name, { length }]) => ({ name, size: length }));
  }

  async read(name: string): Promise<string | null> {
    return this.#files.get(name)?.toString() ?? null;
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    this.#puts -= 1;
    if (this.#puts < 0) throw new Killed('killed');
    this.#files.set(name, Buffer.concat(chunks));
    const [, month] = /month=(\d{4}-\d\d)\.parquet\.receipt/.exec(name) ?? [];
    if (month !== undefined) this.#written.set(month, { start: this.#start, at: this.#now() });
  }

  /** The period of a receipt now ends before it begins. */
  async reverse(name: string): Promise<void> {
    const { seal: _, ...receipt } = JSON.parse((await this.read(receiptPath(name))) ?? '{}');
    const reversed = { ...receipt, from: '2026-02-01 00:00:00', to: '2026-01-01 00:00:00' };
    this.#files.set(receiptPath(name), Buffer.from(JSON.stringify(seal(reversed))));
  }

  /** What the files of an export have: the changes of each call by its sid. */
  async rows({ files }: MonthsSummary, violated: (what: string) => void) {
    const rows = new Map<string, string>();
    for (const { name, month, calls } of files) {
      const bytes = this.#files.get(name) ?? Buffer.alloc(0);
      const receipt = JSON.parse(this.#files.get(receiptPath(name))?.toString() ?? 'null');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      if (receipt?.bytes?.sha256 !== sha256) violated(`${month} is not what its receipt says`);
      const file = new Uint8Array(bytes).buffer;
      const found = await parquetReadObjects({
        file,
        columns: ['sid', 'date_added', 'ppc_campaign'],
      });
      if (found.length !== calls) violated(`${month} has ${found.length} calls and says ${calls}`);
      for (const { sid, ppc_campaign } of found) {
        if (rows.has(String(sid))) violated(`${sid} is there twice`);
        rows.set(String(sid), String(ppc_campaign));
      }
    }
    return rows;
  }
}
