import type { Sandbox } from '@call-attribution/sandbox';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import type { Args, Handler } from '../args/command.ts';
import { readServiceSection } from '../config/service-section.ts';
import { readFileSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { chooseStore } from '../stores/open.ts';
import { count } from '../term/numbers.ts';
import { stopped } from '../term/waiting.ts';
import { readFeedFile, refuseStrangeAccounts, sayFeeds } from './feeds.ts';
import { explainListening, hostOf, listenOptions, pagePassword, serviceOptions } from './options.ts';
import { type Serving, serveStore } from './store.ts';
import { sayReady, voiceOf } from './voice.ts';

/** `calls serve`: the API on this machine, over generated calls or your own store, which it keeps up to date if it is told to. */
export const serve: Handler = async (args, io) => {
  const settings = readFileSettings(args, io);
  const section = readServiceSection(settings);
  const feeds = await readFeedFile(args.text('feeds'), settings.timeZone?.value ?? null, io);
  const chosen = chooseStore(args, settings, io);
  if (args.flag('sandbox') || args.flag('accounts') || (chosen === null && !args.flag('every'))) {
    refuseOptions(args, ofSync, 'goes with --every, which keeps a store up to date');
    if (args.flag('every'))
      throw new UsageError('--every is for your own store; remove --every or --sandbox');
    // Generated calls go into a store that was named for them, and not into your own.
    const store = args.text('store') === null ? null : (chosen?.url ?? null);
    return serveSandbox({ args, io, settings, section, feeds }, store);
  }
  refuseOptions(args, ofSandbox, 'is for the sandbox, which --store none serves');
  if (!args.flag('every')) refuseOptions(args, ofSync, 'goes with --every, which keeps a store up to date');
  return serveStore({ args, io, settings, section, feeds }, chosen);
};

const ofSandbox = ['records', 'seed', 'accounts', 'to', 'live'];
const ofSync = ['lookback', 'account', 'all-accounts', 'on-bad-record'];

function refuseOptions(args: Args, names: readonly string[], reason: string): void {
  const stray = names.find((name) => args.flag(name));
  if (stray !== undefined) throw new UsageError(`--${stray} ${reason}`);
}

async function serveSandbox({ args, io, section, feeds }: Serving, store: string | null): Promise<number> {
  // A store of your own is served without what makes calls up.
  const { endOfSandbox, startShown } = await import('./sandbox.ts');
  const records = args.integer('records') ?? sandboxDefaults.records;
  const at = listenOptions(args, io);
  const options = {
    records,
    seed: args.integer('seed') ?? sandboxDefaults.seed,
    accounts: args.integer('accounts') ?? sandboxDefaults.accounts,
    live: args.flag('live'),
    ...endOfSandbox(args, io),
    ...(store === null ? {} : { store }),
    ...at,
    service: { ...serviceOptions(section, io, 'off'), feeds, page: { password: pagePassword(at, io) } },
  };
  const { notify } = voiceOf(section, 'off', io);
  const sandbox = await startShown(options, io).catch(explainListening);
  try {
    refuseStrangeAccounts(feeds, sandbox.accounts);
    const { url, legacyUrl, accounts } = sandbox;
    await sayReady(args, io, {
      ...{ url, legacyUrl },
      accounts: accounts.map(({ id, accessKey, secretKey, bearerToken }) => {
        return { id, accessKey, secretKey, bearerToken };
      }),
    });
    notify(
      `sandbox with ${count(records)} generated calls on ${url} (a web page in a browser); Ctrl-C stops it`,
    );
    notify('\nPaste into another terminal:\n');
    for (const line of linesToPaste(sandbox, io.typedAs ?? 'calls')) notify(line);
    sayFeeds(feeds, { url, host: hostOf(args) }, notify);
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

/** What makes the keys of a sandbox known to a shell: variables, and for several accounts a configuration file that names them. */
function linesToPaste({ url, legacyUrl, accounts }: Sandbox, calls: string): string[] {
  const places = { baseUrl: url, legacyBaseUrl: legacyUrl, timeZone: 'UTC' };
  const [first, second] = accounts;
  if (first !== undefined && second === undefined)
    return [
      `export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${legacyUrl} CALLS_TIME_ZONE=${places.timeZone}`,
      `export CALLS_ACCESS_KEY=${first.accessKey} CALLS_SECRET_KEY=${first.secretKey}`,
      `${calls} list            # v2: export CALLS_BEARER_TOKEN=${first.bearerToken}`,
    ];
  const named = accounts.map((account) => ({
    name: account.name
      .normalize('NFD')
      .toLowerCase()
      .replace(/\p{M}/gu, '')
      .replace(/[^a-z\d]+/g, '-'),
    variable: `CALLS_${account.id}_`,
    account,
  }));
  const content = Object.fromEntries(
    named.map(({ name, variable, account: { id } }) => [
      name,
      { id, accessKeyEnv: `${variable}ACCESS_KEY`, secretKeyEnv: `${variable}SECRET_KEY` },
    ]),
  );
  return [
    `test -e calls.config.json && echo 'calls.config.json is there already: paste into an empty folder' || echo '${JSON.stringify({ ...places, accounts: content }, null, 2)}' > calls.config.json`,
    'export CALLS_CONFIG=$PWD/calls.config.json',
    ...named.map(
      ({ variable, account: { accessKey, secretKey } }) =>
        `export ${variable}ACCESS_KEY=${accessKey} ${variable}SECRET_KEY=${secretKey}`,
    ),
    `${calls} list --account ${named[0]?.name}    # or --all-accounts`,
  ];
}
