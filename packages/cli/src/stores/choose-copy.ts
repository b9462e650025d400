import type { Settings } from '@call-attribution/core/settings';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { chooseStore, type WarehouseFile, warehouseFile } from './choose.ts';
import { refusePassword, rowStoreUrl } from './url.ts';

/** A row store to read. */
export interface ChosenRows {
  readonly kind: 'rows';
  /** As `openStore` takes it. */
  readonly url: string;
  /** As it was typed. */
  readonly typed: string;
}

/** A copy to read. */
export type ChosenCopy = (WarehouseFile & { readonly kind: 'warehouse' }) | ChosenRows;

/** The copy that a question goes to: that of --store, else the configured one. Null when the API answers. */
export function chooseCopy(args: Args, settings: Settings, io: Io): ChosenCopy | null {
  const chosen = chooseStore(args, settings, io);
  if (chosen === null) return null;
  const { url, from, folder, isTyped } = chosen;
  const file = warehouseFile(chosen);
  if (file !== null) return { kind: 'warehouse', ...file };
  if (isTyped) refusePassword(url);
  return { kind: 'rows', url: rowStoreUrl(url, { cwd: folder, env: io.env }, from), typed: url };
}

/** The warehouse that --store or the configuration names; null for a row store that is configured, or none. */
export function chooseWarehouse(args: Args, settings: Settings, io: Io): WarehouseFile | null {
  const chosen = chooseCopy(args, settings, io);
  if (chosen === null || chosen.kind === 'warehouse') return chosen;
  if (args.text('store') === null) return null;
  throw new UsageError('--store: this needs a warehouse, such as duckdb:calls.duckdb', {
    hints: ['calls sync --store duckdb:calls.duckdb fills one'],
  });
}
