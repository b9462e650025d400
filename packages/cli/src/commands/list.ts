import type { Call, FieldSpec } from '@call-attribution/core';
import { type Period, periodOf, textOf } from '@call-attribution/core/time';
import { type Args, interval } from '../args.ts';
import { command } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import type { Remarks } from '../input/verdict.ts';
import { type Io, say, show, write } from '../io.ts';
import {
  accounts,
  changes,
  connection,
  exclusion,
  output,
  whichCalls,
  without,
} from '../options.ts';
import { count, duration, plural } from '../terminal/numbers.ts';
import { refuseChangedSince } from './typed/changed-since.ts';
import type { RowColumn } from './typed/output.ts';

/** `calls list`: the calls that match, as a table for people or as data for programs. */
export const list = command({
  name: 'list',
  summary: 'show the latest calls, or each new one as it comes',
  about:
    'Shows the latest calls that match, the newest first. On a terminal the table fits the window; piped, nothing is cut. ' +
    '--all shows the oldest first; in the formats ndjson and csv it is a stream and works for any number of calls. --follow begins ' +
    'with the calls of the last hour, looks for new ones until Ctrl-C, and shows each once.',
  options: {
    '-n, --limit <n>': 'how many calls to show (default: 20)',
    '--all': 'show all calls that match',
    '--follow': 'show each new call as it comes, until Ctrl-C',
    '--every <duration>': 'with --follow: how often to look: 10s, 1m (default: 30s)',
    ...without(whichCalls, '--on-bad-record <stop|skip>'),
    ...changes,
    ...exclusion,
    ...output,
    ...accounts,
    ...connection,
  },
  examples: {
    'calls list --from 7d --min-talk 2m --time-zone America/New_York':
      'the latest calls of seven days, of two minutes or more',
    'calls list --period 2026-11 --all -o november.csv': 'a whole month as a file',
    "calls list --q 'talk_minutes:[5 TO *]' --fields sid,date_added,ppc_campaign":
      'your own filter and fields',
    'calls list --follow --min-talk 2m --json | jq .sid': 'each new call, for another program',
  },
  async run(args, io) {
    if (args.flag('every') && !args.flag('follow'))
      throw new UsageError('--every goes with --follow');
    if (args.flag('follow')) {
      refuseChangedSince(args);
      return follow(args, io);
    }

    const { chooseCalls, inTurn } = await import('./typed/accounts.ts');
    const { fieldsNamed, fieldsOf, pickFields, readFields } = await import('../input/fields.ts');
    const { leavesExtensions } = await import('../input/filter.ts');
    const { sayLeftOut } = await import('./typed/filter.ts');
    const { rowFormats, targetOf, writeRows } = await import('./typed/output.ts');
    const target = targetOf(args, rowFormats);
    const isTable = target.format === 'table';
    const most = args.integer('limit') ?? 20;
    const chosen = readFields(args.list('fields'));
    const accounts = await chooseCalls(args, io);
    const several = accounts.some(({ name }) => name !== null);
    const notes: string[] = [];
    const incomplete = new Set<string>();
    let status: number = exitCodes.ok;
    let shown = 0;

    // Where no call matches, a copy says by itself that the calls begin later.
    const known = new Set<string>();
    const note = ({ said, lacks }: Remarks): void => {
      for (const line of said) if (!known.has(line)) say(io, line);
      for (const line of said) known.add(line);
      for (const line of lacks) incomplete.add(line);
    };

    const rows = async function* () {
      status = yield* inTurn(accounts, args, io, async function* ({ name, plan: filter, open }) {
        const source = await open();
        const of = name === null ? '' : `${name}: `;

        const row = (call: Call) => ({
          ...(several ? { account: name } : {}),
          ...(chosen === null ? call : pickFields(call, chosen)),
        });

        try {
          const before = shown;
          if (args.flag('all')) {
            const { stream, result, said, lacks } = await source.read({ filter });
            note({ said: [...said, ...(await source.dataEnds(filter))], lacks });
            for await (const call of stream) {
              shown += 1;
              yield row(call);
            }
            const ended = await result;
            note(ended);
            if (!ended.isWhole || isTable) notes.push(`${of}${ended.text}`);
            return ended.isWhole ? exitCodes.ok : exitCodes.incomplete;
          }
          const { calls, total, isUnordered, said, lacks } = await source.latest(filter, most);
          note({ said: [...said, ...(await source.dataEnds(filter))], lacks });
          for (const call of calls.toReversed()) yield row(call);
          shown += calls.length;
          const isAll = calls.length >= total;
          const which = isAll ? 'all that match' : `the latest of ${count(total)}`;
          if (shown === before) notes.push(...(isTable ? [`${of}no calls match`] : []));
          else if (isTable || !isAll) notes.push(`${of}${plural(calls.length, 'call')}: ${which}`);
          if (isUnordered) notes.push(`${of}${unordered}`);
          if (!isAll) notes.push(`${of}-n ${most * 10} shows more, --all shows all calls`);
          return exitCodes.ok;
        } finally {
          await source.close();
        }
      });
    };

    const versions = accounts.map(({ settings }) => settings.apiVersion.value);
    const usual = isTable
      ? fieldsNamed(Object.keys(usualFields)).filter((field) =>
          versions.some((version) => field[version] !== null),
        )
      : [...new Set(versions.flatMap(fieldsOf))];
    const columns = [
      ...(several ? [{ key: 'account', title: 'account', min: 12, rank: -1 }] : []),
      ...(chosen ?? usual).map((field, at) =>
        columnOf(field, chosen === null ? (usualFields[field.name] ?? 9) : at),
      ),
    ];

    // A reader of the file has not seen what was said when it was written.
    const above = () => (target.output === null ? [] : [...incomplete]);
    await writeRows(rows(), columns, target, io, { above, more: '; choose fields with --fields' });
    for (const note of notes) say(io, note);
    const isLeaving = accounts.some(({ plan, settings }) =>
      leavesExtensions(plan, settings.apiVersion.value),
    );
    if (isTable && shown > 0 && isLeaving) await sayLeftOut(io);
    return status;
  },
});

