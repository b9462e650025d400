import type { Call, FieldSpec } from '@call-attribution/core';
import { memoryState, syncCalls } from '@call-attribution/node-stream';
import type { Args, Handler } from '../args/command.ts';
import { interval } from '../args/interval.ts';
import { readRange } from '../args/time.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, show, write } from '../io.ts';
import { accountsOfApi, onlyOf } from '../reading/accounts.ts';
import { contextOf, openClient } from '../reading/connect.ts';
import { cellText, fieldsNamed, pickFields, readFields, valueOfField } from '../reading/fields.ts';
import { filterOf, rangeOf, sayExtensions, withinRange } from '../reading/filter.ts';
import { again } from '../syncing/repeat.ts';
import { duration } from '../term/numbers.ts';
import { styleFor } from '../term/style.ts';

// What says at once who called and what brought them.
const usual = ['date_added', 'ani', 'talk_minutes', 'ppc_campaign', 'phone_label'];

/** `calls list --follow`: each call that comes, once, until Ctrl-C. */
export const watchCalls: Handler = async (args, io) => {
  const every = interval(args, 'every', { min: 1_000 }) ?? 30_000;
  const print = printer(args, io);
  const { settings, problem } = onlyOf(accountsOfApi(args, io), 'calls list --follow');
  if (problem) throw problem;
  const context = contextOf(settings, io);
  const typed = filterOf(args, context);
  const start = rangeOf(args, context).from;
  const from = start ?? readRange({ period: 'last 1 hour' }, context).from;
  const filter = start === null ? withinRange(typed, { from, to: null }) : typed;
  const client = await openClient(settings, args, io);
  say(io, `calls from ${from} on, looked for every ${duration(every)}; Ctrl-C ends`);
  sayExtensions(filter, settings.apiVersion.value, io);
  try {
    const options = {
      ...{ state: memoryState(), filter, signal: io.signal },
      // Calls come late, and a call that was shown is not looked at again.
      lookback: '1h',
      isFinal: () => true,
    } as const;
    const look = async (): Promise<void> => {
      for await (const { kind, call } of syncCalls(client, options)) if (kind === 'new') await print(call);
    };
    await again(look, every, io);
  } finally {
    await client.close();
  }
  return exitCodes.ok;
};

/** Prints a call: a line for people, or one of JSON. */
function printer(args: Args, io: Io): (call: Call) => Promise<void> {
  const chosen = readFields(args);
  if (args.flag('json'))
    return (call) =>
      write(io.stdout, `${JSON.stringify(chosen === null ? call : pickFields(call, chosen))}\n`);
  const fields = chosen ?? fieldsNamed(usual);
  const widths = fields.map(({ name }) => name.length);
  const { bold } = styleFor(io.stdout, io.env);
  const line = (cells: readonly string[]): string => {
    // A column becomes wider when it has to, so that those after it stay below each other.
    for (const [at, cell] of cells.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
    return cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  };
  const cellsOf = (call: Call) => fields.map((field: FieldSpec) => cellText(valueOfField(call, field)));
  let isFirst = true;
  return async (call) => {
    const cells = cellsOf(call);
    const text = line(cells);
    if (isFirst) await show(io, [bold(line(fields.map(({ name }) => name)))]);
    isFirst = false;
    await show(io, [text]);
  };
}
