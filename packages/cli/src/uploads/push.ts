import { resolve } from 'node:path';
import {
  type ConversionRules,
  conversions,
  createTally,
  type Ledger,
  type Outcome,
  sheetFormats,
  summaryLines,
  type Tool,
  unadjustedLines,
} from '@call-attribution/conversions';
import {
  changesToPush,
  checkDestination,
  createDataManager,
  createMicrosoftAds,
  type DataManager,
  type DataManagerDestination,
  dataManagerAccepts,
  findGoogleCredentials,
  type PushTarget,
  pushConversions,
  readMicrosoftCredentials,
} from '@call-attribution/conversions/push';
import {
  day,
  durationMillis,
  formatNaive,
  naiveAt,
  parseNaive,
  periodOf,
} from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args.ts';
import { exitCodes, Interrupted, UsageError } from '../errors.ts';
import { chooseAccounts, contextOf, onlyOf, type ReadAccount } from '../input/accounts.ts';
import { badRecords, withWayOut } from '../input/bad-records.ts';
import { askedPeriod, filterOf, inPeriod, sayPeriod, withExtensions } from '../input/filter.ts';
import { verdictText, watch } from '../input/verdict.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import { openNamedLedger } from './ledger.ts';
import { readRules } from './rules.ts';

/** Another server with the same API, for tests. */
const otherServer = ({ env }: Io): { readonly endpoint?: string } =>
  env.CALLS_PUSH_ENDPOINT ? { endpoint: env.CALLS_PUSH_ENDPOINT } : {};

/** The Data Manager API, with the credentials that gcloud would use. */
async function openGoogle(destination: DataManagerDestination, io: Io): Promise<DataManager> {
  const credentials = await findGoogleCredentials(io.env);
  return createDataManager({ credentials, destination, signal: io.signal, ...otherServer(io) });
}

/** Microsoft Advertising, with the credentials of the file that is named. */
async function openMicrosoft(args: Args, io: Io): Promise<PushTarget> {
  const file = args.text('credentials');
  if (file === null)
    throw new UsageError('calls push microsoft needs --credentials FILE', [
      'a JSON file with developerToken, clientId, clientSecret, refreshToken, customerId and accountId',
    ]);

  const credentials = await readMicrosoftCredentials(resolve(io.cwd, file));
  return createMicrosoftAds({ credentials, signal: io.signal, ...otherServer(io) });
}

/** A push as the options describe it. */
interface Push {
  readonly kind: 'google' | 'microsoft';
  readonly tool: Tool & { readonly title: string };
  /** What the ledger calls the destination. */
  readonly destination: string;
  readonly rules: ConversionRules;
  readonly filter: Filter;
  /** It is only checked by the tool, which Microsoft Advertising cannot do. */
  readonly isCheck: boolean;
  /** What notes what was sent; null when nothing is. */
  readonly ledger: Ledger | null;
  /** The tool; null in a dry run. */
  readonly target: PushTarget | null;
}

/** `calls push`: sends conversions to the API of a bid tool, each once. */
export const push: Handler = async (args, io) => {
  const kind = args.command === 'push microsoft' ? 'microsoft' : 'google';
  const account = onlyOf(await chooseAccounts(args, io), 'calls push');
  const context = contextOf(account.settings, io);
  let tool: Push['tool'] = sheetFormats['microsoft-ads'];
  let conversionName = args.text('conversion-name') ?? '';
  let destination = `microsoft-ads api ${conversionName}`;
  const customer = args.need('customer');
  if (kind === 'google') {
    tool = {
      accepts: dataManagerAccepts({ phone: args.flag('phone') }),
      title: 'the Data Manager API',
    };
    // The ledger notices a change of the action as it does one of the name.
    conversionName = args.need('conversion-action');
    destination = `google-data-manager ${customer.replaceAll('-', '')} ${conversionName}`;
  }

  const login = args.text('login-customer');
  const google = {
    account: customer,
    conversionAction: conversionName,
    ...(login === null ? {} : { loginAccount: login }),
  };
  // A dry run opens nothing that would notice.
  if (kind === 'google') checkDestination(google);

  const { rules: typed, history } = await readRules(args, context, tool, conversionName, io);
  const window = typed.clickWindow ?? tool.accepts.clickWindow;
  let rules = typed;

  // The days in which the tool knows a click, unless the options name others.
  if (typed.from === undefined && window !== null) {
    const begin = typed.now - durationMillis(window, 'clickWindow');
    rules = { ...typed, from: formatNaive(naiveAt(begin, typed.timeZone ?? 'UTC')) };
  }

  const { consent } = rules;
  const isAgreed = typeof consent === 'object' && consent.adUserData === 'granted';
  if (args.flag('phone') && !isAgreed)
    throw new UsageError('--phone needs consent: Google takes numbers only of callers who agreed', [
      '"consent": { "adUserData": "granted", "adPersonalization": "denied" } in the file of --rules',
    ]);

  const asked = await askedPeriod(args, context);
  const from = rules.from === undefined ? null : parseNaive(rules.from);
  let filter = await filterOf(args, context, history);
  if (asked.from === null && from !== null)
    filter = inPeriod(filter, periodOf(from - history * day, null));

  const named = args.text('ledger');
  const isDryRun = args.flag('dry-run');
  const isCheck = args.flag('validate-only');
  if (named === null && !isCheck && !isDryRun)
    throw new UsageError('calls push needs --ledger FILE, where it notes what was sent', [
      'without it the next run would send everything again; --dry-run and --validate-only need none',
    ]);

  let target: PushTarget | null = null;
  if (!isDryRun)
    target = await (kind === 'google' ? openGoogle(google, io) : openMicrosoft(args, io));
  await sayPeriod(periodOf(from, asked.to), context, io);
  const ledger = named === null ? null : await openNamedLedger(named, rules.now, isDryRun, io);
  try {
    const push = { kind, tool, destination, rules, filter, isCheck, ledger, target } as const;
    return await pushCalls(push, account, args, io);
  } finally {
    await ledger?.close();
  }
};

