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
  createDataManager,
  createMicrosoftAds,
  type DataManager,
  type DataManagerDestination,
  dataManagerAccepts,
  findGoogleCredentials,
  type PushChanges,
  PushError,
  type PushTarget,
  pushConversions,
  readMicrosoftCredentials,
} from '@call-attribution/conversions/push';
import { day, durationMillis, formatNaive, naiveAt, parseNaive } from '@call-attribution/core/time';
import { allOf, type Filter, where } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args.ts';
import { CliError, Interrupted, UsageError } from '../errors.ts';
import { exitCodes, exitOf } from '../exit-codes.ts';
import { chooseAccount, type ReadAccount } from '../input/accounts.ts';
import { badRecords, withWayOut } from '../input/bad-records.ts';
import { contextOf } from '../input/connect.ts';
import { filterOf, withExtensions } from '../input/filter.ts';
import { rangeOf, sayPeriod } from '../input/period.ts';
import { verdictText, watch } from '../input/verdict.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import { openNamedLedger } from './ledger.ts';
import { readRules } from './rules.ts';

/** An API that takes conversions, as this command needs to know it. */
interface Destination {
  readonly tool: Tool & { readonly title: string };
  readonly kind: 'google' | 'microsoft';
  /** What the ledger calls it. */
  readonly name: string;
  /** Conversion name in the rules. */
  readonly conversionName: string;
  /** Opens the API; nothing is sent yet. */
  open(): Promise<PushTarget>;
}

/** Another server with the same API, for tests. */
const otherServer = ({ env }: Io): { readonly endpoint?: string } =>
  env.CALLS_PUSH_ENDPOINT ? { endpoint: env.CALLS_PUSH_ENDPOINT } : {};

function toMicrosoft(args: Args, io: Io): Destination {
  const file = args.text('credentials');
  const name = args.text('conversion-name') ?? '';
  return {
    tool: sheetFormats['microsoft-ads'],
    kind: 'microsoft',
    name: `microsoft-ads api ${name}`,
    conversionName: name,
    async open() {
      if (file === null)
        throw new UsageError('calls push microsoft needs --credentials FILE', {
          hints: [
            'a JSON file with developerToken, clientId, clientSecret, refreshToken, customerId and accountId',
          ],
        });
      const credentials = await readMicrosoftCredentials(resolve(io.cwd, file));
      return createMicrosoftAds({ credentials, signal: io.signal, ...otherServer(io) });
    },
  };
}

function toGoogle(args: Args, io: Io): Destination {
  const [account, action] = [args.need('customer'), args.need('conversion-action')];
  const login = args.text('login-customer');
  const loginAccount = login === null ? {} : { loginAccount: login };
  return {
    tool: { accepts: dataManagerAccepts({ phone: args.flag('phone') }), title: 'the Data Manager API' },
    kind: 'google',
    name: `google-data-manager ${account.replaceAll('-', '')} ${action}`,
    // The ledger notices a change of the action as it does one of the name.
    conversionName: action,
    open: () => openDataManager({ account, conversionAction: action, ...loginAccount }, io),
  };
}

/** The Data Manager API, with the credentials that gcloud would use. */
async function openDataManager(destination: DataManagerDestination, io: Io): Promise<DataManager> {
  const credentials = await findGoogleCredentials(io.env);
  return createDataManager({ credentials, destination, signal: io.signal, ...otherServer(io) });
}

/** An error of the tool with what to do, and its exit status. */
async function explained<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof PushError)) throw error;
    const { hint, summary } = error;
    const hints = hint === undefined ? [] : [hint];
    throw new CliError(summary, { exitCode: exitOf(error), hints, cause: error });
  });
}

/** A push as the options describe it. */
interface Push {
  readonly args: Args;
  readonly io: Io;
  readonly destination: Destination;
  readonly rules: ConversionRules;
  /** It is only checked by the tool, which Microsoft Advertising cannot do. */
  readonly isCheck: boolean;
  /** What notes what was sent; null when nothing is. */
  readonly ledger: Ledger | null;
  /** The tool; null in a dry run. */
  readonly target: PushTarget | null;
}

