import { SettingsError } from '../config/read-settings.ts';
import type { Settings } from '../config/settings.ts';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';

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
