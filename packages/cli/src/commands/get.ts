import { sheetFormats } from '@call-attribution/conversions/formats';
import type { FieldSpec } from '@call-attribution/core';
import type { Args } from '../args.ts';
import { command } from '../command.ts';
import { CliError, exitCodes, UsageError } from '../errors.ts';
import { say } from '../io.ts';
import {
  accounts,
  connection,
  conversionName,
  googleAction,
  only,
  output,
  ruleOptions,
  whichCalls,
} from '../options.ts';
import type { Style } from '../terminal/style.ts';
import { pad, printable } from '../terminal/width.ts';
import { pushTools } from './push.ts';
import type { WhyAnswer } from './runs/why.ts';

/** `calls get`: one call, its fields by group. */
export const get = command({
  name: 'get',
  summary: 'show one call by its session ID, or why it counts for a bid tool or does not',
  words: { '<sid>': 'session ID of the call' },
  choices: { for: [...Object.keys(sheetFormats), ...pushTools.keys()] },
  options: {
    ...only(whichCalls, '--store <url>', '--min-talk <duration>'),
    '--for <tool>':
      'say why it counts for this tool or does not, as calls sheet or calls push judges it',
    ...ruleOptions,
    ...conversionName,
    ...googleAction,
    '--ledger <file>': 'say what of it was sent, as the ledger of sheets or pushes has it',
    ...output,
    ...accounts,
    ...connection,
  },
  examples: {
    'calls get 1000000001': 'every field that has a value, by group',
    'calls get 1000000001 --json': 'the whole record',
    'calls get 1000000001 --for google-ads-clicks --rules rules.json':
      'why it is in the sheet or not; --ledger says whether it was sent',
  },
  async run(args, io) {
    const stray = ofJudging.find((name) => args.flag(name));
    if (stray !== undefined && !args.flag('for'))
      throw new UsageError(`--${stray} goes with --for, which says why a call counts for a tool`);
    refuseOfOtherTools(args);
    const { chooseAccounts, contextOf, eachAccount } = await import('./typed/accounts.ts');
    const { fieldsOf, pickFields, readFields } = await import('../input/fields.ts');
    const output = await import('./typed/output.ts');
    const target = output.targetOf(args, output.rowFormats);
    const chosen = readFields(args.list('fields'));
    const sid = args.words[0] ?? '';
    const accounts = await chooseAccounts(args, io);
    let why: WhyAnswer | null = null;
    const found: { readonly row: Record<string, unknown>; readonly all: readonly FieldSpec[] }[] =
      [];

    // Of several accounts, only one has the call.
    const status = await eachAccount(accounts, args, io, async ({ name, settings, open }) => {
      const source = await open();
      try {
        const { call, said } = await source.get(sid);
        for (const line of said) say(io, line);
        if (call === null) return exitCodes.ok;
        if (args.text('for') !== null) {
          const { sheetOf, whyOf } = await import('./runs/why.ts');
          const pushed = await pushTools.get(args.need('for'))?.toolOf(args, io);
          const tool = pushed ?? sheetOf(args);
          why = await whyOf(call, source, tool, args, contextOf(settings, io), io);
        }
        const of = name === null ? {} : { account: name };
        found.push({
          row: { ...of, ...(chosen === null ? call : pickFields(call, chosen)) },
          all: fieldsOf(settings.apiVersion.value),
        });
        return exitCodes.ok;
      } finally {
        await source.close();
      }
    });
    const [first] = found;
    if (first === undefined) {
      if (status !== exitCodes.ok) return status;
      const names = accounts
        .map(({ called }) => called)
        .filter((called) => called !== null)
        .join(', ');
      throw new CliError(
        `there is no call with the session ID ${sid}${names === '' ? '' : ` in ${names}`}`,
        {
          exitCode: exitCodes.notFound,
          hints: ['check the session ID, and that the keys or the copy are of its account'],
        },
      );
    }

    const { row, all } = first;
    const { style } = output.screenOf(target, io);
    if (why !== null) {
      const { lines, data } = why as WhyAnswer;
      const json = `${JSON.stringify({ ...data, said: lines }, null, 2)}\n`;
      if (target.format === 'json') await output.saveResult(target, [json], io);
      else await output.showResult(target, [...lines], io);
      return status;
    }

    if (target.format === 'json')
      await output.saveResult(target, [`${JSON.stringify(row, null, 2)}\n`], io);
    else if (target.format === 'table')
      await output.showResult(target, cardOf(row, chosen ?? all, chosen === null, style), io);
    else {
      const keys = [
        ...('account' in row ? ['account'] : []),
        ...(chosen ?? all).map(({ name }) => name),
      ];
      await output.writeRows([row], keys, target, io);
    }

    return status;
  },
});

/** The options that decide whether a call counts for a tool. */
const ofJudging = [
  'value',
  'rules',
  'no-exclude',
  'min-talk',
  'conversion-name',
  'customer',
  'conversion-action',
  'phone',
  'ledger',
] as const;

/** Refuses what only other tools have: it would change nothing of the answer. */
function refuseOfOtherTools(args: Args): void {
  const tool = args.text('for');
  if (tool === null) return;
  if (tool === 'push-google') {
    if (args.flag('conversion-name'))
      throw new UsageError('--conversion-name does not go with --for push-google', [
        'Google knows the conversion by --conversion-action',
      ]);
    return;
  }

  const stray = ofGoogle.find((name) => args.flag(name));
  if (stray !== undefined)
    throw new UsageError(`--${stray} goes with --for push-google, and not with ${tool}`);
}

const ofGoogle = ['customer', 'conversion-action', 'phone'] as const;

/** The fields of a call by group; of all of them, those that have a value. */
function cardOf(
  row: Readonly<Record<string, unknown>>,
  fields: readonly FieldSpec[],
  hasAll: boolean,
  style: Style,
): string[] {
  const cells = fields
    .map(({ name, group }) => ({ name, group, text: printable(String(row[name] ?? '')) }))
    .filter(({ text }) => !hasAll || text !== '');
  const width = Math.max(...cells.map(({ name }) => name.length), 0);
  const groups = [...new Set(cells.map(({ group }) => group))].map((group) => [
    style.bold(group),
    ...cells
      .filter((cell) => cell.group === group)
      .map(({ name, text }) => `  ${style.dim(pad(name, width))}  ${text}`.trimEnd()),
  ]);
  const account =
    'account' in row ? [[`${style.bold('account')} ${printable(String(row.account))}`]] : [];
  return [...account, ...groups].flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}
