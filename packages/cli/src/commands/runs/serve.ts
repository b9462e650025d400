import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { codeOf } from '@call-attribution/core/errors';
import { isLoopback } from '@call-attribution/core/settings';
import type { Sandbox } from '@call-attribution/sandbox';
import { sandboxDefaults } from '@call-attribution/sandbox/defaults';
import {
  createService,
  type Feed,
  hashPassword,
  type ListenOptions,
  type LogEntry,
  type PageSetup,
  readFeeds,
  type Viewer,
} from '@call-attribution/service';
import { limits, serviceDefaults } from '@call-attribution/service/defaults';
import { accountCalled, type Settings } from '@call-attribution/settings';
import { type Args, type Handler, interval } from '../../args.ts';
import { readPageSection } from '../../config/page-section.ts';
import { readServiceSection } from '../../config/service-section.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { type Io, readText, say, write } from '../../io.ts';
import { type ChosenStore, chooseStore, openChosen } from '../../stores/open.ts';
import { again, type OnFailure } from '../../syncing/repeat.ts';
import { count, duration, plural } from '../../terminal/numbers.ts';
import { askHidden, canAsk } from '../../terminal/prompt.ts';
import { progressLine, stopped } from '../../terminal/waiting.ts';
import { sayRetry } from '../typed/repeat.ts';
import { readFileSettings } from '../typed/settings.ts';
import { pageSetupOf } from './page-setup.ts';
import { openSync, type Sync, saySync } from './sync.ts';

const ofSandbox = ['records', 'seed', 'accounts', 'to', 'live'];
const ofSync = ['lookback', 'account', 'all-accounts', 'on-bad-record'];

/** What a command that serves was told, and how it speaks. */
interface Serving {
  readonly args: Args;
  readonly io: Io;
  readonly settings: Settings;
  readonly feeds: readonly Feed[];
  readonly at: ListenOptions;
  /** Settings of the service, apart from what it serves. */
  readonly service: Omit<Parameters<typeof createService>[0], 'store' | 'page'>;
  readonly password: string | null;
  /** People who sign in to the page with a name. */
  readonly viewers: readonly Viewer[];
  /** Definitions, reports and annotations, which the page shows. */
  readonly setup: PageSetup;
  /** What is not as safe as it could be. */
  readonly warnings: readonly string[];
  /** Is stderr a log for programs? */
  readonly isLog: boolean;
  /** A sentence for people; nothing in a log. */
  notify(line: string): void;
  /** A line of the log. */
  log(level: 'info' | 'warn' | 'error', message: string, facts: object): void;
}

/**
 * `calls serve`: the API on this machine, over generated calls or your own store, which it keeps up
 * to date if it is told to.
 */
