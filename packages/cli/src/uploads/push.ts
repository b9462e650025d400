import {
  type ConversionRules,
  conversions,
  createTally,
  type Ledger,
  type Outcome,
  summaryLines,
  unadjustedLines,
} from '@call-attribution/conversions';
import {
  changesToPush,
  type DataManager,
  type PushChanges,
  type PushSummary,
  type PushTarget,
  pushConversions,
} from '@call-attribution/conversions/push';
import { day, durationMillis, formatNaive, naiveAt, parseNaive } from '@call-attribution/core/time';
import { allOf, type Filter, where } from '@call-attribution/query-dsl';
import type { Args, Handler } from '../args.ts';
import { Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { chooseAccount, type ReadAccount } from '../input/accounts.ts';
import { badRecords, withWayOut } from '../input/bad-records.ts';
import { contextOf } from '../input/connect.ts';
import { type FilterContext, filterOf, withExtensions } from '../input/filter.ts';
import { rangeOf, sayPeriod } from '../input/period.ts';
import { verdictText, watch } from '../input/verdict.ts';
import { type Io, say } from '../io.ts';
import { plural } from '../terminal/numbers.ts';
import { type Destination, destinationOf, explained, openDataManager } from './destination.ts';
import { openNamedLedger } from './ledger.ts';
import { readRules } from './sheet-options.ts';

/** A push as the options describe it. */
interface Push {
  readonly args: Args;
  readonly io: Io;
  readonly destination: Destination;
  readonly rules: ConversionRules;
  /** What notes what was sent; null when nothing is. */
  readonly ledger: Ledger | null;
  /** The tool; null in a dry run. */
  readonly target: Diagnosing | null;
}

/** `calls push`: sends conversions to the API of a bid tool, each once. */
export const push: Handler = async (args, io) => {
  const destination = destinationOf(args, io);
  const account = await chooseAccount('calls push', args, io);
  const context = contextOf(account.settings, io);
  const { tool, conversionName } = destination;
  const { rules: typed, history } = await readRules(args, context, tool, conversionName, io);
  const rules = within(typed, destination);
  refusePhone(args, rules);
  const filter = filterFor(args, context, rules, history);
  const ledgerFile = args.text('ledger');
  const isDryRun = args.flag('dry-run');
  if (ledgerFile === null && !isCheckOf(args) && !isDryRun) {
    throw new UsageError('calls push needs --ledger FILE, where it notes what was sent', {
      hints: ['without it the next run would send everything again; --dry-run and --validate-only need none'],
    });
  }
  const target = isDryRun ? null : await explained(destination.open());
  sayPeriod({ ...rangeOf(args, context), from: rules.from ?? null }, context, io);
  const ledger =
    ledgerFile === null ? null : await openNamedLedger(ledgerFile, { now: rules.now, isDryRun }, io);
  try {
    return await pushCalls({ args, io, destination, rules, ledger, target }, account, filter);
  } finally {
    await ledger?.close();
  }
};

/** `calls push status`: what became of a request to Google. */
export const pushStatus: Handler = async (args, io) => {
  // A request is known by its ID alone.
  const nowhere = { account: '0000000000', conversionAction: '0' };
  const target = await explained(openDataManager(nowhere, io));
  return sayDiagnostics(args.words[0] ?? '', target, io);
};

function refusePhone(args: Args, { consent }: ConversionRules): void {
  if (
    !args.has('phone') ||
    !args.flag('phone') ||
    (typeof consent === 'object' && consent.adUserData === 'granted')
  )
    return;
  throw new UsageError('--phone needs consent: Google takes numbers only of callers who agreed', {
    hints: ['"consent": { "adUserData": "granted", "adPersonalization": "denied" } in the file of --rules'],
  });
}

/** Is it only checked by the tool? Microsoft Advertising cannot do that. */
const isCheckOf = (args: Args): boolean => args.has('validate-only') && args.flag('validate-only');

/** Reads the calls, says what is found, and sends what the tool does not know yet. */
async function pushCalls(push: Push, { settings, open }: ReadAccount, filter: Filter): Promise<number> {
  const { args, io } = push;
  const version = settings.apiVersion.value;
  const bad = badRecords(args, io);
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');
  try {
    const matching = version === 'v3' ? withExtensions(filter) : filter;
    const options = { filter: matching, onProgress, onError: bad.onError, signal: io.signal };
    const { stream, verdict } = await source.read(options);
    const { outcomes, said } = counted(conversions(stream, push.rules, push.destination.tool), push);
    const delivered = push.ledger?.delivered(push.destination.name) ?? new Map();
    const found = await changesToPush(push.destination.kind, delivered, outcomes).finally(() => line.close());
    const ending = await verdict;
    said();
    sayUnsent(found, push);
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
  { args, io, destination, rules, ledger, target }: Push,
): Promise<number> {
  if (target === null) {
    say(io, `dry run: ${plural(changes.length, 'change')} to send, ${unchanged} sent before`);
    return 0;
  }
  const isCheck = isCheckOf(args);
  const summary = await explained(
    pushConversions(target, changes, {
      ...(ledger === null ? {} : { ledger }),
      destination: destination.name,
      numbers,
      validateOnly: isCheck,
      clock: { now: () => rules.now },
    }),
  );
  for (const sid of [...uncertain, ...summary.uncertain])
    say(
      io,
      `uncertain: call ${sid}: its answer was lost and it cannot be sent again as it was; look for it in ${destination.tool.title}`,
    );
  saySummary(summary, { unchanged, isCheck, kind: destination.kind }, io);
  return summary.refused.length;
}

/** Says what is not sent although it counts. */
function sayUnsent({ withoutConsent, unadjusted }: PushChanges, { destination, io }: Push): void {
  if (withoutConsent > 0)
    say(io, `not sent: ${plural(withoutConsent, 'call')} without a click ID, whose number may not be used`);
  if (unadjusted.length === 0) return;
  say(io, `cannot be corrected in ${destination.tool.title}: ${plural(unadjusted.length, 'call')}`);
  for (const text of unadjustedLines(unadjusted)) say(io, text);
}

/** The rules for the days in which the tool knows a click, unless the options name others. */
function within(rules: ConversionRules, { tool }: Destination): ConversionRules {
  const window = rules.clickWindow ?? tool.accepts.clickWindow;
  if (rules.from !== undefined || window === null) return rules;
  const begin = rules.now - durationMillis(window, 'clickWindow');
  return { ...rules, from: formatNaive(naiveAt(begin, rules.timeZone ?? 'UTC')) };
}

function filterFor(args: Args, context: FilterContext, rules: ConversionRules, history: number): Filter {
  if (rangeOf(args, context).from !== null || rules.from === undefined)
    return filterOf(args, context, { history });
  const typed = filterOf(args, context, { history });
  return allOf(typed, where('date_added').from(formatNaive(parseNaive(rules.from) - history * day)));
}

/** Counts what passes, for the summary that is said before anything is sent. */
function counted(
  outcomes: AsyncIterable<Outcome>,
  { destination: { tool }, rules, io }: Push,
): { readonly outcomes: AsyncIterable<Outcome>; readonly said: () => void } {
  const tally = createTally();
  const passing = async function* (): AsyncGenerator<Outcome> {
    for await (const outcome of outcomes) {
      tally.add(outcome);
      yield outcome;
    }
  };
  return {
    outcomes: passing(),
    said() {
      const summary = tally.summary();
      say(io, `${plural(summary.rows, 'conversion')} for ${tool.title}`);
      for (const line of summaryLines(summary, tool, rules)) say(io, line);
    },
  };
}

function saySummary(
  { sent, resent, refused, requests }: PushSummary,
  { unchanged, isCheck, kind }: { unchanged: number; isCheck: boolean; kind: Destination['kind'] },
  io: Io,
): void {
  if (resent > 0)
    say(
      io,
      `an earlier run got no answer: ${plural(resent, 'change')} of it ${resent === 1 ? 'was' : 'were'} sent again`,
    );
  const figures = `${sent.add} new, ${sent.restate} corrected, ${sent.retract} taken back`;
  say(io, isCheck ? `checked, nothing is stored: ${figures}` : `sent: ${figures}; ${unchanged} sent before`);
  for (const { sid, field, reason } of refused)
    say(io, `refused: call ${sid}: ${reason}${field === '' ? '' : ` (${field})`}`);
  if (isCheck || kind !== 'google') return;
  for (const request of requests)
    say(io, `request ${request}: calls push status ${request} shows what became of it`);
}

type Diagnosing = PushTarget & Partial<Pick<DataManager, 'diagnose'>>;

async function sayDiagnostics(request: string, target: Diagnosing, io: Io): Promise<number> {
  if (target.diagnose === undefined) return exitCodes.ok;
  const { status, errors, warnings } = await explained(target.diagnose(request));
  say(io, `request ${request}: ${status}`);
  for (const { reason, count } of errors) say(io, `  ${plural(count, 'event')} failed: ${reason}`);
  for (const { reason, count } of warnings) say(io, `  ${plural(count, 'event')} with a warning: ${reason}`);
  return status === 'FAILED' || status === 'PARTIAL_SUCCESS' ? exitCodes.failed : exitCodes.ok;
}