/**
 * Reads the calls, says what is found, sends what the tool does not know yet, and says what became
 * of it.
 */
async function pushCalls(
  { kind, tool, destination, rules, filter, isCheck, ledger, target }: Push,
  { settings, open }: ReadAccount,
  args: Args,
  io: Io,
): Promise<number> {
  const bad = badRecords(args, io);
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');
  try {
    const matching = withExtensions(filter, settings.apiVersion.value);
    const options = { filter: matching, onProgress, onError: bad.onError, signal: io.signal };
    const { stream, verdict } = await source.read(options);
    const tally = createTally();
    const passing = async function* (): AsyncGenerator<Outcome> {
      for await (const outcome of conversions(stream, rules, tool)) {
        tally.add(outcome);
        yield outcome;
      }
    };
    const delivered = ledger?.delivered(destination) ?? new Map();
    const found = await changesToPush(kind, delivered, passing()).finally(() => line.close());
    const { changes, unchanged, uncertain, numbers, withoutConsent, unadjusted } = found;
    const ending = await verdict;
    const status = ending.proof === 'whole' ? exitCodes.ok : exitCodes.incomplete;
    const summary = tally.summary();
    say(io, `${plural(summary.rows, 'conversion')} for ${tool.title}`);
    for (const text of summaryLines(summary, tool, rules)) say(io, text);
    if (withoutConsent > 0)
      say(
        io,
        `not sent: ${plural(withoutConsent, 'call')} without a click ID, whose number may not be used`,
      );
    if (unadjusted.length > 0)
      say(io, `cannot be corrected in ${tool.title}: ${plural(unadjusted.length, 'call')}`);
    for (const text of unadjustedLines(unadjusted)) say(io, text);
    // A call that is missing would look like one that was never there, but what was read is right.
    if (ending.proof !== 'whole') say(io, verdictText(ending));
    if (target === null) {
      say(io, `dry run: ${plural(changes.length, 'change')} to send, ${unchanged} sent before`);
      return status;
    }
    const done = await pushConversions(target, changes, {
      destination,
      numbers,
      validateOnly: isCheck,
      ledger: ledger ?? undefined,
      clock: { now: () => rules.now },
    });
    const { sent, resent, refused } = done;
    const lost = 'its answer was lost and it cannot be sent again as it was; look for it in';
    for (const sid of [...uncertain, ...done.uncertain])
      say(io, `uncertain: call ${sid}: ${lost} ${tool.title}`);
    const again = `${plural(resent, 'change')} of it ${resent === 1 ? 'was' : 'were'} sent again`;
    if (resent > 0) say(io, `an earlier run got no answer: ${again}`);
    const figures = `${sent.add} new, ${sent.restate} corrected, ${sent.retract} taken back`;
    say(
      io,
      isCheck
        ? `checked, nothing is stored: ${figures}`
        : `sent: ${figures}; ${unchanged} sent before`,
    );
    for (const { sid, field, reason } of refused)
      say(io, `refused: call ${sid}: ${reason}${field === '' ? '' : ` (${field})`}`);
    for (const request of isCheck || kind === 'microsoft' ? [] : done.requests)
      say(io, `request ${request}: calls push status ${request} shows what became of it`);
    return refused.length > 0 ? exitCodes.failed : status;
  } catch (error) {
    if (io.signal.aborted)
      throw new Interrupted(['the ledger has what was sent; the same command continues']);
    throw await withWayOut(error);
  } finally {
    line.close();
    bad.sayNames();
    await source.close();
  }
}

/** `calls push status`: what became of a request to Google. */
export const pushStatus: Handler = async (args, io) => {
  const request = args.words[0] ?? '';

  // A request is known by its ID alone.
  const target = await openGoogle({ account: '0000000000', conversionAction: '0' }, io);
  const { status, errors, warnings } = await target.diagnose(request);
  say(io, `request ${request}: ${status}`);
  for (const { reason, count } of errors) say(io, `  ${plural(count, 'event')} failed: ${reason}`);
  for (const { reason, count } of warnings)
    say(io, `  ${plural(count, 'event')} with a warning: ${reason}`);
  return status === 'FAILED' || status === 'PARTIAL_SUCCESS' ? exitCodes.failed : exitCodes.ok;
};