export const serve: Handler = async (args, io) => {
  if (args.flag('hash-password')) {
    await write(io.stdout, `${await hashPassword(await readPassword(io))}\n`);
    return exitCodes.ok;
  }

  const settings = readFileSettings(args, io);
  const feeds = await readFeedFile(args, settings, io);
  const chosen = chooseStore(args.text('store'), settings, io);

  const refuse = (names: readonly string[], reason: string): void => {
    const stray = names.find((name) => args.flag(name));
    if (stray !== undefined) throw new UsageError(`--${stray} ${reason}`);
  };

  const isEvery = args.flag('every');
  const isSandbox = args.flag('sandbox') || args.flag('accounts') || (chosen === null && !isEvery);
  if (isSandbox && isEvery)
    throw new UsageError('--every is for your own store; remove --every or --sandbox');
  if (!isEvery) refuse(ofSync, 'goes with --every, which keeps a store up to date');
  if (!isSandbox) refuse(ofSandbox, 'is for the sandbox, which --store none serves');

  const cert = args.text('tls-cert');
  const key = args.text('tls-key');
  if ((cert === null) !== (key === null))
    throw new UsageError('TLS needs both --tls-cert and --tls-key');
  const host = args.text('host') ?? serviceDefaults.host;
  const pem = async (option: string, file: string) => (await readText(option, file, io)).text;
  const tls =
    cert === null || key === null
      ? null
      : { cert: await pem('tls-cert', cert), key: await pem('tls-key', key) };
  const at = {
    host,
    tls,
    port: args.integer('port') ?? serviceDefaults.port,
    adminPort: args.integer('status-port'),
  };
  const password = io.env.CALLS_PAGE_PASSWORD || null;

  const viewers = await readPageSection(settings, io.env);

  // They are sent through the network, so nobody may read along.
  if ((password !== null || viewers.length > 0) && tls === null && !isLoopback(host))
    throw new UsageError(
      `passwords of the page would cross the network unencrypted: ${host} has no TLS`,
      [
        'give --tls-cert and --tls-key, or stay on --host 127.0.0.1 behind a proxy with TLS',
        'without CALLS_PAGE_PASSWORD and viewers in calls.config.json the page asks for keys',
      ],
    );

  const warnings: string[] = [];
  if ((!isSandbox || feeds.length > 0) && tls === null && !isLoopback(host))
    warnings.push(
      `keys and passwords cross the network unencrypted: ${host} has no TLS; give --tls-cert and --tls-key, or stay on --host 127.0.0.1 behind a proxy with TLS`,
    );

  // Where others can reach it, the service refuses it.
  if (password !== null && password.length < limits.passwordLength)
    warnings.push(
      `that password has fewer than ${limits.passwordLength} characters: fine for this machine, and refused where others can reach the page`,
    );

  const {
    rateRequests: requests,
    ratePer: per,
    drainTimeout,
    log,
    ...others
  } = readServiceSection(settings);
  const { synchronous: _, poolSize: __, statementTimeout: ___, ...ofService } = others;
  const isWritten = (log ?? (isSandbox ? 'off' : 'json')) === 'json';
  const isLog = isWritten && io.stderr.isTTY !== true;
  const serving: Serving = {
    args,
    io,
    settings,
    feeds,
    at,
    password,
    viewers,
    setup: await pageSetupOf(args, settings, io),
    warnings,
    isLog,
    service: {
      ...ofService,
      ...(drainTimeout === null ? {} : { drainTimeout }),
      feeds,
      rateLimit: requests === 0 ? null : { requests, per },
      log: isWritten ? (entry: LogEntry) => say(io, JSON.stringify(entry)) : null,
    },
    notify: (line) => (isLog ? undefined : say(io, line)),
    log: (level, message, facts) =>
      say(
        io,
        JSON.stringify({ time: new Date(io.clock.now()).toISOString(), level, message, ...facts }),
      ),
  };
  if (!isSandbox) return serveStore(serving, chosen);

  // Generated calls go into a store that was named for them, and not into your own.
  return serveSandbox(serving, args.text('store') === null ? null : (chosen?.url ?? null));
};

/** A password that is typed, or the first line of stdin. */
async function readPassword(io: Io): Promise<string> {
  if (canAsk(io)) return askHidden('Password of the feed (not shown)', io);
  const [password = ''] = (await text(io.stdin)).split(/\r?\n/);
  const { passwordLength } = limits;
  if (password.length >= passwordLength) return password;
  throw new UsageError(`the password on stdin must have at least ${passwordLength} characters`, [
    'it is not an option, so that it stays out of the shell history',
  ]);
}

/**
 * The feeds of a file; none without one. The settings have the time zone of feeds that name none,
 * and the definitions.
 */
async function readFeedFile(args: Args, settings: Settings, io: Io): Promise<Feed[]> {
  const file = args.text('feeds');
  if (file === null) return [];
  const { feedReports } = await import('./feed-reports.ts');
  const { path, text } = await readText('feeds', file, io);
  return readFeeds(text, {
    source: file,
    folder: dirname(path),
    env: io.env,
    timeZone: settings.timeZone?.value ?? null,
    configured: {
      definitions: settings.file?.definitions,
      exclude: settings.file?.exclude ?? undefined,
    },
    reports: feedReports(args, settings, io),
  });
}

/**
 * The feeds with the IDs of their accounts, which their file may call by the names that they have in
 * the configuration file or in the store, if that is there already. A report knows its account as
 * the file calls it.
 */
async function withIds(
  feeds: readonly Feed[],
  chosen: ChosenStore | null,
  settings: Settings,
): Promise<Feed[]> {
  if (feeds.length === 0 || chosen === null) return [...feeds];
  const store = await openChosen(chosen, settings, { readOnly: true }).catch(() => null);
  const stored = (await store?.accounts().finally(() => store.close())) ?? [];
  const known = [...settings.accounts, ...stored];
  return feeds.map((feed) => {
    const { account: called } = feed;
    const account = accountCalled(called, known)?.id ?? called;
    if (!('report' in feed)) return { ...feed, account };
    const { name, plan } = feed.report;
    return { ...feed, account, report: { name, plan: (_, now) => plan(called, now) } };
  });
}

/**
 * A feed of an account that is not there would be empty without anybody noticing. An empty store is
 * filled later.
 */
