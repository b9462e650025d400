import type { Call, FieldSpec } from '@call-attribution/core';
import type { Handler } from '../args/command.ts';
import { cellText, fieldsOf, pickFields, readColumns, valueOfField } from '../calls/columns.ts';
import { openClient } from '../calls/connect.ts';
import { formatOf } from '../calls/output.ts';
import { readSettings } from '../config/settings.ts';
import { exitCodes } from '../exit-codes.ts';
import { write } from '../io.ts';
import { type Style, styleFor } from '../term/style.ts';
import { pad, printable } from '../term/width.ts';

/** `calls get`: one call, its fields by group. */
export const get: Handler = async (args, io) => {
  const format = formatOf(args);
  const asked = args.list('fields');
  const columns = asked.length > 0 ? readColumns(asked, '--fields') : null;
  const settings = readSettings(args, io);
  const client = await openClient(settings, args, io);
  try {
    const call = await client.getCall(args.words[0] ?? '', { signal: io.signal });
    const record = columns ? pickFields(call, columns) : call;
    if (format === 'csv') {
      const { csvLine } = await import('@call-attribution/node-stream');
      const chosen = columns ?? fieldsOf(settings.apiVersion.value);
      const line = csvLine(chosen.map((field) => valueOfField(call, field)));
      await write(io.stdout, csvLine(chosen.map((field) => field.name)) + line);
    } else if (format === 'table') {
      const style = styleFor(io.stdout, io.env, args.flag('no-color'));
      const chosen = columns ?? fieldsOf(settings.apiVersion.value).filter((field) => hasValue(call, field));
      await write(io.stdout, `${cardLines(call, chosen, style).join('\n')}\n`);
    } else await write(io.stdout, `${JSON.stringify(record, null, format === 'json' ? 2 : 0)}\n`);
    return exitCodes.ok;
  } finally {
    await client.close();
  }
};

function hasValue(call: Call, field: FieldSpec): boolean {
  const value = valueOfField(call, field);
  return value !== null && value !== '';
}

function cardLines(call: Call, columns: readonly FieldSpec[], style: Style): string[] {
  const width = Math.max(...columns.map((field) => field.name.length), 0);
  return [...new Set(columns.map((field) => field.group))].flatMap((group, at) => [
    ...(at === 0 ? [] : ['']),
    style.bold(group),
    ...columns
      .filter((field) => field.group === group)
      .map((field) =>
        `  ${style.dim(pad(field.name, width))}  ${printable(cellText(valueOfField(call, field)))}`.trimEnd(),
      ),
  ]);
}
