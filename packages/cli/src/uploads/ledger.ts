import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  adjustmentsPath,
  type Changes,
  changesSince,
  DeliveryError,
  deliverSheets,
  finishDeliveries,
  type Ledger,
  LedgerDamagedError,
  type Outcome,
  openLedger,
  refuseExisting,
  SheetError,
  unadjustedLines,
} from '@call-attribution/conversions';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { fileError, type Io, say } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import type { SheetRequest } from './rules.ts';

/** What was written for upload before, and what is written now. */
export interface UploadLedger {
  /** What the tool does not know yet. */
  changes(outcomes: AsyncIterable<Outcome>): Promise<Changes>;
  /** Writes the sheets and notes it, both or neither. */
  deliver(changes: Changes): Promise<void>;
  close(): Promise<void>;
}

/** Opens the ledger that an option names. Null in a dry run that would create it. */
export async function openNamedLedger(
  shown: string,
  { now, isDryRun }: { readonly now: number; readonly isDryRun: boolean },
  io: Io,
): Promise<Ledger | null> {
  const place = await placeOf(shown, io);
  const isNew = 'file' in place && !existsSync(place.file);
  return isDryRun && isNew ? null : open(place, shown, now);
}

/**
 * Opens the ledger of `--ledger` and finishes what an earlier run could not. A file that a sheet would replace is an error
 * here, before calls are read.
 */
export async function openUploadLedger(
  request: SheetRequest,
  file: string,
  shown: string,
  io: Io,
): Promise<UploadLedger> {
  const { format, rules, isDryRun } = request;
  const sheet = resolve(io.cwd, shown);
  const destination = `${format.name} ${rules.conversionName}`.trim();
  const ledger = await openNamedLedger(file, { now: rules.now, isDryRun }, io);
  try {
    if (ledger && !isDryRun) {
      for (const { files } of await finishDeliveries(ledger))
        say(io, `an interrupted run was finished: ${files.map((file) => file.path).join(', ')}`);
      for (const file of [sheet, ...(format.adjustments ? [adjustmentsPath(sheet)] : [])])
        refuseExisting(file);
    }
  } catch (error) {
    await ledger?.close();
    throw explained(error, shown);
  }
  return {
    changes: (outcomes) => changesSince(ledger?.delivered(destination) ?? new Map(), outcomes, format),
    async deliver(changes) {
      if (ledger === null) return;
      try {
        await deliverSheets(ledger, destination, changes, format, rules, { sheet });
      } catch (error) {
        throw explained(error, shown);
      }
    },
    close: async () => ledger?.close(),
  };
}

function explained(error: unknown, shown: string): unknown {
  if (error instanceof DeliveryError)
    return new UsageError(error.message, {
      cause: error,
      hints:
        error.code === 'in_the_way' && !/\d{4}-\d{2}-\d{2}/.test(shown)
          ? ['a name with {date} is another one each day: -o clicks-{date}.csv']
          : [],
    });
  if (error instanceof SheetError)
    return new CliError(`the sheets were not written: ${error.message}`, { cause: error });
  return fileError(error, shown);
}

/** Says what a run adds to what was uploaded before. */
export function sayChanges(changes: Changes, request: SheetRequest, shown: string, io: Io): void {
  const { add, adjust, unchanged, unadjusted } = changes;
  say(io, `${shown}: ${plural(add.length, 'new conversion')}; ${unchanged} as in earlier runs are left out`);
  const retracted = adjust.filter(({ action }) => action === 'retract').length;
  if (adjust.length > 0)
    say(
      io,
      `${adjustmentsPath(shown)}: ${plural(adjust.length, 'adjustment')} (${adjust.length - retracted} restated, ${retracted} retracted)`,
    );
  if (unadjusted.length === 0) return;
  say(io, `cannot be corrected in ${request.format.title}: ${plural(unadjusted.length, 'call')}`);
  for (const line of unadjustedLines(unadjusted)) say(io, line);
}

type Place = { readonly file: string } | { readonly url: string };

/** The file of the ledger, or the URL of the store that keeps it. */
async function placeOf(shown: string, io: Io): Promise<Place> {
  if (/^duckdb:/i.test(shown))
    throw new UsageError('--ledger: a ledger is a file, or in a store in SQLite or PostgreSQL', {
      hints: ['what a DuckDB file had beside it is named like it: --ledger calls.duckdb.ledger'],
    });
  if (!/^(?:sqlite|postgres(?:ql)?):/i.test(shown)) return { file: resolve(io.cwd, shown) };
  // The drivers of databases are only loaded when they are used.
  const { refusePassword, storeUrl } = await import('../stores/open.ts');
  refusePassword(shown, '--ledger');
  return { url: storeUrl(shown, io) };
}

async function open(place: Place, shown: string, now: number): Promise<Ledger> {
  try {
    if ('file' in place) return await openLedger(place.file, { clock: { now: () => now } });
    const { openStore } = await import('@call-attribution/store');
    // A power cut must not take back what the ledger has noted.
    const store = await openStore(place.url, { synchronous: 'full' });
    // Closing the store lets go of the journal, too.
    const ledger = await openLedger(store.journal('uploads'), { clock: { now: () => now } }).catch(
      async (error) => {
        await store.close();
        throw error;
      },
    );
    return { ...ledger, close: () => store.close() };
  } catch (error) {
    if (error instanceof LedgerDamagedError)
      throw new CliError(`--ledger ${shown}: ${error.message}`, { cause: error });
    if (error instanceof DeliveryError)
      throw new CliError(error.message, { cause: error, exitCode: exitCodes.busy });
    throw fileError(error, shown);
  }
}
