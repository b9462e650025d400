import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Ledger, openLedger } from '@call-attribution/conversions';
import { storeKind } from '@call-attribution/store/url';
import { fileError } from '../io.ts';
import { refusePassword, type Surroundings, storeUrl } from '../stores/open.ts';

/**
 * Opens the ledger of `--ledger`: a file, or in a store. Null in a dry run that would create the
 * file.
 */
export async function openNamedLedger(
  shown: string,
  now: number,
  isDryRun: boolean,
  from: Surroundings,
): Promise<Ledger | null> {
  const options = { clock: { now: () => now } };
  try {
    if (storeKind(shown) === null) {
      const path = resolve(from.cwd, shown);
      return isDryRun && !existsSync(path) ? null : await openLedger(path, options);
    }
    // The drivers of databases are only loaded when they are used.
    const { openStore } = await import('@call-attribution/store');
    refusePassword(shown, '--ledger');
    // A power cut must not take back what the ledger has noted.
    const store = await openStore(storeUrl(shown, from), { synchronous: 'full' });
    // Closing the store lets go of the journal, too.
    const close = () => store.close();
    const ledger = await openLedger(store.journal('uploads'), options).catch(
      async (error: unknown) => {
        await close();
        throw error;
      },
    );
    return { ...ledger, close };
  } catch (error) {
    throw fileError(error, shown);
  }
}
