import type { Args } from '../args.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, show, write } from '../io.ts';
import { styleFor, widthOf } from '../terminal/style.ts';
import { wrap } from '../terminal/width.ts';

/** The result of one item. */
export interface Finding {
  /** The account of the configuration file; absent when there is only one. */
  readonly account?: string;
  readonly item: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly text: string;
  /** What to change. */
  readonly fix?: string;
}

/** What is as it should be. */
export const ok = (item: string, text: string, fix?: string): Finding => finding(item, 'ok', text, fix);

/** What is worth knowing, and does not stop anything. */
export const note = (item: string, text: string, fix?: string): Finding => finding(item, 'note', text, fix);

/** What has to change. */
export const wrong = (item: string, text: string, fix?: string): Finding => finding(item, 'wrong', text, fix);

const finding = (item: string, state: Finding['state'], text: string, fix?: string): Finding => ({
  item,
  state,
  text,
  ...(fix ? { fix } : {}),
});

/** Shows what was found, with what to do about it. Returns the exit status. */
export async function showFindings(
  findings: readonly Finding[],
  exitCode: number,
  args: Args,
  io: Io,
): Promise<number> {
  if (args.flag('json')) {
    await write(io.stdout, `${JSON.stringify({ ok: exitCode === exitCodes.ok, findings }, null, 2)}\n`);
    return exitCode;
  }
  const style = styleFor(io.stdout, io.env);
  const marks = { ok: style.green('ok   '), note: style.yellow('note '), wrong: style.red('wrong') };
  const width = Math.max(...findings.map((finding) => finding.item.length));
  const indent = ' '.repeat(width + 9);
  const space = Math.max(20, (widthOf(io.stdout, io.env) ?? Number.POSITIVE_INFINITY) - indent.length - 2);
  let shownOf: string | undefined;
  for (const { account, item, state, text, fix } of findings) {
    if (account !== shownOf) await show(io, [style.bold(account ?? '')]);
    shownOf = account;
    const [first = '', ...more] = wrap(text, space + 2);
    await show(io, [
      `${marks[state]}  ${item.padEnd(width)}  ${first}`,
      ...more.map((line) => indent + line),
    ]);
    if (!fix) continue;
    const [what = '', ...rest] = wrap(fix, space);
    await show(io, [`${indent}${style.dim('→')} ${what}`, ...rest.map((line) => `${indent}  ${line}`)]);
  }
  return exitCode;
}
