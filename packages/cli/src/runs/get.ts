import type { Call, FieldSpec } from '@call-attribution/core';
import type { Handler } from '../args/command.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { explain } from '../failures/explain.ts';
import { type Io, show, write } from '../io.ts';
import { writeRows } from '../output/rows.ts';
import { type RowFormat, rowFormats, targetOf } from '../output/target.ts';
import { chooseAccounts, type ReadAccount } from '../reading/accounts.ts';
import { eachAccount } from '../reading/each-account.ts';
import { cellText, fieldsOf, pickFields, readFields, valueOfField } from '../reading/fields.ts';
import { type Style, styleFor } from '../term/style.ts';
import { pad, printable } from '../term/width.ts';

/** `calls get`: one call, its fields by group. */
export const get: Handler = async (args, io) => {
  const { format } = targetOf(args, rowFormats);
  const chosen = readFields(args);
  const sid = args.words[0] ?? '';
  const accounts = await chooseAccounts(args, io);
  const found: { readonly call: Call; readonly account: ReadAccount }[] = [];
  const missing: CliError[] = [];
  const status = await eachAccount(accounts, args, io, async (account) => {
    const source = await account.open();
    try {
      found.push({ call: await source.get(sid), account });
    } catch (error) {
      const explained = account.name === null ? null : await explain(error);
      // Of several accounts, only one has the call.
      if (explained?.exitCode !== exitCodes.notFound) throw error;
      missing.push(explained);
    } finally {
      await source.close();
    }
    return exitCodes.ok;
  });
  if (missing.length === accounts.length) {
    const names = accounts.map(({ name }) => name);
    throw new CliError(`there is no call with the session ID ${sid} in ${names.join(', ')}`, {
      exitCode: exitCodes.notFound,
    });
  }
  for (const { call, account } of found) await showCall(call, account, { format, chosen }, io);
  return status;
};

async function showCall(
  call: Call,
  { name, settings }: ReadAccount,
  { format, chosen }: { format: RowFormat; chosen: readonly FieldSpec[] | null },
  io: Io,
): Promise<void> {
  const all = fieldsOf(settings.apiVersion.value);
  const of = name === null ? {} : { account: name };
  if (format === 'csv') return writeRows(io.stdout, format, [{ ...of, ...pickFields(call, chosen ?? all) }]);
  if (format !== 'table') {
    const record = { ...of, ...(chosen ? pickFields(call, chosen) : call) };
    return write(io.stdout, `${JSON.stringify(record, null, format === 'json' ? 2 : 0)}\n`);
  }
  const style = styleFor(io.stdout, io.env);
  const shown = chosen ?? all.filter((field) => cellText(valueOfField(call, field)) !== '');
  const lines = cardLines(call, shown, style);
  const head = name === null ? [] : [`${style.bold('account')} ${printable(name)}`, ''];
  await show(io, [...head, ...lines]);
}

function cardLines(call: Call, fields: readonly FieldSpec[], style: Style): string[] {
  const width = Math.max(...fields.map((field) => field.name.length), 0);
  return [...new Set(fields.map((field) => field.group))].flatMap((group, at) => [
    ...(at === 0 ? [] : ['']),
    style.bold(group),
    ...fields
      .filter((field) => field.group === group)
      .map((field) =>
        `  ${style.dim(pad(field.name, width))}  ${printable(cellText(valueOfField(call, field)))}`.trimEnd(),
      ),
  ]);
}