function refuseStrangeAccounts(
  feeds: readonly Feed[],
  accounts: readonly { readonly id: string }[],
): void {
  const strange = feeds.find(({ account }) => !accounts.some(({ id }) => id === account));
  if (strange === undefined || accounts.length === 0) return;
  throw new UsageError(
    `the feed ${strange.path} is of account ${strange.account}, which is not in the store`,
    [`it has ${accounts.map(({ id }) => id).join(', ')}`],
  );
}

/** A viewer of an account that is not there would see nothing, without anybody noticing. */
function refuseStrangeViewers(
  viewers: readonly Viewer[],
  accounts: readonly { readonly id: string; readonly name: string }[],
): void {
  const named = viewers.flatMap((viewer) => viewer.accounts ?? []);
  const strange = named.find(
    (name) => !accounts.some((one) => one.id === name || one.name === name),
  );
  if (strange === undefined || accounts.length === 0) return;
  throw new UsageError(
    `page.viewers of the configuration file names account ${strange}, which is not in the store`,
    [`it has ${accounts.map(({ id }) => id).join(', ')}`],
  );
}

/** Prints the line of --ready-json, for which programs wait, and says what people need to know. */
async function sayReady(
  { args, io, at, feeds, password, viewers, warnings, isLog, notify, log, settings }: Serving,
  url: string,
  accounts: readonly object[],
  lines: readonly string[],
  keys: string,
): Promise<void> {
  if (args.flag('ready-json'))
    await write(io.stdout, `${JSON.stringify({ url, legacyUrl: url, accounts })}\n`);
  const page = password === null && viewers.length === 0 ? 'keys' : 'password';
  if (isLog) log('info', 'listening', { url, page });
  for (const line of lines) notify(line);
  const isEverywhere = /^(?:0\.0\.0\.0|::)$/.test(at.host ?? '');
  const address = isEverywhere ? `${url}, or by the name of this machine,` : url;
  notify(`open ${address} in a browser${askedBy(password, viewers, keys)}`);
  if (args.flag('open')) openInBrowser(url, notify);
  for (const line of warnings) {
    if (isLog) log('warn', line, {});
    else notify(`note: ${line}`);
  }

  if (feeds.length === 0) return;
  const { conditionsOf } = await import('@call-attribution/conversions');
  const { definitionsIn } = await import('@call-attribution/questions');
  for (const feed of feeds) {
    const { path, account, access } = feed;
    const by = access === null ? 'no password' : `user ${access.user}`;
    const what =
      'report' in feed
        ? `the report ${feed.report.name}, account ${account}`
        : `${feed.format.title}, account ${account}, last ${feed.days} days`;
    notify(`feed ${url}${path}: ${what}, ${by}`);
    if ('report' in feed) continue;
    const { rules } = feed;
    const used = definitionsIn(conditionsOf(rules), rules.definitions ?? {});
    if (used.length > 0) notify(`  it uses ${used.join(', ')} of ${settings.file?.path}`);
  }

  notify(`how they are doing: ${url}/feeds`);
}

/** What the page asks of whoever opens it. */
function askedBy(password: string | null, viewers: readonly Viewer[], keys: string): string {
  const names = viewers.map(({ access }) => access.user).join(', ');
  if (viewers.length === 0)
    return password === null ? keys : ': it asks for the password of CALLS_PAGE_PASSWORD';
  const others = password === null ? '' : ', or for the password of CALLS_PAGE_PASSWORD';
  return `: it asks for the user name and the password of ${names}${others}`;
}

/** Opens the page in the browser of this machine; where that fails, the address has been printed. */
function openInBrowser(url: string, notify: (line: string) => void): void {
  const openers = new Map<string, readonly [string, ...string[]]>([
    ['darwin', ['open', url]],
    ['win32', ['cmd', '/c', 'start', '', url]],
  ]);
  const [program, ...args] = openers.get(process.platform) ?? ['xdg-open', url];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  child.on('error', () => notify(`note: no browser was opened: ${program} cannot be run`));
  child.unref();
}

/**
 * The service says in its message what is wrong with the address or a proxy; choosing another one
 * is up to the user.
 */
function explainListening(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined;
  const isUsage = error instanceof RangeError || codeOf(cause) !== undefined;
  if (!(error instanceof Error) || !isUsage) throw error;
  const hints =
    codeOf(cause) === 'EADDRINUSE' ? ['--port N names another one, --port 0 any free one'] : [];
  throw new UsageError(error.message, hints, { cause: cause ?? error });
}

