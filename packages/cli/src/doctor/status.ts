import type { Handler } from '../args.ts';
import { readFileSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { settingsFound } from './connection.ts';
import { type Finding, note, ok, showFindings, wrong } from './findings.ts';
import { configuredStore, storeFound } from './stores.ts';

/** `calls doctor --offline`: what is configured, which copies there are, how fresh and how whole they are. Asks no server of the API. */
export const showStatus: Handler = async (args, io) => {
  const settings = readFileSettings(args, io);
  const { accounts, problems } = settings;
  // Of several accounts each has its own settings.
  const isUnchosen = settings.account === null && accounts.length > 0;
  const findings: Finding[] = [
    ...settingsFound(settings, io).filter(({ state }) => !isUnchosen || state !== 'wrong'),
    ...problems.map(({ message, hint }) => wrong('settings', message, hint)),
  ];
  if (accounts.length > 0) findings.push(ok('accounts', accounts.map(({ name }) => name).join(', ')));
  const configured = configuredStore(settings, args, io);
  const stores = configured === null ? [] : [configured];
  if (stores.length === 0) {
    const fix = 'calls sync --store sqlite:calls.db makes one';
    findings.push(note('store', 'none: CALLS_STORE is not set, so questions go to the API', fix));
  }
  let isWhole = true;
  for (const store of stores) {
    const found =
      'state' in store ? { findings: [store], isWhole: false } : await storeFound(store, settings, io);
    findings.push(...found.findings);
    isWhole &&= found.isWhole;
  }
  if (problems.length > 0) return showFindings(findings, exitCodes.usage, args, io);
  return showFindings(findings, isWhole ? exitCodes.ok : exitCodes.incomplete, args, io);
};
