import { setImmediate as nextTurn } from 'node:timers/promises';
import { formatNaive } from '@call-attribution/core/time';
import type { Driver, Session } from '../database/driver.ts';
import type { GroupedField } from '../database/own-columns.ts';
import { positionOf } from './position.ts';
import { countCalls, otherConditions, parameters } from './pyramid.ts';
import { RowSet } from './row-set.ts';
import { everything, type NumericFilter } from './selection.ts';
import { noTalk, noTime } from './wire-values.ts';

/** What can be counted of some calls without their records: a list for each column, all of one length. */
export interface ScannedCalls {
  /** `date_added` in seconds since 1970 on the clock of the API; null when it is not a time. */
  readonly at: readonly (number | null)[];
  /** `talk_minutes` in tenths; null when it is not a number of tenths. */
  readonly tenths: readonly (number | null)[];
  /** Whether the call came through a call extension. */
  readonly isExtension: readonly boolean[];
  /** Whether it is the first call of its caller to the account. */
  readonly isFirst: readonly boolean[];
  /** The values of each field of the part, in the order of the fields. */
  readonly values: readonly (readonly (string | null)[])[];
}

/** What is known of an account when its calls are scanned, from the same snapshot. */
export interface ScanStart {
  /** See {@link Store.position}. */
  readonly position: number;
  /** Calls of the account, whatever is selected. */
  readonly calls: number;
  /** Time of its first call, `YYYY-MM-DD HH:MM:SS`; null without calls that have a time. */
  readonly earliest: string | null;
  /** Time of its last call. */
  readonly latest: string | null;
}

/** What a part of a scan reads. */
export interface ScanPart {
  /** Which calls. Those through call extensions are read in any case. */
  readonly selection: NumericFilter;
  /** Which of their fields, by which calls are grouped. */
  readonly fields: readonly GroupedField[];
}

/** Takes what is read. */
export interface ScanTaker {
  /** Takes some calls of a part, counted from 0. */
  take(calls: ScannedCalls, part: number): void;
  /** A part was read to its end. */
  end?(part: number): void;
}

/** A window of time that has about so many calls is read at a time, so that other work of the process is not held up. */
const fewCalls = 1_000;
const manyCalls = 3_000;
const firstWindow = 3_600;
/** Callers whose first calls are looked up at a time. */
const callersAtOnce = 4_000;

/**
 * Reads what can be counted of calls, one part after the other, within a part in any order, and all from one snapshot. `begin` is called
 * with what is known of the account and returns what takes the calls; it is called again when the database has to begin again.
 */
export async function scanCalls(
  driver: Driver,
  account: string,
  parts: readonly ScanPart[],
  begin: (start: ScanStart) => ScanTaker,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  await driver.read(
    async (session) => {
      const rest = async () => {
        await nextTurn();
        signal?.throwIfAborted();
      };
      const ends = await endsOf(session, account);
      const taker = begin({
        position: await positionOf(session, account),
        calls: await countCalls(session, account, everything),
        earliest: ends && formatNaive(ends.first * 1000),
        latest: ends && formatNaive(ends.last * 1000),
      });
      const firsts = await firstCalls(driver, session, account, parts, rest);
      for (const [i, part] of parts.entries()) {
        const { selection } = part;
        const read = windowReader(driver, session, account, part, firsts);
        if (selection.from <= noTime) taker.take(await read(noTime, noTime + 1), i);
        let from = Math.max(selection.from, ends?.first ?? 0);
        const to = Math.min(selection.to, ends === null ? from : ends.last + 1);
        for (let width = firstWindow; from < to; ) {
          const end = Math.min(to, from + width);
          const calls = await read(from, end);
          taker.take(calls, i);
          if (calls.at.length < fewCalls) width *= 2;
          else if (calls.at.length > manyCalls) width = Math.max(1, Math.floor(width / 2));
          from = end;
          await rest();
        }
        taker.end?.(i);
      }
    },
    { isLong: true },
  );
}

/** The times of the first and the last call that has one. */
async function endsOf(
  session: Pick<Session, 'all'>,
  account: string,
): Promise<{ readonly first: number; readonly last: number } | null> {
  const end = async (aggregate: 'min' | 'max') => {
    const [row] = await session.all(
      `SELECT ${aggregate}(at) AS at FROM records WHERE account = $1 AND at > $2`,
      [account, noTime],
    );
    return row?.at ?? null;
  };
  const [first, last] = [await end('min'), await end('max')];
  return first === null || last === null ? null : { first: Number(first), last: Number(last) };
}

/** Reads the calls of a window of time. Each column comes as one text: a row of a driver costs more than what is in it. */
function windowReader(
  { dialect }: Driver,
  session: Session,
  account: string,
  { selection, fields }: ScanPart,
  firsts: RowSet,
): (from: number, to: number) => Promise<ScannedCalls> {
  const { values, put } = parameters();
  const columns = [dialect.rowId, 'at', 'talk', 'extension', ...fields];
  const sql = `SELECT ${columns.map((column, i) => `${dialect.jsonOf(column)} AS c${i}`).join(', ')} FROM records
    WHERE account = ${put(account)} AND at >= ${put(0)} AND at < ${put(0)}${otherConditions({ ...selection, extensions: true }, put)}`;
  return async (from, to) => {
    const [row] = await session.all(sql, [values[0] ?? '', from, to, ...values.slice(3)]);
    const list = <V>(column: number): V[] => JSON.parse(String(row?.[`c${column}`] ?? '[]'));
    const known = (column: number, none: number) =>
      list<number>(column).map((value) => (value === none ? null : value));
    return {
      at: known(1, noTime),
      tenths: known(2, noTalk),
      isExtension: list<number>(3).map((value) => value === 1),
      isFirst: list<number>(0).map((id) => firsts.has(id)),
      values: fields.map((_, i) => list<string | null>(4 + i)),
    };
  };
}

/** Calls without a time come after all others: the time that stands for theirs here. */
const late = 2 ** 38;

/** The rows of the first calls of callers, as far as they are in the time of the parts: found in the index of callers, in its order. */
async function firstCalls(
  { dialect }: Driver,
  session: Session,
  account: string,
  parts: readonly ScanPart[],
  rest: () => Promise<void>,
): Promise<RowSet> {
  const found = new RowSet();
  const from = Math.min(...parts.map(({ selection }) => selection.from));
  const to = Math.max(...parts.map(({ selection }) => selection.to));
  const end = to >= everything.to ? late + 1 : to;
  for (let after = ''; ; ) {
    const [row] = await session.all(dialect.firstCalls(callersAtOnce), [
      account,
      after,
      ...[from, end, noTime, late],
    ]);
    for (const id of JSON.parse(String(row?.ids ?? '[]')) as number[]) found.add(id);
    if (Number(row?.callers ?? 0) < callersAtOnce) return found;
    after = String(row?.last);
    await rest();
  }
}
