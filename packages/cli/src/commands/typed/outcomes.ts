import type { CallChange } from '@call-attribution/conversions';
import { formatNaive } from '@call-attribution/core/time';
import type { DateOrder, Outcome } from '@call-attribution/questions';
import { type Args, interval } from '../../args.ts';
import { UsageError } from '../../errors.ts';
import { type Io, say } from '../../io.ts';
import { type FilesOfAccount, namedFiles } from './named-files.ts';
import { type Row, writeRows } from './output.ts';

/** What --outcomes names. */
export interface TypedOutcomes {
  readonly all: readonly Outcome[];
  /** How many milliseconds a call may lie before its outcome. */
  readonly window: number;
}

/** Options that say nothing without --outcomes. */
const others = ['outcome-dates', 'outcome-window', 'outcomes-complete'] as const;

/**
 * Reads what --outcomes says, names of the configuration file or files, and says which columns were
 * taken; null where it was not typed. Times without an offset are on the clock of the account.
 */
export async function outcomesOf(
  args: Args,
  accounts: readonly FilesOfAccount[],
  timeZone: string | null,
  io: Io,
): Promise<TypedOutcomes | null> {
  const names = args.list('outcomes');
  if (names.length === 0) {
    const alone = others.find((option) => args.flag(option));
    if (alone !== undefined)
      throw new UsageError(`--${alone} needs --outcomes FILE, which says what calls became`);
    return null;
  }

  const { readTable } = await import('@call-attribution/settings/tables');
  const { readOutcomes, usualWindow } = await import('@call-attribution/questions');
  const typed = args.text('outcome-dates') as DateOrder | null;
  const named = namedFiles('outcomes', names, accounts, io);
  const files = await Promise.all(
    named.map(async ({ path, name, shown }) => ({ name, rows: await readTable(path, shown) })),
  );
  const own = new Map(named.map(({ name, option }) => [name, option as DateOrder | null]));
  const dates = (name: string) => typed ?? own.get(name) ?? null;
  const { all, columns, replaced } = readOutcomes(files, { timeZone, dates });
  for (const line of columns) say(io, line);
  if (replaced > 0) {
    const rows = replaced === 1 ? '1 row is' : `${replaced} rows are`;
    say(io, `${rows} replaced by a newer one of the same id, or the same in another file`);
  }

  return { all, window: interval(args, 'outcome-window') ?? usualWindow };
}

/** Collects outcomes of changes, to list each with its call and why it is sent or is not. */
export function createOutcomeList() {
  const rows: Row[] = [];
  return {
    add({ outcome, call, kind, why, conversion, entry }: CallChange): void {
      if (outcome === null) return;
      rows.push({
        place: outcome.place,
        time: formatNaive(outcome.time),
        value: outcome.value,
        currency: outcome.currency,
        sid: call?.sid ?? entry?.sid,
        date_added: call?.date_added,
        click: conversion?.click?.kind,
        change: kind,
        why,
      });
    },
    /** Lists them on stdout; nothing where calls are the conversions. */
    async show(io: Io): Promise<void> {
      if (rows.length > 0) await writeRows(rows, listColumns, listTarget, io);
    },
  };
}

const listColumns = [
  'place',
  'time',
  'value',
  'currency',
  'sid',
  'date_added',
  'click',
  'change',
  'why',
] as const;
const listTarget = { format: 'table', gzip: false, isForSpreadsheet: false, output: null } as const;
