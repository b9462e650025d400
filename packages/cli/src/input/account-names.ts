import type { ConfiguredAccount, Settings } from '@call-attribution/settings';

/** What else an account is called, by its ID. Conditions may name it like that. */
export type AccountNames = (id: string) => readonly string[];

/**
 * The names of some accounts of a copy or of the configuration file. One that is the ID of another
 * account is not used.
 */
export function namesOfAll(
  accounts: readonly Pick<ConfiguredAccount, 'id' | 'name'>[],
): AccountNames {
  const ids = new Set(accounts.map(({ id }) => id));
  return (wanted) =>
    accounts.filter(({ id, name }) => id === wanted && !ids.has(name)).map(({ name }) => name);
}

/** What answers call an account of a copy: its name in the configuration file, or its ID. */
export const nameIn = ({ accounts }: Settings, id: string): string =>
  accounts.find((account) => account.id === id)?.name ?? id;
