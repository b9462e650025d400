import { describe } from './problems.ts';
import { readSettings, type Settings, type SettingsSource } from './read-settings.ts';

/**
 * The settings of several accounts of the configuration file, in the order of their names, or of all accounts, in the order
 * of the file. A problem that concerns two accounts is one of the later account. Without any account in the file the result
 * is one `Settings` with that problem.
 *
 * @example
 * for (const settings of readAccounts('all')) {
 *   const client = createClient(connectionOf(settings));
 *   console.log(settings.account?.name, await client.countCalls());
 * }
 */
export function readAccounts(
  names: readonly string[] | 'all',
  source: Omit<SettingsSource, 'account'> = {},
): Settings[] {
  const outside = readSettings(source);
  const all = outside.accounts.map(({ name }) => name);
  const chosen = names === 'all' ? all : [...new Set(names)];
  if (all.length === 0) {
    const problem = describe({ code: 'no_accounts', path: outside.file?.path ?? null });
    return [{ ...outside, secret: () => null, problems: [...outside.problems, problem] }];
  }
  const owners = new Map<string, string>();
  return chosen.map((name) => {
    const settings = readSettings({ ...source, account: name });
    const key = settings.secret('accessKey') ?? settings.secret('bearerToken');
    if (key === null) return settings;
    const server = `${settings.baseUrl?.value} ${settings.apiVersion.value} ${key.value}`;
    const owner = owners.get(server);
    owners.set(server, name);
    if (owner === undefined) return settings;
    const problem = describe({ code: 'same_credential', accounts: [owner, name] });
    return { ...settings, problems: [...settings.problems, problem] };
  });
}
