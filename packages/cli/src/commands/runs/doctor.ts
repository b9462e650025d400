import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@call-attribution/core';
import { plainSettings, readSmallFile, secretSettings } from '@call-attribution/core/settings';
import { describe } from '@call-attribution/node-stream/copies';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Definitions } from '@call-attribution/questions';
import { type Settings, userConfigFile } from '@call-attribution/settings';
import { ask, type Store, sqliteInUse, storeName } from '@call-attribution/store';
import type { Args, Handler } from '../../args.ts';
import { exitCodes, UsageError } from '../../errors.ts';
import { explain, tryDoctor } from '../../failures.ts';
import { futureIn } from '../../input/found-zone.ts';
import { apiSource } from '../../input/source.ts';
import { type Io, show, write } from '../../io.ts';
import { chooseStore, openChosen } from '../../stores/open.ts';
import { bytes, count, plural, span } from '../../terminal/numbers.ts';
import { styleFor, widthOf } from '../../terminal/style.ts';
import { wrap } from '../../terminal/width.ts';
import { version } from '../../version.ts';
import {
  configuredAccounts,
  openClient,
  refuseUnchosen,
  typedAccounts,
} from '../typed/accounts.ts';
import { checkedDefinitions } from '../typed/chosen-calls.ts';
import { readFileSettings, readSettings } from '../typed/settings.ts';

/** The result of one item. */
interface Finding {
  /** The account of the configuration file; absent when there is only one. */
  readonly account?: string;
  readonly item: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
  /** What to change. */
  readonly fix?: string;
}

const finding =
  (state: Finding['state']) =>
  (item: string, text: string, fix = ''): Finding => ({
    item,
    state,
    text,
    ...(fix ? { fix } : {}),
  });

/** What is as it should be, what is worth knowing and stops nothing, and what has to change. */
const ok = finding('ok');
const note = finding('note');
const wrong = finding('wrong');

/** What was found of some items, and the exit status that they leave. */
interface Found {
  readonly findings: readonly Finding[];
  readonly status: number;
}

/**
 * `calls doctor`: the machine, the copies, the settings and the connection of each account, and
 * what to change.
 */
export const doctor: Handler = async (args, io) => {
  const settings = readFileSettings(args, io);
  const names = settings.accounts.map(({ name }) => name);
  const isOffline = args.flag('offline');
  const hint =
    isOffline || typedAccounts(args) !== null ? '' : 'add --all-accounts to check each of them';
  const misread = await definitionsRead(settings);
  const definitions = misread.length > 0 ? {} : (settings.file?.definitions ?? {});
  const copies = await copiesFound(settings, definitions, args, io);
  const connected = isOffline ? offline(settings, io) : await connections(settings, args, io);
  const findings = [
    ok(
      'versions',
      `calls ${version}, Node.js ${process.versions.node} on ${process.platform} ${process.arch}`,
    ),
    await sqlite(),
    ...variables(io),
    proxy(settings, io),
    ...(names.length > 0 ? [ok('accounts', names.join(', '), hint)] : []),
    ...misread,
    ...connected.findings,
    ...copies.findings,
  ];
  let { status } = connected;
  if (status === exitCodes.ok && misread.length > 0) status = exitCodes.usage;
  if (status === exitCodes.ok && isOffline) ({ status } = copies);
  else if (status === exitCodes.ok && findings.some(({ state }) => state === 'wrong'))
    status = exitCodes.failed;

  if (args.flag('json')) {
    await write(
      io.stdout,
      `${JSON.stringify({ ok: status === exitCodes.ok, findings }, null, 2)}\n`,
    );
    return status;
  }

  const style = styleFor(io.stdout, io.env);
  const marks = {
    ok: style.green('ok   '),
    note: style.yellow('note '),
    wrong: style.red('wrong'),
  };
  const width = Math.max(...findings.map(({ item }) => item.length));
  const indent = ' '.repeat(width + 9);
  const space = Math.max(
    20,
    (widthOf(io.stdout, io.env) ?? Number.POSITIVE_INFINITY) - indent.length - 2,
  );
  let shownOf: string | undefined;
  for (const { account, item, state, text, fix } of findings) {
    if (account !== shownOf) await show(io, [style.bold(account ?? '')]);
    shownOf = account;
    const [first = '', ...more] = wrap(text, space + 2);
    const [what = '', ...rest] = wrap(fix ?? '', space);
    await show(io, [
      `${marks[state]}  ${item.padEnd(width)}  ${first}`,
      ...more.map((line) => indent + line),
      ...(what === '' ? [] : [`${indent}${style.dim('→')} ${what}`]),
      ...rest.map((line) => `${indent}  ${line}`),
    ]);
  }

  return status;
};

