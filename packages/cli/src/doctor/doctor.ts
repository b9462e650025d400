import { dirname } from 'node:path';
import type { Settings } from '@call-attribution/mcp-server/settings';
import type { Args, Handler } from '../args.ts';
import { readStoredSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { typedAccounts } from '../input/accounts.ts';
import type { Io } from '../io.ts';
import { connections } from './connection.ts';
import { type Finding, ok, showFindings } from './findings.ts';
import { disk, proxy, variables, versions, withClock } from './machine.ts';
import { configuredStore, storeFound } from './stores.ts';

/** `calls doctor`: the machine, the stores, the settings and the connection of each account, and what to change. */
export const doctor: Handler = async (args, io) => {
  const settings = settingsOrNull(args, io);
  const [connected, clock] = await withClock(io, () => connections(args, io));
  const findings: Finding[] = [versions(), ...variables(io)];
  const folders = new Set([io.cwd]);
  if (settings !== null) {
    findings.push(proxy(settings, io), ...clock, ...accounts(settings, args));
    const store = configuredStore(settings, args, io);
    if (store !== null && 'path' in store && store.path !== null) folders.add(dirname(store.path));
    if (store === null)
      findings.push(ok('store', 'none: CALLS_STORE is not set, so questions go to the API'));
    else if ('state' in store) findings.push(store);
    else findings.push(...(await storeFound(store, settings, io)).findings);
  }
  for (const folder of folders) findings.push(disk(folder, io));
  findings.push(...connected.findings);
  const isWrong = findings.some(({ state }) => state === 'wrong');
  const { status } = connected;
  return showFindings(findings, status === exitCodes.ok && isWrong ? exitCodes.failed : status, args, io);
};

/** The settings outside of accounts. What is wrong with them is found when the connection is tried. */
function settingsOrNull(args: Args, io: Io): Settings | null {
  try {
    return readStoredSettings(null, args, io);
  } catch {
    return null;
  }
}

function accounts({ accounts }: Settings, args: Args): Finding[] {
  if (accounts.length === 0) return [];
  const fix = typedAccounts(args) === null ? 'add --all-accounts to check each of them' : undefined;
  return [ok('accounts', accounts.map(({ name }) => name).join(', '), fix)];
}
