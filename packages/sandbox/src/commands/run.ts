import { readFileSync } from 'node:fs';
import { helpText } from '../config/help.ts';
import { readSettings, SettingsError } from '../config/read-settings.ts';
import { type Setting, type Settings, settings as table } from '../config/settings.ts';
import { accounts } from './accounts.ts';
import type { CommandIo } from './io.ts';
import { openStoreOf } from './open-store-of.ts';
import { serve } from './serve.ts';
import { upkeep } from './upkeep.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const extra = {
  help: flag,
  version: flag,
  'dump-config': flag,
  id: text,
  name: text,
  key: text,
  before: text,
  form: text,
};

/** Runs the program; gives its exit status: 0 done, 1 failed, 2 wrongly called. */
export async function run(argv: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await command(argv, io);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    io.stderr.write(`${error.message}\n`);
    return error instanceof SettingsError ? 2 : 1;
  }
}

async function command(argv: readonly string[], io: CommandIo): Promise<number> {
  const { settings, extra: own, words } = readSettings(argv, io.environment, extra);
  const [name, word] = words;
  if (own.help === true) return print(io, helpText());
  if (own.version === true) return print(io, `${version()}\n`);
  if (own['dump-config'] === true) return print(io, `${JSON.stringify(inForce(settings), null, 2)}\n`);
  if (name === undefined || name === 'serve') return serve(settings, io);

  const flags = own as Readonly<Record<'id' | 'name' | 'key' | 'before' | 'form', string | undefined>>;
  const job = upkeep[name];
  if (name !== 'accounts' && job === undefined)
    throw new SettingsError(`There is no command ${name}. See --help.`);
  const store = await openStoreOf(settings);
  try {
    return job === undefined ? await accounts(store, word, flags, io) : await job(store, flags, io, word);
  } finally {
    await store.close();
  }
}

function print(io: CommandIo, what: string): number {
  io.stdout.write(what);
  return 0;
}

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The settings with their defaults, in the form of a configuration file; a password in the store's URL is left out. */
function inForce(given: Settings): Record<string, unknown> {
  const standards = Object.entries(table as Readonly<Record<string, Setting>>).flatMap(
    ([name, { standard }]) => (standard === undefined ? [] : [[name, standard] as const]),
  );
  const store = given.store
    ?.replace(/^(\w+:\/\/[^:@/]*):.*@/, '$1:***@')
    .replace(/([?&](?:password|sslpassword)=)[^&]*/g, '$1***');
  return { ...Object.fromEntries(standards), ...given, ...(store === undefined ? {} : { store }) };
}