const known = [
  'CALLS_CONFIG',
  ...Object.values(plainSettings).map(({ variable }) => variable),
  ...Object.values(secretSettings).flatMap((variable) => [variable, `${variable}_FILE`]),
];

/** The SQLite of copies in a file. */
async function sqlite(): Promise<Finding> {
  try {
    return ok('sqlite', await sqliteInUse());
  } catch (error) {
    const { message, hints } = explain(error);
    return note('sqlite', message, hints.join('; '));
  }
}

/** Variables whose names are misspelled: they are silently ignored everywhere else. */
function variables({ env }: Io): Finding[] {
  const findings: Finding[] = [];
  for (const name of Object.keys(env)) {
    // CALLS_BERLIN_ACCESS_KEY is a variable that an account names.
    const isOfAccount = known.some((each) => name.endsWith(each.slice('CALLS'.length)));
    if (!name.startsWith('CALLS_') || isOfAccount) continue;
    const near = nearest(name, known);
    if (near !== undefined && Math.abs(near.length - name.length) <= 2)
      findings.push(note('variables', `${name} is not read by calls`, `did you mean ${near}?`));
  }

  return findings;
}

/** The proxy that requests go through. */
function proxy({ baseUrl }: Settings, { env }: Io): Finding {
  const scheme = baseUrl?.value.startsWith('http:') ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const address = (env[scheme.toLowerCase()] ?? env[scheme] ?? '').trim();
  const except = (env.no_proxy ?? env.NO_PROXY ?? '').trim();
  if (address === '') return ok('proxy', `none: ${scheme} is not set`);
  if (!URL.canParse(address))
    return wrong('proxy', `${scheme} is not a URL`, 'write it as http://proxy.example:3128');
  return ok(
    'proxy',
    `${new URL(address).origin} (${scheme})${except ? `, except for ${except}` : ''}`,
  );
}

/** What is configured. Of several accounts each has its own settings. */
function offline(settings: Settings, io: Io): Found {
  const { account, accounts, problems } = settings;
  const isUnchosen = account === null && accounts.length > 0;
  const findings = [
    ...settingsFound(settings, io).filter(({ state }) => !isUnchosen || state !== 'wrong'),
    ...problems.map(({ message, hint }) => wrong('settings', message, hint)),
  ];
  return { findings, status: problems.length > 0 ? exitCodes.usage : exitCodes.ok };
}

/**
 * What is in the store that options and settings name: which accounts, how fresh and how whole each
 * is. Nothing is created, and the API is not asked.
 */
