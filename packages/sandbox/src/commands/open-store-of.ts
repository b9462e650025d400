import type { Store } from '@call-attribution/store';
import { openStore } from '@call-attribution/store';
import { SettingsError } from '../config/read-settings.ts';
import type { Settings } from '../config/settings.ts';

/** Opens the store that the settings name. */
export async function openStoreOf(given: Settings): Promise<Store> {
  if (given.store === undefined) {
    throw new SettingsError(
      'Which store? Give --store sqlite:calls.db or --store postgres://user@host/database, or try --sandbox.',
    );
  }
  const poolSize = given['pool-size'];
  return openStore(given.store, {
    synchronous: given.synchronous === 'full' ? 'full' : 'normal',
    ...(poolSize === undefined ? {} : { poolSize }),
  });
}