/** Serves a store as the API, with its page and feeds. `--every` keeps it up to date. */
async function serveStore(serving: Serving, chosen: ChosenStore | null): Promise<number> {
  const { args, io, settings, at, password, viewers, notify, log, isLog } = serving;
  const feeds = await withIds(serving.feeds, chosen, settings);
  const everyMs = interval(args, 'every');
  const onFailure: OnFailure = isLog
    ? ({ message }) => log('error', 'sync failed', { error: message })
    : sayRetry(everyMs ?? 0, io);
  let sync: Sync | null = null;
  if (everyMs !== null) {
    const ofFeeds = [...new Set(feeds.map(({ account }) => account))];
    sync = await openSync(args, io, { everyMs, feeds: ofFeeds, onFailure });
  }

  // Without --every a store was named.
  const store = sync?.store ?? (await openChosen(chosen as ChosenStore, settings));
  try {
    const accounts = await store.accounts();
    if (sync === null) refuseStrangeAccounts(feeds, accounts);
    refuseStrangeViewers(viewers, accounts);
    const service = createService({
      ...serving.service,
      feeds,
      store,
      page: {
        password,
        viewers,
        setup: serving.setup,
        ...(settings.timeZone === null ? {} : { timeZone: settings.timeZone.value }),
      },
      ...(sync === null
        ? {}
        : { ready: sync.status.ready, metrics: sync.status.metrics, clock: io.clock }),
    });
    try {
      const listening = await service.listen(at).catch(explainListening);
      const shown = accounts.map(({ id, name }) => ({ id, name }));
      const keys =
        'the keys that calls sync was run with, and those made by calls store accounts key';
      const lines = [
        `${store.name}: ${plural(accounts.length, 'account')} on ${listening.url}; Ctrl-C stops it`,
        accounts.length > 0 || everyMs !== null
          ? `the API takes ${keys}`
          : 'nothing was synced yet; calls sync --store fills it',
      ];
      await sayReady(serving, listening.url, shown, lines, ': it asks for the keys of an account');
      if (sync === null || everyMs === null) await stopped(io.signal);
      else {
        notify(`synced every ${duration(everyMs)}; health and metrics on ${listening.adminUrl}`);
        const { each } = sync;
        const once = (): Promise<number> =>
          each((run) => {
            const { account, new: added, changed, pending, skipped } = run.summary;
            if (isLog) log('info', 'synced', { account, new: added, changed, pending, skipped });
            else saySync(run, store.name, io);
            return exitCodes.ok;
          }, onFailure);
        await again(once, everyMs, io.signal, onFailure);
      }
      return exitCodes.ok;
    } finally {
      await service.close();
    }
  } finally {
    await (sync ?? store).close();
  }
}

async function serveSandbox(serving: Serving, store: string | null): Promise<number> {
  const { args, io, feeds, at, password, viewers } = serving;

  // A store of your own is served without what makes calls up.
  const { endOfSandbox, startShown } = await import('../../serving/sandbox.ts');
  const records = args.integer('records') ?? sandboxDefaults.records;
  const options = {
    records,
    seed: args.integer('seed') ?? sandboxDefaults.seed,
    accounts: args.integer('accounts') ?? sandboxDefaults.accounts,
    live: args.flag('live'),
    ...endOfSandbox(args.text('to'), io.clock),
    ...(store === null ? {} : { store }),
    ...at,
    service: { ...serving.service, page: { password, viewers, setup: serving.setup } },
  };
  const sandbox = await startShown(options, progressLine(io, 'generated calls'), io.signal).catch(
    explainListening,
  );
  try {
    refuseStrangeAccounts(feeds, sandbox.accounts);
    const accounts = sandbox.accounts.map(({ id, accessKey, secretKey, bearerToken }) => {
      return { id, accessKey, secretKey, bearerToken };
    });
    const lines = [
      `sandbox with ${count(records)} generated calls on ${sandbox.url}; Ctrl-C stops it`,
      '\nPaste into another terminal:\n',
      ...linesToPaste(sandbox, io.typedAs ?? 'calls'),
      '',
    ];
    await sayReady(serving, sandbox.url, accounts, lines, '');
    await stopped(io.signal);
    return exitCodes.ok;
  } finally {
    await sandbox.close();
  }
}

/**
 * What makes the keys of a sandbox known to a shell: variables, and for several accounts a
 * configuration file that names them.
 */
function linesToPaste({ url, accounts }: Sandbox, calls: string): string[] {
  const places = { baseUrl: url, legacyBaseUrl: url, timeZone: 'UTC' };
  const [first, second] = accounts;
  if (first !== undefined && second === undefined)
    return [
      `export CALLS_BASE_URL=${url} CALLS_LEGACY_BASE_URL=${url} CALLS_TIME_ZONE=${places.timeZone}`,
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