const unordered =
  'the server does not list calls in the order of time, so later ones may be missing; narrow the time with --from';

// The fields that say most about a call; on a narrow terminal those with the highest number go
// first.
const usualFields: Readonly<Record<string, number>> = {
  date_added: 0,
  sid: 4,
  ani: 2,
  talk_minutes: 1,
  channel: 5,
  ppc_campaign: 3,
  phone_label: 6,
  referrer: 7,
  ppc_status: 8,
};

// A truncated time, number or id is useless, so such a column is dropped rather than narrowed.
function columnOf({ name, type, isId, mask }: FieldSpec, rank: number): RowColumn {
  const isNumber = /^(?:integer|integer-string|decimal-string)$/.test(type) && !isId;
  const isWhole =
    isNumber || isId || type.startsWith('datetime') || mask?.kind === 'phone' || name === 'dnis';
  return {
    key: name,
    title: name,
    rank,
    min: isWhole ? 21 : 10,
    align: isNumber ? 'right' : 'left',
  };
}

/** `calls list --follow`: each call that comes, once, until Ctrl-C. */
async function follow(args: Args, io: Io): Promise<number> {
  const { accountsOfApi, contextOf, onlyOf, openClient } = await import('./typed/accounts.ts');
  const { fieldsNamed, pickFields, readFields, valueOfField } = await import('../input/fields.ts');
  const { inPeriod } = await import('../input/filter.ts');
  const { askedPeriod, filterOf, readTyped, sayExtensions } = await import('./typed/filter.ts');
  const { again } = await import('../syncing/repeat.ts');
  const { sayRetry } = await import('./typed/repeat.ts');
  const { memoryState, syncCalls } = await import('@call-attribution/node-stream');
  const { describe } = await import('@call-attribution/node-stream/copies');
  const every = interval(args, 'every', { min: 1_000 }) ?? 30_000;
  const chosen = readFields(args.list('fields'));
  const { settings, called } = onlyOf(accountsOfApi(args, io), 'calls list --follow');
  const context = contextOf(settings, io);
  const typed = await filterOf(args, context);
  const asked = await askedPeriod(args, context);
  if (asked.from === null && context.timeZone === null)
    throw new UsageError(
      '--follow begins with the calls of the last hour, and needs a time zone for it',
      ['add --time-zone America/New_York (the time zone of the account), or --from with a date'],
    );

  let filter = typed;
  let period: Period = asked;
  if (asked.from === null) {
    period = periodOf((await readTyped({ period: 'last 1 hour' }, context)).from, null);
    filter = inPeriod(typed, period);
  }

  const client = await openClient(settings, io);
  const of = called === null ? '' : ` of account ${called}`;
  say(
    io,
    `calls${of} from ${textOf(period).from} on, looked for every ${duration(every)}; Ctrl-C ends`,
  );
  await sayExtensions(filter, context.version, io);

  // What says at once who called and what brought them.
  const fields =
    chosen ?? fieldsNamed(['date_added', 'ani', 'talk_minutes', 'ppc_campaign', 'phone_label']);
  // The heading comes before the first call: room for a time and a number.
  const widths = fields.map(({ name, type, mask }) =>
    Math.max(name.length, type.startsWith('datetime') ? 19 : 0, mask?.kind === 'phone' ? 10 : 0),
  );

  const line = (cells: readonly string[]): string => {
    // A column becomes wider when it has to, so that those after it stay below each other.
    for (const [at, cell] of cells.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
    return cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  };

  const print = (call: Call): Promise<void> => {
    const record = chosen === null ? call : pickFields(call, chosen);
    if (args.flag('json')) return write(io.stdout, `${JSON.stringify(record)}\n`);
    return show(io, [line(fields.map((field) => String(valueOfField(call, field) ?? '')))]);
  };

  try {
    const options = {
      state: memoryState(),
      filter,
      signal: io.signal,
      // Calls come late, and a call that was shown is not looked at again.
      lookback: '1h',
      settle: '1h',
    } as const;
    let said: string | null = null;
    const look = async (): Promise<void> => {
      for await (const { kind, call } of syncCalls(client, options))
        if (kind === 'new') await print(call);
      const scope = describe(client).scope;
      if (scope !== null && scope !== said) say(io, `the server ${client.baseUrl} has ${scope}`);
      said = scope;
    };
    if (!args.flag('json')) await show(io, [line(fields.map(({ name }) => name))]);
    await again(look, every, io.signal, sayRetry(every, io));
  } finally {
    await client.close();
  }

  return exitCodes.ok;
}