async function copiesFound(
  settings: Settings,
  definitions: Definitions,
  args: Args,
  io: Io,
): Promise<Found> {
  const { typedAs = 'calls' } = io;
  try {
    const chosen = chooseStore(args.text('store'), settings, io);
    if (chosen === null) {
      const text = 'none: CALLS_STORE is not set, so questions go to the API';
      const fix = `${typedAs} sync --store sqlite:calls.db makes one`;
      return { findings: [note('store', text, fix)], status: exitCodes.ok };
    }
    const shown = storeName(chosen.typed);
    const sync = `${typedAs} sync --store ${shown}`;
    const file = chosen.path === null ? null : statSync(chosen.path, { throwIfNoEntry: false });
    if (file === undefined)
      return {
        findings: [note('store', `${shown} does not exist yet`, `${sync} creates it`)],
        status: exitCodes.ok,
      };
    const store = await openChosen(chosen, settings, { readOnly: true });
    try {
      const accounts = await store.sizes();
      const each: Finding[] = [];
      const warnings: Finding[] = [];
      for (const { account, calls, newest, syncedAt } of accounts) {
        const verdict = await store.verdict(account);
        const name = settings.accounts.find(({ id }) => id === account)?.name ?? account;
        const age = syncedAt === null ? '' : `, synced ${span(io.clock.now() - syncedAt)} ago`;
        const facts = `${plural(calls, 'call')}${newest === null ? '' : ` up to ${newest}`}${age}`;
        const nothing = { lacks: 'nothing was synced yet', scope: null };
        const { lacks, scope } = verdict === null ? nothing : describe(verdict);
        const only = scope === null ? '' : `; it has ${scope}`;
        if (lacks === null) each.push(ok(name, `${facts}, whole${only}`));
        else each.push(note(name, `${facts}; ${lacks}${only}`, `${sync} goes on`));
        warnings.push(...futureCall(newest ?? '', settings, io));
      }
      warnings.push(...(await definitionsFound(store, accounts, definitions, io)));
      const sum = accounts.reduce((sum, { calls }) => sum + calls, 0);
      const size = file === null ? '' : `, ${bytes(file.size)}`;
      const text = `${shown}: ${plural(sum, 'call')} of ${plural(accounts.length, 'account')}${size}`;
      const head =
        accounts.length > 0 ? ok('store', text) : note('store', text, `${sync} fills it`);
      const isWhole = each.every(({ state }) => state === 'ok');
      return {
        findings: [head, ...each, ...warnings],
        status: isWhole ? exitCodes.ok : exitCodes.incomplete,
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    const { message, hints } = explain(error);
    return { findings: [wrong('store', message, hints.join('; '))], status: exitCodes.incomplete };
  }
}

/**
 * The settings of each chosen account, and what the server responds to them. The status is that of
 * the first failure.
 */
async function connections({ accounts }: Settings, args: Args, io: Io): Promise<Found> {
  const typed = typedAccounts(args);
  if (typed === null) return connection(() => readSettings(args, io), io);
  const names = typed === 'all' ? accounts.map(({ name }) => name) : typed;

  // Says that there is none.
  if (names.length === 0) configuredAccounts('all', args, io);
  const findings: Finding[] = [];
  let status: number = exitCodes.ok;
  for (const account of names) {
    const read = () =>
      configuredAccounts([account], args, io)[0]?.settings ?? readSettings(args, io);
    const found = await connection(read, io);
    findings.push(...found.findings.map((finding) => ({ account, ...finding })));
    if (status === exitCodes.ok) status = found.status;
  }

  return { findings, status };
}

/**
 * Goes on until something is wrong: without settings there are no keys to try, and without keys no
 * calls.
 */
async function connection(read: () => Settings, io: Io): Promise<Found> {
  const findings: Finding[] = [];
  let item = 'settings';
  let client: Client | null = null;
  try {
    const settings = read();
    refuseUnchosen(settings);
    findings.push(...settingsFound(settings, io));
    if (settings.baseUrl === null) return { findings, status: exitCodes.usage };
    item = 'keys';
    client = await openClient(settings, io);
    const { signal } = io;
    item = 'list';
    const { records } = await client.listCalls({ rows: 1, signal });
    const found =
      records.length > 0 ? 'the server responds with a call' : 'the account has no calls yet';
    findings.push(ok(item, found));
    const { calls } = await apiSource(client, signal).latest({ clauses: [] }, 1);
    findings.push(...futureCall(String(calls[0]?.date_added ?? ''), settings, io));
    item = 'count';
    const { total, source } = await client.countCalls({ signal });
    const without = client.version === 'v3' ? ', not including call extensions' : '';
    findings.push(ok(item, `${count(total)} calls${without} (${source})`));
    const scope = describe(client).scope;
    if (scope !== null)
      findings.push(
        note(item, `the server serves a copy that has ${scope}`, 'all answers are of these calls'),
      );
    item = 'sms';
    if (settings.legacyBaseUrl === null) {
      findings.push(
        note(item, 'skipped: CALLS_LEGACY_BASE_URL is not set', 'only calls sms needs it'),
      );
    } else {
      const numbers = (await client.listSmsNumbers({ signal })).filter(
        ({ smsEnabled }) => smsEnabled,
      );
      findings.push(ok(item, `${count(numbers.length)} SMS-enabled numbers`));
    }
    return { findings, status: exitCodes.ok };
  } catch (error) {
    if (io.signal.aborted) throw error;
    const { message, hints, exitCode } = explain(error);
    // Not the hint to run calls doctor, which is what the user just did.
    const fix = hints.filter((hint) => hint !== tryDoctor).join('; ');
    findings.push(wrong(item, message, fix));
    return { findings, status: exitCode };
  } finally {
    await client?.close();
  }
}

/** What is wrong in the definitions of the configuration file; commands that use them refuse it. */
async function definitionsRead(settings: Settings): Promise<Finding[]> {
  try {
    await checkedDefinitions(settings);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [wrong('definitions', error.message)];
  }
}

/** The definitions that no call of the last 90 days meets: a word in them may be wrong by now. */
async function definitionsFound(
  store: Store,
  accounts: readonly { readonly account: string }[],
  definitions: Definitions,
  io: Io,
): Promise<Finding[]> {
  const item = 'definitions';
  const names = Object.keys(definitions);
  if (names.length === 0) return [];
  const { planQuestion } = await import('@call-attribution/questions');
  const measures = ['calls', ...names.map((name, at) => `count(${name}) as definition_${at}`)];
  const question = { definitions, measures, period: 'last 90 days' };
  const plan = planQuestion(question, { now: io.clock.now() });
  const [answer] = await ask(
    [plan],
    accounts.map(({ account }) => ({ store, account })),
  );
  if (answer === undefined || answer.calls === 0) return [];
  const unmet = names.filter((_, at) => answer.total[`definition_${at}`] === 0);
  const of = `the ${plural(answer.calls, 'call')} of the last 90 days`;
  if (unmet.length === 0) return [ok(item, `each is met by some of ${of}`)];
  const hint = 'calls fields NAME says what one stands for';
  return [note(item, `none of ${of} is ${unmet.join(' or ')}`, hint)];
}

/** A warning where the newest call has yet to come in the time zone that is set. */
function futureCall(newest: string, { timeZone }: Settings, { clock }: Io): Finding[] {
  const problem = timeZone && futureIn(newest, timeZone.value, clock.now());
  const fix = 'set the time zone of the account: its newest calls are of now';
  return problem ? [note('time zone', problem, fix)] : [];
}

/**
 * The configuration file that was read. One in the current folder is read only where it is named,
 * which is easily missed.
 */
function fileFound({ file }: Settings, { cwd, env }: Io): Finding {
  const here = 'calls.config.json';
  const hint = existsSync(join(cwd, here)) && file?.path !== join(cwd, here);
  const fix = hint ? `--config ${here} reads the one in this folder` : undefined;
  if (file === null)
    return note(
      'file',
      `there is no ${userConfigFile(env) ?? here}; only options and environment are used`,
      fix,
    );

  if (file.exposed !== null)
    return note(
      'file',
      `${file.path} has ${file.exposed}, and other users can read it`,
      `chmod 600 ${file.path}`,
    );

  return fix === undefined ? ok('file', file.path) : note('file', file.path, fix);
}

/** What is configured, and where it comes from. */
function settingsFound(settings: Settings, io: Io): Finding[] {
  const { baseUrl, apiVersion, timeZone } = settings;
  const { typedAs = 'calls' } = io;
  const names = [
    ['accessKey', 'access key'],
    ['secretKey', 'secret key'],
    ['bearerToken', 'bearer token'],
  ] as const;
  const secrets: Finding[] = [];
  for (const [name, item] of names) {
    const { from } = settings.secret(name) ?? {};
    if (from === undefined) continue;
    const isOpen = existsSync(from) && readSmallFile(from).isExposed;
    secrets.push(
      isOpen
        ? note(item, `others can read ${from}`, `chmod 600 ${from}`)
        : ok(item, `set (${from})`),
    );
  }

  return [
    fileFound(settings, io),
    baseUrl === null
      ? wrong('URL', 'not set', `${typedAs} init asks for it and keeps it; or set CALLS_BASE_URL`)
      : ok('URL', `${baseUrl.value} (${baseUrl.from})`),
    ok('version', `${apiVersion.value} (${apiVersion.from})`),
    ...secrets,
    timeZone === null
      ? note(
          'time zone',
          'not set; times such as 7d and upload sheets need it',
          'set CALLS_TIME_ZONE to the time zone of the account',
        )
      : ok('time zone', `${timeZone.value} (${timeZone.from})`),
  ];
}
