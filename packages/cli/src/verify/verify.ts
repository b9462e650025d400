import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isStore as isDatabase, type PlannedJob, readJob } from '@call-attribution/fleet';
import { storeName } from '@call-attribution/store';
import type { Handler } from '../args/command.ts';
import { ClosedPipe, Interrupted, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { type Io, say, show, write } from '../io.ts';
import { plural } from '../term/numbers.ts';
import { type Ask, readAsk } from './ask.ts';
import { checkFile } from './check-file.ts';
import { checkJob } from './check-job.ts';
import { checkStore } from './check-store.ts';
import { type Target, targetsAt } from './files.ts';
import { type Check, type CheckVerdict, nothingIn, onlyReceiptIn } from './finding.ts';

/** `calls verify`: counts what is in files and stores, and compares it with receipts and with the API. */
export const verify: Handler = async (args, io) => {
  const [named] = args.words;
  if (named === undefined)
    throw new UsageError('calls verify needs a file, a folder, a store or a job', {
      hints: ['calls verify calls.csv', 'calls verify sqlite:calls.db'],
    });
  const ask = readAsk(args, io);
  const checks: Check[] = [];
  let isRows = false;
  try {
    const job = /\.json$/i.test(named) ? await jobAt(named, io) : null;
    isRows = job !== null && isDatabase(job.into);
    if (job !== null) for await (const check of checkJob(job, ask)) checks.push(check);
    const isStore = job === null && /^(?:sqlite|postgres(?:ql)?):/i.test(named);
    const targets = isStore || job !== null ? [] : await targetsAt(named, io.cwd);
    if (!isStore && job === null && targets.length === 0)
      throw new UsageError(`${named} has no files of records and no receipts`);
    const isOneStore = isStore || (targets.length === 1 && targets[0]?.kind === 'sqlite');
    if (ask.writeReceipt && job === null && !isOneStore)
      throw new UsageError(
        '--write-receipt is for one store; calls export --receipt writes the receipts of files',
      );
    if (isStore) checks.push(await checkStore(named, storeName(named), ask));
    const isAlone = targets.length === 1 && targets[0]?.path === named;
    for (const target of targets)
      checks.push(await (isAlone ? checkTarget(target, ask) : tried(target, ask)));
  } finally {
    await ask.close();
  }
  const verdict = worst(checks);
  if (args.flag('json')) await write(io.stdout, `${JSON.stringify({ verdict, checks })}\n`);
  else {
    await show(io, checks.flatMap(linesOf));
    const noun = isRows ? 'account' : 'file';
    const proved = checks.filter((check) => check.verdict === 'proved').length;
    if (checks.length > 1) say(io, `${proved} of ${plural(checks.length, noun)} proved`);
    const isBare = checks.some(({ findings }) => findings.some(({ code }) => code === 'no_receipt'));
    if (isBare && !ask.againstApi) say(io, '→ --against-api compares what has no receipt with the API');
  }
  return verdict === 'proved' ? exitCodes.ok : exitCodes.incomplete;
};

const worst = (checks: readonly Check[]): CheckVerdict =>
  (['differs', 'not compared', 'unproven'] as const).find((verdict) =>
    checks.some((check) => check.verdict === verdict),
  ) ?? 'proved';

/** The job in a file; null for a file of records. Its first character tells: records of JSON are a list. */
async function jobAt(path: string, io: Io): Promise<PlannedJob | null> {
  const full = resolve(io.cwd, path);
  const text = await readFile(full, 'utf8').catch(() => '');
  if (!/^\s*\{/.test(text) || !/"into"\s*:/.test(text)) return null;
  return readJob(full);
}

/** Of several things, one that cannot be read does not stop the others. */
async function tried(target: Target, ask: Ask): Promise<Check> {
  try {
    return await checkTarget(target, ask);
  } catch (error) {
    if (ask.io.signal.aborted || error instanceof ClosedPipe || error instanceof Interrupted) throw error;
    // What concerns the API concerns all of them.
    if (ask.againstApi) throw error;
    const { message } = await explain(error);
    return nothingIn(target.path, { code: 'unreadable', text: message });
  }
}

async function checkTarget({ kind, path }: Target, ask: Ask): Promise<Check> {
  switch (kind) {
    case 'receipt only':
      return onlyReceiptIn(path);
    case 'file':
      return checkFile(path, ask);
    default:
      return checkStore(`${kind}:${path}`, path, ask);
  }
}

const mostShown = 20;

function linesOf({ path, verdict, rows, receipt, api, accounts = [], findings }: Check): string[] {
  const counted = rows === null ? [] : [plural(rows, 'call')];
  const proof = (): string => {
    if (api.length > 0) return 'each as the API has it';
    if (receipt === null) return 'as its syncs have proved';
    return `as the receipt of ${receipt.writtenAt.slice(0, 10)} says`;
  };
  const removed = [
    ...accounts.flatMap(({ account, erasedCallers, purgedBefore }) => [
      ...(erasedCallers > 0
        ? [`account ${account}: ${plural(erasedCallers, 'caller was', 'callers were')} erased`]
        : []),
      ...(purgedBefore === null ? [] : [`account ${account}: calls before ${purgedBefore} were purged`]),
    ]),
    ...api.flatMap(({ erased, purged, to }) => [
      ...(erased > 0
        ? [`the API still has ${plural(erased, 'call')} of erased callers, which are not missing`]
        : []),
      ...(purged > 0
        ? [`the API still has ${plural(purged, 'call')} from before the purge, which are not missing`]
        : []),
      ...(to === null ? [] : [`compared with the API up to ${to}`]),
    ]),
  ];
  const texts = findings.map(({ text }) => text);
  const more = texts.length > mostShown ? [`and ${plural(texts.length - mostShown, 'more difference')}`] : [];
  const name = ['differs', 'unproven'].includes(verdict) ? verdict.toUpperCase() : verdict;
  const why = verdict === 'proved' ? [proof()] : [];
  return [
    `${path}: ${[name, ...counted, ...why].join(', ')}`,
    ...[...texts.slice(0, mostShown), ...more, ...removed].map((text) => `  ${text}`),
  ];
}
