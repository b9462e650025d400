import {
  type ConversionRules,
  changesToSend,
  checkRetractions,
  conversions,
  createTally,
  type Ledger,
  summaryLines,
  type Tool,
  uncorrectedLines,
} from '@call-attribution/conversions';
import { type PushTarget, pushConversions } from '@call-attribution/conversions/push';
import {
  day,
  durationMillis,
  formatNaive,
  naiveAt,
  parseNaive,
  periodOf,
} from '@call-attribution/core/time';
import type { Filter } from '@call-attribution/query-dsl';
import type { Args } from '../../args.ts';
import { exitCodes, Interrupted, UsageError } from '../../errors.ts';
import { badRecords, withWayOut } from '../../input/bad-records.ts';
import { inPeriod, withExtensions } from '../../input/filter.ts';
import { statusOf, watch } from '../../input/verdict.ts';
import { type Io, say } from '../../io.ts';
import { plural } from '../../terminal/numbers.ts';
import { openNamedLedger } from '../../uploads/ledger.ts';
import { chooseAccounts, contextOf, onlyOf, type ReadAccount } from '../typed/accounts.ts';
import { askedPeriod, filterOf, sayPeriod } from '../typed/filter.ts';
import { createOutcomeList } from '../typed/outcomes.ts';
import { readRules } from './rules.ts';

/** A tool that conversions are sent to, as the options of its command describe it. */
export interface PushTool {
  /** Which calls it takes, and what it is called. */
  readonly tool: Tool & { readonly title: string };
  /** The conversion action, goal or type, as the ledger notes it. */
  readonly conversionName: string;
  /** What the ledger calls it. Each tool and each conversion of it has a destination of its own. */
  readonly destination: string;
  /** It is only checked there, and nothing is stored. */
  readonly isCheck: boolean;
  /** What shows what became of a request, to type before its ID; null where the tool has nothing. */
  readonly statusCommand: string | null;
  /** Refuses rules that do not go together with the options. */
  checkRules(rules: ConversionRules): void;
  /** Opens its API. A dry run opens nothing. */
  open(): Promise<PushTarget>;
}

/** Another server with the same API, for tests. */
export const otherServer = ({ env }: Io): { readonly endpoint?: string } =>
  env.CALLS_PUSH_ENDPOINT ? { endpoint: env.CALLS_PUSH_ENDPOINT } : {};

/** What the ledger calls a destination: what another server took for a trial, the tool does not have. */
export function destinationOf(name: string, io: Io): string {
  const { endpoint } = otherServer(io);
  return endpoint === undefined ? name : `${name} at ${endpoint}`;
}

/** A push as the options describe it. */
interface Push {
  readonly to: PushTool;
  readonly rules: ConversionRules;
  readonly filter: Filter;
  /** All calls of the period that was typed. */
  readonly ofPeriod: Filter;
  /** What notes what was sent; null when nothing is. */
  readonly ledger: Ledger | null;
  /** The tool; null in a dry run. */
  readonly target: PushTarget | null;
}

/** `calls push`: sends conversions to the API of a bid tool, each once. */
export async function push(to: PushTool, args: Args, io: Io): Promise<number> {
  const account = onlyOf(await chooseAccounts(args, io), 'calls push');
  const context = contextOf(account.settings, io);
  const { tool, conversionName } = to;
  const { rules: typed, history } = await readRules(args, context, tool, conversionName, io);
  const window = typed.clickWindow ?? tool.accepts.clickWindow;
  const asked = await askedPeriod(args, context);

  // The days in which the tool knows a click, unless the options name others.
  let { from } = asked;
  if (from === null && window !== null) {
    const begin = typed.now - durationMillis(window, 'clickWindow');
    from = parseNaive(formatNaive(naiveAt(begin, typed.timeZone ?? 'UTC')));
  }

  let rules = typed;
  if (typed.outcomes !== undefined)
    rules = { ...typed, outcomes: { ...typed.outcomes, period: periodOf(from, asked.to) } };
  else if (from !== null) rules = { ...typed, from: formatNaive(from) };
  to.checkRules(rules);
  let filter = await filterOf(args, context, history);
  if (asked.from === null && from !== null)
    filter = inPeriod(filter, periodOf(from - history * day, null));

  const named = args.text('ledger');
  const isDryRun = args.flag('dry-run');
  if (named === null && !to.isCheck && !isDryRun)
    throw new UsageError('calls push needs --ledger FILE, where it notes what was sent', [
      'without it the next run would send everything again; --dry-run and --validate-only need none',
    ]);

  const target = isDryRun ? null : await to.open();
  await sayPeriod(periodOf(from, asked.to), context, io);
  const ledger = named === null ? null : await openNamedLedger(named, rules.now, isDryRun, io);
  try {
    const ofPeriod = inPeriod({ clauses: [] }, asked);
    const plan = { to, rules, filter, ofPeriod, ledger, target };
    return await pushCalls(plan, account, args, io);
  } finally {
    await ledger?.close();
  }
}

/**
 * Reads the calls, says what is found, sends what the tool does not know yet, and says what became
 * of it.
 */
async function pushCalls(
  { to, rules, filter, ofPeriod, ledger, target }: Push,
  { settings, open }: ReadAccount,
  args: Args,
  io: Io,
): Promise<number> {
  const { tool, destination, isCheck, statusCommand } = to;
  const bad = badRecords(args.text('on-bad-record') === 'skip');
  const source = await open();
  const { line, onProgress } = watch(io, 'calls');
  try {
    const matching = withExtensions(filter, settings.apiVersion.value);
    const options = { filter: matching, onProgress, onError: bad.onError, signal: io.signal };
    const { stream, result, said } = await source.read(options);
    for (const text of [...said, ...(await source.dataEnds(ofPeriod))]) say(io, text);
    const tally = createTally();
    const found = conversions(
      stream,
      rules,
      tool,
      ledger?.delivered(destination),
      ledger?.seen(destination),
    );
    const listed = createOutcomeList();
    const changes = await changesToSend(found, (change) => {
      tally.add(change);
      listed.add(change);
    }).finally(() => line.close());
    const ended = await result;
    const status = statusOf(ended);
    const summary = tally.summary();
    const { uncorrected, unchanged, uncertain } = summary;
    say(io, `${plural(summary.rows, 'conversion')} for ${tool.title}`);
    for (const text of summaryLines(summary, tool, rules)) say(io, text);
    if (uncorrected.length > 0)
      say(io, `cannot be corrected in ${tool.title}: ${plural(uncorrected.length, 'call')}`);
    for (const text of uncorrectedLines(summary)) say(io, text);
    // A call that is missing would look like one that was never there, but what was read is right.
    for (const text of ended.said) say(io, text);
    if (!ended.isWhole) say(io, ended.text);
    if (!args.flag('allow-retractions')) checkRetractions(summary);
    if (target === null) {
      await listed.show(io);
      const { add, restate, retract } = summary.changes;
      const count = plural(add + restate + retract, 'change');
      say(io, `dry run: ${count} to send, ${unchanged} sent before`);
      return status;
    }
    const done = await pushConversions(target, changes, {
      destination,
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
    if (!isCheck && statusCommand !== null)
      for (const request of done.requests)
        say(io, `request ${request}: ${statusCommand} ${request} shows what became of it`);
    return refused.length > 0 ? exitCodes.failed : status;
  } catch (error) {
    if (io.signal.aborted)
      throw new Interrupted(['the ledger has what was sent; the same command continues']);
    throw await withWayOut(error);
  } finally {
    line.close();
    for (const line of bad.names()) say(io, line);
    await source.close();
  }
}