/** `calls push`: sends conversions to the API of a bid tool, each once. */
export const push: Handler = async (args, io) => {
  const destination = args.command === 'push microsoft' ? toMicrosoft(args, io) : toGoogle(args, io);
  const { tool, conversionName } = destination;
  const account = await chooseAccount('calls push', args, io);
  const context = contextOf(account.settings, io);
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
    throw new UsageError('--phone needs consent: Google takes numbers only of callers who agreed', {
      hints: ['"consent": { "adUserData": "granted", "adPersonalization": "denied" } in the file of --rules'],
    });
  let filter = filterOf(args, context, { history });
  if (rangeOf(args, context).from === null && rules.from !== undefined)
    filter = allOf(filter, where('date_added').from(formatNaive(parseNaive(rules.from) - history * day)));
  const ledgerFile = args.text('ledger');
  const isDryRun = args.flag('dry-run');
  const isCheck = args.flag('validate-only');
  if (ledgerFile === null && !isCheck && !isDryRun)
    throw new UsageError('calls push needs --ledger FILE, where it notes what was sent', {
      hints: ['without it the next run would send everything again; --dry-run and --validate-only need none'],
    });
  const target = isDryRun ? null : await explained(destination.open());
  sayPeriod({ ...rangeOf(args, context), from: rules.from ?? null }, context, io);
  const ledger = ledgerFile === null ? null : await openNamedLedger(ledgerFile, rules.now, isDryRun, io);
  try {
    return await pushCalls({ args, io, destination, rules, isCheck, ledger, target }, account, filter);
  } finally {
    await ledger?.close();
  }
};

/** `calls push status`: what became of a request to Google. */
export const pushStatus: Handler = async (args, io) => {
  const request = args.words[0] ?? '';
  // A request is known by its ID alone.
  const target = await explained(openDataManager({ account: '0000000000', conversionAction: '0' }, io));
  const { status, errors, warnings } = await explained(target.diagnose(request));
  say(io, `request ${request}: ${status}`);
  for (const { reason, count } of errors) say(io, `  ${plural(count, 'event')} failed: ${reason}`);
  for (const { reason, count } of warnings) say(io, `  ${plural(count, 'event')} with a warning: ${reason}`);
  return status === 'FAILED' || status === 'PARTIAL_SUCCESS' ? exitCodes.failed : exitCodes.ok;
};

/** Reads the calls, says what is found, and sends what the tool does not know yet. */
async function pushCalls(push: Push, { settings, open }: ReadAccount, filter: Filter): Promise<number> {
  const { args, io, destination, rules, ledger } = push;
  const { tool, kind, name } = destination;
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
    const delivered = ledger?.delivered(name) ?? new Map();
    const found = await changesToPush(kind, delivered, passing()).finally(() => line.close());
    const ending = await verdict;
    const summary = tally.summary();
    say(io, `${plural(summary.rows, 'conversion')} for ${tool.title}`);
    for (const text of summaryLines(summary, tool, rules)) say(io, text);
    const { withoutConsent, unadjusted } = found;
    if (withoutConsent > 0)
      say(io, `not sent: ${plural(withoutConsent, 'call')} without a click ID, whose number may not be used`);
    if (unadjusted.length > 0)
      say(io, `cannot be corrected in ${tool.title}: ${plural(unadjusted.length, 'call')}`);
    for (const text of unadjustedLines(unadjusted)) say(io, text);
    // A call that is missing would look like one that was never there, but what was read is right.
    if (ending.proof !== 'whole') say(io, verdictText(ending));
    if ((await send(found, push)) > 0) return exitCodes.failed;
    return ending.proof === 'whole' ? exitCodes.ok : exitCodes.incomplete;
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

/** Sends the changes, unless it is a dry run, and says what became of them. Returns how many the tool refused. */
async function send(
  { changes, unchanged, uncertain, numbers }: PushChanges,
  { io, destination, rules, isCheck, ledger, target }: Push,
): Promise<number> {
  if (target === null) {
    say(io, `dry run: ${plural(changes.length, 'change')} to send, ${unchanged} sent before`);
    return 0;
  }
  const summary = await explained(
    pushConversions(target, changes, {
      ...(ledger === null ? {} : { ledger }),
      destination: destination.name,
      numbers,
      validateOnly: isCheck,
      clock: { now: () => rules.now },
    }),
  );
  const { sent, resent, refused, requests } = summary;
  for (const sid of [...uncertain, ...summary.uncertain])
    say(
      io,
      `uncertain: call ${sid}: its answer was lost and it cannot be sent again as it was; look for it in ${destination.tool.title}`,
    );
  if (resent > 0)
    say(
      io,
      `an earlier run got no answer: ${plural(resent, 'change')} of it ${resent === 1 ? 'was' : 'were'} sent again`,
    );
  const figures = `${sent.add} new, ${sent.restate} corrected, ${sent.retract} taken back`;
  say(io, isCheck ? `checked, nothing is stored: ${figures}` : `sent: ${figures}; ${unchanged} sent before`);
  for (const { sid, field, reason } of refused)
    say(io, `refused: call ${sid}: ${reason}${field === '' ? '' : ` (${field})`}`);
  if (!isCheck && destination.kind === 'google')
    for (const request of requests)
      say(io, `request ${request}: calls push status ${request} shows what became of it`);
  return refused.length;
}
